"""Signals that a file names, with the keys that each of them has: of requirements, events, and ends of phases."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import Field, create_model

from ...io.toml.tables import Table
from ...io.toml.units import Measure, measure
from ...model import Spacecraft
from ...outcomes.outcome import Signal

DIMENSIONS = {"rad": "angle", "rad/s": "angular rate", "m": "length", "s": "time"}
SHOWN = {"rad": ("deg", 180 / math.pi), "rad/s": ("deg/s", 180 / math.pi)}  # to people
LEVELS = ("level", "below", "above")
NAMES = ("frame", "first", "second", "joint", "wheel", "direction")  # keys that are text
LOADS = ("command", "applied", "tau", "vdot")  # that a signal may ask for, besides the state


def arguments_of(functions: Iterable[Callable[..., Any]], name: str) -> Any:
    """A table whose optional keys are the arguments of all these, by whom they belong to."""
    owners: dict[str, list[str]] = {}
    for function in functions:
        for key in inspect.signature(function).parameters:
            if key not in ("signal", "name", "unit"):
                owners.setdefault(key, []).append(function.__name__)
    keys = {key: (Any, Field(default=None, description=f"Of {', '.join(who)}.")) for key, who in owners.items()}
    return create_model(name, __base__=Table, __doc__="Of a signal, in SI.", **keys)  # type: ignore[call-overload]


def arguments_given(table: Any, kind: Any) -> dict[str, Any]:
    """Those keys of `arguments_of` that a file has."""
    return {key: getattr(table, key) for key in kind.model_fields if getattr(table, key) is not None}


def demand_whose(craft: Spacecraft, of: str, function: Callable[..., Any], given: dict[str, Any]) -> None:
    """Where several craft meet, a signal of the base says of which."""
    if craft.memberships and "frame" in inspect.signature(function).parameters.keys() - given:
        raise ValueError(f"{of}: here are several spacecraft; say of which body or frame: frame =")


def in_si(craft: Spacecraft, of: str, given: Mapping[str, Any], unit: str = "") -> dict[str, Any]:
    """The keys of a signal and of what is kept of it, whose texts carry units: lengths, levels, coordinates of a joint.

    unit: of the signal.
    """
    found = dict(given)
    for name, value in given.items():
        if name in LEVELS or name == "target" and of == "joint_error":
            found[name] = in_units(_measured(name, of, value), unit)
        elif name in ("radii", "position"):
            lengths = [in_units(_measured(name, of, x), "m") for x in (value if isinstance(value, list) else [value])]
            found[name] = lengths if isinstance(value, list) else lengths[0]
        elif _has_text(value) and name not in NAMES:
            raise ValueError(f"{name} is {value!r}; expected plain numbers")
    return found


def _measured(name: str, of: str, value: Any) -> Measure:
    try:
        return measure(value)
    except ValueError:
        words = f"{name} of '{of}' is {value!r:.60}; expected a finite number, in SI, or text with a unit"
        raise ValueError(words) from None


def _has_text(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and any(_has_text(x) for x in value))


def unit_of(craft: Spacecraft, of: str | None, given: Mapping[str, Any]) -> str:
    """Of a signal that is of a joint: that of its coordinate or rate; empty where the signal has its own."""
    joint = given.get("joint")
    if (
        of not in ("joint_error", "joint_rate")
        or not isinstance(joint, str)
        or joint not in {one.name for one in craft.joints}
    ):
        return ""
    motion = craft.joint_named(joint).motion
    units = set(motion.q_units if of == "joint_error" else motion.v_units)
    return units.pop() if len(units) == 1 else ""


def own_signal(found: Any, text: str) -> Signal:
    """A user's function (craft, t, q, v) as a signal, or a signal as it is."""
    if isinstance(found, Signal):
        return found
    if not callable(found):
        raise TypeError(f"'{text}' is {found!r:.60}; expected a function (craft, t, q, v) -> a number")
    return Signal(found, text.rpartition(":")[2])


def in_units(given: Measure, unit: str) -> float:
    """In SI, if it has the signal's dimension or none."""
    if unit in DIMENSIONS:
        return given.of(DIMENSIONS[unit])
    return given.plain(f"{unit or 'a ratio or a sum'} in SI")
