"""Outcomes of a run, to the engine: their signals as functions of x, and which of them its loop follows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...algebra import Array
from ...control.controller import call
from ...outcomes import Kept, Outcome
from ..engine.tracking import Track
from .equations import Equations

TRACKS = {
    Kept.largest: Track.largest,
    Kept.smallest: Track.smallest,
    Kept.integral: Track.integral,
    Kept.mean: Track.integral,
    Kept.time_of: Track.first_change,
    Kept.settling_time: Track.last_change,
    Kept.time_in: Track.time_positive,
}
AT_END = (Kept.last, Kept.settling_time)
LOADS = ("command", "applied", "tau", "vdot", "wrenches")  # that signals may ask for by name


def order_of(outcomes: Sequence[Outcome]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Places of those that are followed, by `Track`; and of those that are asked for at the end."""
    tracked = sorted((k for k, o in enumerate(outcomes) if o.kept in TRACKS), key=lambda k: TRACKS[outcomes[k].kept])
    return tuple(tracked), tuple(k for k, o in enumerate(outcomes) if o.kept in AT_END)


def signals_of(equations: Equations, outcomes: Sequence[Outcome]) -> Callable[[Array], Array]:
    """One function of x (size,) to all signals, to be traced."""

    def signals(x: Array) -> Array:
        state = (equations.own_craft(x), equations.time(x), x[equations.layout["q"]], equations.velocity(x))
        available = equations.available(x)
        asked = {name for one in outcomes for name in inspect.signature(one.function).parameters}
        available |= _loads(equations, x, asked)
        return np.array([_number(call(one.function, state, available), one) for one in outcomes])

    return signals


def _loads(equations: Equations, x: Array, asked: set[str]) -> dict[str, Array]:
    wanted = [name for name in LOADS if name in asked and name not in equations.inputs]
    if not wanted:
        return {}
    if (equations.python_control and not equations.sampled) or equations.python_environment:
        raise ValueError(
            f"an outcome asks for {wanted[0]}, but the control law or the environment is called from Python, and loads "
            "are not known between steps. Write it so that it can be compiled, or leave the outcome out."
        )
    if {"tau", "vdot", "wrenches"} & set(wanted):
        now = equations.signals(x)[0]
        found = {"command": now.command, "applied": now.applied, "tau": now.tau, "vdot": now.vdot}
        return found | {"wrenches": now.wrenches}
    now_acting = equations.acting(x)
    return {"command": now_acting.command, "applied": now_acting.applied}


def _number(value: Any, one: Outcome) -> Any:
    found = np.asarray(value)
    if found.size != 1:
        raise ValueError(f"outcome '{one.name}': its signal has shape {found.shape}; expected one number.")
    return found.reshape(())[()]
