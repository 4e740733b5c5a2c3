"""Outcomes: what is asked of a whole run, in one number each. A signal of the run, and what is kept of it.

A signal is a function of (craft, t, q, v), and of what else it asks for by argument name: inputs of the run, `run`,
`seed`, and loads: `command` (nv,), `applied` (what motors make of it), `tau`, `vdot`, `wrenches`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, eq=False)
class Signal:
    """A function of a run's state with its name and unit."""

    function: Callable[..., Any]
    title: str
    unit: str = ""


class Kept(StrEnum):
    """What is kept of a signal."""

    last = "last"
    largest = "largest"
    smallest = "smallest"
    integral = "integral"
    mean = "mean"
    time_of = "time of"
    settling_time = "settling time"
    time_in = "time in"


UNITS_OF_TIME = (Kept.time_of, Kept.settling_time, Kept.time_in)


@dataclass(frozen=True, eq=False)
class Outcome:
    """One number of a run. direction: of the change of sign, for the time of an event."""

    kept: Kept
    function: Callable[..., Any]
    name: str = ""
    unit: str = ""
    direction: int = 0

    def __str__(self) -> str:
        return f"{self.name}{f' [{self.unit}]' if self.unit else ''}"


def _made(kept: Kept, signal: Any, name: str, unit: str | None, direction: int = 0, level: Any = None) -> Outcome:
    title = getattr(signal, "title", "") or getattr(signal, "__name__", "")
    function = signal.function if isinstance(signal, Signal) else signal
    if not callable(function):
        raise TypeError(
            f"an outcome is of a signal, a function of (craft, t, q, v); found {signal!r:.80}. gs.outcomes has "
            "ready-made ones: gs.outcomes.attitude_error() ..."
        )
    if level is not None:
        if not math.isfinite(level):
            raise ValueError(f"{kept.value} {title}: the level is {level}; expected a finite number.")
        function = _above(function, float(level))
    own = getattr(signal, "unit", "")
    unit = own if unit is None else unit
    if kept in UNITS_OF_TIME:
        unit = "s"
    elif kept is Kept.integral and unit == own:
        unit = f"({own}) s" if " + " in own else f"{own} s".strip()
    return Outcome(kept, function, name or f"{kept.value} {title}".strip(), unit, direction)


def _above(function: Callable[..., Any], level: float) -> Callable[..., Any]:
    """signal - level, asking for what the signal asks for."""
    from ..control.controller import call, standing_for

    names = ("craft", "t", "q", "v")

    def above(craft: Any, t: Any, q: Any, v: Any, **asked: Any) -> Any:
        return call(function, (craft, t, q, v), asked) - level

    return standing_for(above, names, (function, len(names)))


def last(signal: Any, name: str = "", unit: str | None = None) -> Outcome:
    """Where the run ends."""
    return _made(Kept.last, signal, name, unit)


def largest(signal: Any, name: str = "", unit: str | None = None) -> Outcome:
    """Of the whole run: at the ends of all steps, at three points within each (dense output), and where a parabola
    through them promises more. What swings faster than the steps can show needs a `max_step`.
    """
    return _made(Kept.largest, signal, name, unit)


def smallest(signal: Any, name: str = "", unit: str | None = None) -> Outcome:
    """As `largest`."""
    return _made(Kept.smallest, signal, name, unit)


def integral(signal: Any, name: str = "", unit: str | None = None) -> Outcome:
    """Over time, by Lobatto's rule of order eight in each step."""
    return _made(Kept.integral, signal, name, unit)


def mean(signal: Any, name: str = "", unit: str | None = None) -> Outcome:
    """Over time, from start to end."""
    return _made(Kept.mean, signal, name, unit)


def time_of(signal: Any, level: float = 0.0, direction: int = 0, name: str = "") -> Outcome:
    """When the signal first passes the level, rising (+1), falling (-1) or either way (0); infinite if it never
    does.

    Raises ValueError for a direction that is not +1, -1 or 0.
    """
    if direction not in (-1, 0, 1):
        raise ValueError(f"direction is {direction}; expected +1 (rising), -1 (falling) or 0 (both).")
    return _made(Kept.time_of, signal, name, None, direction, level)


def settling_time(signal: Any, below: float, name: str = "") -> Outcome:
    """From when on the signal stays below a level until the run ends: its time if it is there from the start, infinite
    if it is above at the end.
    """
    return _made(Kept.settling_time, signal, name, None, -1, below)


def time_in(signal: Any, above: float = 0.0, name: str = "") -> Outcome:
    """For how long, in all, the signal is above a level."""
    return _made(Kept.time_in, signal, name, None, 0, above)


def outcomes_given(outcomes: Any) -> tuple[Outcome, ...]:
    """One, several, or {name: outcome}; checked, each with a name of its own.

    Raises TypeError for what is no outcome, ValueError for two of one name.
    """
    if outcomes is None:
        return ()
    if isinstance(outcomes, Mapping):
        outcomes = [replace(one, name=str(n)) if isinstance(one, Outcome) else one for n, one in outcomes.items()]
    elif isinstance(outcomes, Outcome) or not isinstance(outcomes, Iterable):
        outcomes = [outcomes]
    found = tuple(outcomes)
    for one in found:
        if not isinstance(one, Outcome):
            raise TypeError(
                f"outcomes: found {one!r:.80}; expected one of gs.outcomes: largest(signal), last(signal), "
                "integral(signal), time_of(signal), settling_time(signal, below), ..."
            )
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two outcomes are called '{name}'. Give each a name of its own: {{name: outcome}}.")
    return found
