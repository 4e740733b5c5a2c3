"""[[event]]: what is told, or ends the run, when a signal passes a level; and what a phase waits for."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from ...algebra import Array
from ...io.toml.source import Source
from ...io.toml.tables import Name, OneOf
from ...io.toml.text import Place
from ...io.toml.units import AnyMeasure, Length
from ...model import Spacecraft
from ...outcomes.signals import distance
from ...outcomes.tables import SIGNAL_NAMES, demand_kinds
from ...simulation.problem.events import When
from .signals import LOADS, SHOWN, arguments_given, arguments_of, demand_whose, in_si, in_units, own_signal, unit_of
from .user_code import Python, user_function

SignalArguments: Any = arguments_of(SIGNAL_NAMES.values(), "SignalArguments")
Signal = Annotated[str, OneOf(SIGNAL_NAMES)]
Pair = Annotated[list[str], Field(min_length=2, max_length=2)]


class Threshold(SignalArguments):
    """A signal falls below a level, or rises above one."""

    of: Signal | None = Field(default=None, description="Which signal.")
    python: Python = None

    below: AnyMeasure | None = Field(default=None, description="It happens when the signal falls below.")
    above: AnyMeasure | None = Field(default=None, description="It happens when the signal rises above.")


class EventTable(Threshold):
    """What is told of when it happens."""

    name: Name
    stop: bool = Field(default=False, description="The run ends there.")

    @model_validator(mode="after")
    def _limited(self) -> Self:
        if (self.of is None) == (self.python is None):
            raise ValueError('an event is of one signal: of = "body_rate", or python = "my.py:signal"')
        if (self.below is None) == (self.above is None):
            raise ValueError('an event has one level: below = "0.1 deg/s", or above')
        return self


class Until(Threshold):
    """A phase ends when a signal passes a level, or when the origins of two frames come closer than a distance."""

    frames: Pair | None = None
    closer_than: Length | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.closer_than is not None and not self.closer_than > 0:
            raise ValueError(f"closer_than is {self.closer_than:g} m; expected more than zero")
        near = self.frames is not None and self.closer_than is not None
        passed = (self.of is None) != (self.python is None) and (self.below is None) != (self.above is None)
        if near == passed or (near and {"of", "python", "below", "above"} & self.model_fields_set):
            raise ValueError(
                "expected frames and closer_than; or of (or python), which signal, and one level: below or above"
            )
        if passed and {"frames", "closer_than"} & self.model_fields_set:
            raise ValueError("frames and closer_than go without a signal and its level")
        return self


def event_of(source: Source, craft: Spacecraft, table: Any, place: Place, stop: bool = False) -> Any:
    """The `When` of a table, named by it, or else by what happens; None where it cannot be made, which goes to the
    source's report.
    """
    try:
        if table.python is not None:
            own = user_function(source, place, table.python)
            if own is None:
                return None
            signal, level, way = own_signal(own, table.python), *_level(table, "")
        elif table.of is None:
            for frame in table.frames:
                craft.locate(frame)
            signal, level, way = distance(*table.frames), table.closer_than, -1
        else:
            given = arguments_given(table, SignalArguments)
            maker = SIGNAL_NAMES[table.of]
            keys = list(inspect.signature(maker).parameters)
            for key in given:
                if key not in keys:
                    raise ValueError(f"{table.of} has no key '{key}'; it has {', '.join(keys) or 'none'}")
            demand_whose(craft, table.of, maker, given)
            unit = unit_of(craft, table.of, given)
            given = in_si(craft, table.of, given, unit)
            demand_kinds(maker, given)
            signal = maker(**given)
            signal = replace(signal, unit=unit) if unit else signal
            level, way = _level(table, signal.unit)
        if any(key in inspect.signature(signal.function).parameters for key in LOADS):
            raise ValueError(f"{table.of or table.python} is of loads, and events see the state alone")
    except (ValueError, TypeError) as error:
        source.error("event", place, f"{error}".rstrip(".") + ".")
        return None

    unit = "" if table.python is not None else signal.unit

    def gap(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        return signal.function(craft, t, q, v) - level

    name = getattr(table, "name", "")
    return When(gap, name or f"{signal.title} {_shown(level, way, unit)}", stop, way, unit=unit)


def _shown(level: float, way: int, unit: str) -> str:
    """As a person reads it: "below 2 deg"."""
    shown, factor = SHOWN.get(unit, (unit, 1.0))
    return f"{'below' if way < 0 else 'above'} {factor * level:.4g} {shown}".rstrip()


def _level(table: Any, unit: str) -> tuple[float, int]:
    """In SI, and which way it is passed."""
    return in_units(table.below if table.above is None else table.above, unit), -1 if table.above is None else 1


def events_of(source: Source, craft: Spacecraft, tables: Sequence[EventTable], q: Array, v: Array) -> list[When]:
    """Of a file's [[event]]. What is wrong goes to the source's report."""
    found: list[When] = []
    for k, table in enumerate(tables):
        if table.name in [event.name for event in found]:
            source.error("twice", ("event", k), f"two events are named '{table.name}'.", "Name each its own.", "name")
        event = event_of(source, craft, table, ("event", k), stop=table.stop)
        if event is not None and _evaluates(source, craft, event, ("event", k), q, v):
            found.append(event)
    return found


def _evaluates(source: Source, craft: Spacecraft, event: When, place: Place, q: Array, v: Array) -> bool:
    try:
        event.function(craft, 0.0, q, v)
    except (ValueError, TypeError) as error:
        source.error("event", place, f"{error}".rstrip(".") + ".")
        return False
    return True
