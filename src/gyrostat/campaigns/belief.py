"""What a control law believes of the spacecraft that it moves, where masses and geometry are dispersed.

A law that is written with the model (computed torque, momentum, Jacobians) is flown with one set of numbers; the runs
of a campaign are the craft that it may meet. It is therefore given the nominal craft, unless it is to know each run's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..algebra import Array
from ..control.controller import STATE, Controller, call, standing_for
from ..model import Spacecraft, nearest

KNOWN = ("nominal", "truth")


def must_be_known(knows: str) -> None:
    if knows not in KNOWN:
        raise ValueError(f"law_knows is {knows!r}; expected one of {', '.join(KNOWN)}. {nearest(str(knows), KNOWN)}")


def believing(control: Any, craft: Spacecraft) -> Any:
    """The law, given `craft` in place of the one that it moves."""

    def given(function: Any, names: tuple[str, ...]) -> Any:
        def believes(_: Spacecraft, t: Any, q: Array, v: Array, *memory: Array, **asked: Any) -> Any:
            return call(function, (craft, t, q, v, *memory), asked)

        return standing_for(believes, names, (function, len(names)))

    if not isinstance(control, Controller):
        return given(control, STATE)
    parts = {name: getattr(control, name) for name in ("output", "derivative", "update")}
    return replace(control, **{name: given(f, control.given) for name, f in parts.items() if f is not None})
