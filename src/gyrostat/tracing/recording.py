"""Record what a function does: call it once with symbols in place of floats."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .errors import TraceError, from_exception
from .expr import Trace
from .graph import Graph, build

Shapes = dict[tuple[str, ...], tuple[int, ...]]
Crafts = tuple[Any, ...]  # spacecraft: models are above this layer

_REMEDY = (
    "Traced values can be added, multiplied, indexed, stacked and multiplied as matrices by NumPy; for everything else "
    "use gyrostat.algebra (sin, sqrt, where, norm, solve_spd, ...), which take floats and traced values alike."
)


def trace(
    function: Callable[..., Any],
    craft: Any,
    *,
    inputs: Mapping[str, Any] | None = None,
    static: Mapping[str, Any] | None = None,
    parameters: Sequence[str] = (),
) -> Graph:
    """Record `function(craft, ...)` for exactly that spacecraft.

    craft: a Spacecraft, a tuple of several (the function's leading arguments), or None for a function of none.
    inputs: shapes of the arguments that have none of their own: a tuple, an int, a nested dict of shapes, or None for a
        known shape. The arguments `t`, `q` (nq,), `v`, `vdot`, `tau`, `dv` (nv,) and `wrenches` (nbodies, 6) of one
        spacecraft are known. Arguments with a default are traced only if they are named here.
    static: values passed to the function as they are.
    parameters: names of the spacecraft's values that become inputs too ("link_3.mass"; of several spacecraft,
    "name/link_3.mass").
    """
    crafts = craft if isinstance(craft, tuple) else () if craft is None else (craft,)
    arguments = _arguments(function, crafts, dict(inputs or {}), dict(static or {}))
    recording = Trace()
    shapes: Shapes = {}
    symbols = {name: _symbols(recording, shapes, (name,), shape) for name, shape in arguments.items()}
    crafts = _with_parameters(recording, shapes, crafts, parameters)
    positional, named = _split(function, len(crafts), symbols | dict(static or {}))
    with _without_collection():
        try:
            value = function(*crafts, *positional, **named)
        except TraceError:
            raise
        except (TypeError, IndexError) as error:
            if _is_about_symbols(error):
                raise from_exception(error, _REMEDY) from error
            raise
        return build(shapes, value, getattr(function, "__name__", "f"))


@contextmanager
def _without_collection() -> Iterator[None]:
    """Everything recorded is in use: looking for garbage among it takes as long as recording it."""
    usual = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if usual:
            gc.enable()


def _is_about_symbols(error: Exception) -> bool:
    """True if NumPy or Python refused a traced value, rather than the user's code being called wrongly."""
    text = str(error)
    return any(mark in text for mark in ("Expr", "Condition", "ufunc", "dtype('O')", "object arrays", "valid indices"))


def _arguments(
    function: Callable[..., Any], crafts: Crafts, inputs: dict[str, Any], static: dict[str, Any]
) -> dict[str, Any]:
    """The shape (or nested dict of shapes) of each argument that is to be traced, in the order of the signature."""
    signature = list(inspect.signature(function).parameters.values())[len(crafts) :]
    signature = [p for p in signature if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    title = getattr(function, "__name__", "the function")
    unknown = (set(inputs) | set(static)) - {p.name for p in signature}
    if unknown:
        raise TypeError(
            f"{title} has no argument {', '.join(sorted(unknown))}. Its arguments: {[p.name for p in signature]}."
        )
    known = _known_shapes(crafts)
    found: dict[str, Any] = {}
    for p in signature:
        if p.name in static or (p.default is not p.empty and p.name not in inputs):
            continue
        shape = inputs.get(p.name)
        if shape is None:
            shape = known.get(p.name)
        if shape is None:
            raise TypeError(
                f"{title}: the shape of argument '{p.name}' is not known. Give it as inputs={{'{p.name}': (n,)}}, "
                f"or the argument's value as static={{'{p.name}': ...}}."
            )
        found[p.name] = shape
    return found


def _known_shapes(crafts: Crafts) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {"t": ()}
    if len(crafts) == 1:
        nv = crafts[0].nv
        shapes |= {"q": (crafts[0].nq,), "wrenches": (crafts[0].nbodies, 6)}
        shapes |= dict.fromkeys(("v", "vdot", "tau", "dv"), (nv,))
    return shapes


def _symbols(recording: Trace, shapes: Shapes, path: tuple[str, ...], shape: Any) -> Any:
    """Fresh symbols of that shape, or nested dicts of them; their paths are noted in `shapes`."""
    if isinstance(shape, Mapping):
        return {key: _symbols(recording, shapes, (*path, str(key)), inner) for key, inner in shape.items()}
    shapes[path] = tuple(int(n) for n in np.atleast_1d(np.asarray(shape, dtype=int)))
    return recording.inputs("/".join(path), shapes[path])


def _with_parameters(recording: Trace, shapes: Shapes, crafts: Crafts, parameters: Sequence[str]) -> Crafts:
    """The spacecraft with symbols in place of the named values."""
    values: list[dict[str, Any]] = [{} for _ in crafts]
    if isinstance(parameters, str):
        parameters = [parameters]
    for name in parameters:
        which, own = 0, name
        if len(crafts) != 1:
            owner, _, own = name.partition("/")
            names = [craft.name for craft in crafts]
            if owner not in names:
                raise ValueError(
                    f"parameter '{name}': no spacecraft is named '{owner}'. Write one of {names}, a slash, the value's "
                    "name."
                )
            which = names.index(owner)
        shape = np.shape(crafts[which].value(own))
        values[which][own] = _symbols(recording, shapes, ("parameters", name), shape)
    return tuple(craft.with_values(own) if own else craft for craft, own in zip(crafts, values, strict=True))


def _split(function: Callable[..., Any], leading: int, values: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments that can only be given by position, and the others by name."""
    kinds = {p.name: p.kind for p in list(inspect.signature(function).parameters.values())[leading:]}
    positional = [
        values[name] for name, kind in kinds.items() if kind is inspect.Parameter.POSITIONAL_ONLY and name in values
    ]
    return positional, {n: v for n, v in values.items() if kinds[n] is not inspect.Parameter.POSITIONAL_ONLY}
