"""Options that nothing in the run would feel are refused: whoever gives one expects an effect."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...control.controller import Controller
from ...control.passive import stoppable
from ...environment import Environment
from ...model import nearest
from ..integrators.methods import METHODS
from .request import Request
from .settings import Settings

ALWAYS = ("run", "sample", "seed")  # what functions may ask for besides inputs


def refuse_unfelt(request: Request, settings: Settings, functions: Mapping[str, Any], goes_on: bool) -> None:
    """goes_on: another run went before, whose motors may still be loaded."""
    craft = request.craft
    if request.stabilisation is not None and not functions["constraints"]:
        raise ValueError(
            "stabilisation= is that of constraints, and there are none: leave it out, or give constraints=."
        )
    if settings.step is not None:
        if request.max_step is not None:
            raise ValueError("max_step= bounds steps that are chosen; here step= fixes them. Leave one of them out.")
        for name in ("rtol", "atol"):
            if getattr(request, name) is not None and not METHODS[str(settings.integrator)].solves_to_tolerances:
                raise ValueError(
                    f"{name}= has no effect on the fixed steps of '{settings.integrator}': leave it out, or leave out "
                    "step= where the integrator can choose its steps."
                )
    if request.actuators is not None and functions["control"] is None and not goes_on:
        raise ValueError(
            "actuators= act on what a control law asks for, and there is none: give control=, or leave them out."
        )
    motors = request.actuators
    if motors is not None and motors.saturate and not motors.remembers and not _limited(request):
        raise ValueError(
            f"actuators= saturate at the effort limits of joints and the speed limits of wheels, and {craft.name} has "
            "none: give some gs.Limits(effort=...), or a lag or a rate."
        )
    if request.stops is not None and not any(stoppable(joint) for joint in craft.joints):
        raise ValueError(
            f"stops= stand at the limits of joints, and no joint of {craft.name} has any: give some gs.Limits(lower, "
            "upper), or leave stops out."
        )
    asked = asked_by_name(functions)
    for name in request.inputs or {}:
        if name not in asked:
            known = sorted(asked - {"craft", "t", "q", "v", "z", *ALWAYS})
            hint = f"They ask for: {', '.join(known)}. {nearest(name, known)}" if known else "They ask for nothing."
            raise ValueError(
                f"inputs['{name}']: no control law, environment, event or outcome asks for it by argument name. {hint}"
            )


def asked_by_name(functions: Mapping[str, Any]) -> set[str]:
    """Names of all that the functions of a run (by `FUNCTIONS`) take."""
    written = [f for f in _functions(functions) if callable(f)]  # others are refused as what they are
    return {name for function in written for name in inspect.signature(function).parameters}


def _limited(request: Request) -> bool:
    """Whether saturation could ever be felt."""
    joints = [joint for joint in request.craft.joints if joint.nv]
    speeds = [joint.limits.velocity for joint in joints if joint.motion.spins]
    return bool(np.isfinite([*(j.limits.effort for j in joints), *speeds]).any())


def _functions(functions: Mapping[str, Any]) -> Iterator[Any]:
    """All that a run calls with what they ask for."""
    law, outer, events = functions["control"], functions["environment"], functions["events"]
    yield from (one.function for one in functions.get("outcomes") or ())
    if isinstance(law, Controller):
        yield from (f for f in (law.output, law.derivative, law.update) if f is not None)
    elif law is not None:
        yield law
    if isinstance(outer, Environment):
        yield from (f for f in (outer.wrenches, outer.potential) if f is not None)
    elif outer is not None:
        yield outer
    listed: list[Any] = list(events) if isinstance(events, list | tuple) else [] if events is None else [events]
    for event in listed:
        yield getattr(event, "function", event)
        effect = getattr(event, "effect", None)
        if effect is not None:
            yield effect
