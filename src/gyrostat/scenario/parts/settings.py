"""Keys of [control], [sensors], [estimator] and [environment] that are dispersed: "control.bandwidth",
"sensors.gyro.bias".

The law and the environment of a file are made from its tables. Here they are made anew, inside what is traced, from
tables in which the dispersed keys hold an input of the run in place of the file's number: whatever those tables make,
and however a key enters it, each run has its own.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Annotated, Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from ...algebra import Array
from ...control.controller import STATE, Controller, call, standing_for
from ...environment import Environment
from ...io.toml.source import Source
from ...io.toml.tables import Table
from ...io.toml.units import SI, UNITS
from ...model import ModelError, Spacecraft, nearest
from ...tracing import TraceError, trace
from ...tracing.decisions import Decisions, deciding
from ...tracing.expr import is_symbol
from .acting import Acting, acting_options

PARTS = ("control", "sensors", "estimator", "environment")
NUDGE = 1.01  # by which keys are changed to see what else depends on them


def is_setting(name: str) -> bool:
    return name.partition(".")[0] in PARTS and ":" not in name


def asked_as(name: str) -> str:
    """The argument by which it is asked for."""
    return "set_" + re.sub(r"\W", "_", name)


@dataclass(frozen=True, eq=False)
class Made:
    """What a file's tables make of a spacecraft. text: the file. kind: the table of all of it."""

    text: str
    kind: type[Table]
    craft: Spacecraft
    q: Array
    v: Array
    duration: float

    def __reduce__(self) -> Any:
        """Tables are made anew where it is read: their classes are."""
        return made_of, (self.text, self.kind.__module__, self.kind.__name__, self.craft, self.q, self.v, self.duration)

    def nominal(self, name: str) -> Array:
        """The number that the file gives, or that it leaves to a default. Raises a ValueError if it is none."""
        at = _at(_table(self.text, self.kind), name.split("."), name)
        if at is None:
            raise ValueError(f"{name} is not in the file; give it a value that can be dispersed")
        numbers = [at] if isinstance(at, float) else at
        if not isinstance(numbers, Sequence) or not numbers or not all(isinstance(x, float) for x in numbers):
            raise ValueError(f"{name} is {at!r:.60}; only numbers can be dispersed")
        return np.array(at)

    def dimension(self, name: str) -> str | None:
        """Of the key, as the file writes it; None for a plain number."""
        *inner, key = name.split(".")
        table = _at(_table(self.text, self.kind), inner, name)
        if not isinstance(table, Table):
            return None
        field: Any = type(table).model_fields[key]
        kind: Any = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
        adapter: TypeAdapter[Any] = TypeAdapter(kind)
        for dimension in UNITS:
            for text in (f"1 {SI[dimension]}", [f"1 {SI[dimension]}"] * 3):
                try:
                    adapter.validate_python(text)
                except ValidationError:
                    continue
                return dimension
        return None

    def options(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Of `gs.simulate`, with these values of keys. What looks at symbols among them sees the nominal values."""
        with deciding(self._symbols(values)):
            return self._options(values)

    def _symbols(self, values: Mapping[str, Any]) -> dict[Any, float]:
        """With their nominal values."""
        return {
            symbol: number
            for name, x in values.items()
            for symbol, number in zip(_flat(x), self.nominal(name).ravel().tolist(), strict=True)
            if is_symbol(symbol)
        }

    def branches(self, names: Sequence[str]) -> tuple[Decisions, dict[str, list[Any]]]:
        """What is asked of these keys while the law and the environment are made, and their symbols."""
        found: list[Decisions] = []
        symbols: dict[str, list[Any]] = {}

        def making(x: Array) -> Array:
            at, values = 0, {}
            for name in names:
                shape = self.nominal(name).shape
                size = int(np.prod(shape, dtype=int))
                values[name] = x[at : at + size].reshape(shape) if shape else x[at]
                symbols[name], at = _flat(values[name]), at + size
            with deciding(self._symbols(values)) as decisions:
                self._options(values)
            found.append(decisions)
            return x

        trace(making, None, inputs={"x": (sum(self.nominal(name).size for name in names),)})
        return found[0], symbols

    def _options(self, values: Mapping[str, Any]) -> dict[str, Any]:
        table: Any = _table(self.text, self.kind)
        for name, value in values.items():
            table = _with(table, name.split("."), value)
        source = Source(self.text.encode(), "the scenario")
        found = acting_options(source, self.craft, table, self.q, self.v, self.duration)
        source.report.raise_errors()
        return found

    def dispersed(self, names: Sequence[str]) -> dict[str, Any]:
        """The options in which those keys are inputs, and the inputs' nominal values."""
        nominal = {name: self.nominal(name) for name in names}
        for name in names:
            self._must_be_free(name, nominal[name])
        base = self.options({})
        found: dict[str, Any] = {"inputs": {asked_as(name): x for name, x in nominal.items()}}
        law = [name for name in names if not name.startswith("environment.")]
        outer = [name for name in names if name.startswith("environment.")]
        if law:
            found["control"] = self._control(base["control"], law)
        if outer:
            found["environment"] = self._environment(base["environment"], outer)
        return {**base, **found}

    def _control(self, law: Any, names: Sequence[str]) -> Any:
        if not isinstance(law, Controller):
            return self._standing(law, names, STATE, lambda options: options["control"])

        def own(part: str, function: Any) -> Any:
            return self._standing(function, names, law.given, lambda options: getattr(options["control"], part))

        parts = {part: getattr(law, part) for part in ("output", "derivative", "update")}
        return replace(law, **{part: own(part, f) for part, f in parts.items() if f is not None})

    def _environment(self, outer: Environment, names: Sequence[str]) -> Environment:
        wrenches = self._standing(outer.wrenches, names, STATE, lambda options: options["environment"].wrenches)
        potential = outer.potential
        if potential is not None:
            potential = self._standing(potential, names, STATE[:3], lambda options: options["environment"].potential)
        modal = outer.modal
        if modal is not None:
            modal = self._standing(modal, names, STATE, lambda options: options["environment"].modal)
        return replace(outer, wrenches=wrenches, potential=potential, modal=modal)

    def _standing(
        self, function: Any, names: Sequence[str], given: tuple[str, ...], chosen: Callable[[Any], Any]
    ) -> Any:
        def made_anew(*positional: Any, **asked: Any) -> Any:
            own = {name: asked[asked_as(name)] for name in names}
            return call(chosen(self.options(own)), positional, asked)

        def asks(**_: Any) -> None: ...

        keys = [inspect.Parameter(asked_as(name), inspect.Parameter.KEYWORD_ONLY) for name in names]
        asks.__signature__ = inspect.Signature(keys)  # type: ignore[attr-defined]
        return standing_for(made_anew, given, (function, len(given)), (asks, 0))

    def _must_be_free(self, name: str, nominal: Array) -> None:
        """What is fixed for all runs must not follow from it: samples, the memory at the start, breakpoints."""
        base, other = (self.options({name: x.tolist()}) for x in (nominal, NUDGE * nominal + 1e-6 * (nominal == 0)))
        changed = [
            key for key in base if key not in ("control", "environment") and _shown(base, key) != _shown(other, key)
        ]
        laws = [options.get("control") for options in (base, other)]
        if all(isinstance(law, Controller) for law in laws):
            changed += [key for key in ("period", "state0") if _shown(vars(laws[0]), key) != _shown(vars(laws[1]), key)]
        if changed:
            what = {"period": "the time between samples", "state0": "the law's memory at the start"}
            raise ValueError(
                f"{name} sets {what.get(changed[0], changed[0])}, which all runs share: it cannot be dispersed"
            )
        self._must_be_recorded(name, nominal)

    def _must_be_recorded(self, name: str, nominal: Array) -> None:
        """A law that could not be compiled with it would be called from Python, at every step of every run."""
        craft, law = self.craft, self.options({}).get("control")
        memory = law.state0.shape if isinstance(law, Controller) else (0,)

        def works(x: Any, t: Any, q: Array, v: Array, z: Array, run: Any, sample: Any, seed: Any) -> Any:
            options, asked = self.options({name: x}), {"run": run, "sample": sample, "seed": seed}
            made, outer = options.get("control"), options.get("environment")
            if isinstance(made, Controller):
                state = (craft, t, q, v, z)[: len(made.given)]
                for part in (made.output, made.derivative, made.update):
                    if part is not None:
                        call(part, state, asked)
            elif made is not None:
                call(made, (craft, t, q, v), asked)
            if outer is not None and name.startswith("environment."):
                call(outer.wrenches, (craft, t, q, v), asked)
            return x

        shapes = {"x": nominal.shape, "t": (), "q": (craft.nq,), "v": (craft.nv,), "z": memory}
        try:
            trace(works, None, inputs={**shapes, "run": (), "sample": (), "seed": ()})
        except (TraceError, ModelError) as error:
            raise ValueError(
                f"{name} decides how the law is made, not only its numbers: it cannot be dispersed"
            ) from error


@dataclass(frozen=True, eq=False)
class Alike:
    """Tells which values of keys make the law as the file's own values do: with other numbers, not another way."""

    made: Made
    names: tuple[str, ...]

    def __reduce__(self) -> Any:
        return Alike, (self.made, self.names)

    @cached_property
    def _branches(self) -> tuple[Decisions, dict[str, list[Any]]]:
        return self.made.branches(self.names)

    def others(self, values: Mapping[str, Array]) -> dict[int, str]:
        """Rows of the values (n, ...) that do not, and why."""
        decisions, symbols = self._branches
        own = {name: values[name] for name in self.names}
        count = len(next(iter(own.values())))
        columns = {s: x.reshape(count, -1)[:, k] for name, x in own.items() for k, s in enumerate(symbols[name])}
        return {int(k): self._why({name: x[k] for name, x in own.items()})
            for k in np.flatnonzero(~decisions.same(columns, count))}  # fmt: skip

    def _why(self, own: Mapping[str, Array]) -> str:
        try:
            self.made.options({name: np.asarray(x).tolist() for name, x in own.items()})
        except (ValueError, TypeError) as error:
            return str(error)
        given = ", ".join(f"{name} = {np.asarray(x).tolist()}" for name, x in own.items())
        return f"{given}: with that the law is made another way than with the file's values; it was not flown"


def _flat(x: Any) -> list[Any]:
    """A number, a symbol, or several."""
    return [x] if is_symbol(x) or not np.ndim(x) else list(np.asarray(x, dtype=object).ravel())


def made_of(text: str, module: str, kind: str, *rest: Any) -> Made:
    import importlib

    return Made(text, getattr(importlib.import_module(module), kind), *rest)


def _shown(options: Mapping[str, Any], key: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "", repr(options.get(key)))


@lru_cache(maxsize=8)
def _table(text: str, kind: type[Table]) -> Acting:
    table: Any = Source(text.encode(), "the scenario").checked(kind)
    return table


def _at(table: Any, keys: Sequence[str], name: str) -> Any:
    """What stands at a place of the tables."""
    for key in keys:
        if isinstance(table, Table):
            known = list(type(table).model_fields)
            inside = getattr(table, key) if key in known else None
        elif isinstance(table, dict):
            known, inside = list(table), table.get(key)
        elif isinstance(table, list) and key.isdigit():
            known, inside = [str(k) for k in range(len(table))], table[int(key)] if int(key) < len(table) else None
        else:
            known, inside = [], None
        if key not in known:
            raise ValueError(f"there is no '{name}' in the file. {nearest(key, known)}".rstrip("."))
        table = inside
    return table


def _with(table: Any, keys: Sequence[str], value: Any) -> Any:
    """The tables with another value at a place."""
    if not keys:
        return list(value) if isinstance(value, np.ndarray) and value.ndim else value
    key, *rest = keys
    if isinstance(table, Table):
        return table.model_copy(update={key: _with(getattr(table, key), rest, value)})
    if isinstance(table, dict):
        return {**table, key: _with(table[key], rest, value)}
    return [_with(one, rest, value) if str(k) == key else one for k, one in enumerate(table)]
