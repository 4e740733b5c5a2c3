"""What a caller of `simulate` asked for, read and checked: what was found, what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...algebra import Array
from ...algebra.reals import reals
from ...constraints import AbstractConstraint, Stabilisation
from ...constraints.kinds import given_constraints
from ...control.controller import Controller
from ...control.passive import Actuators, Stops
from ...environment import Environment
from ...formulations.registry import formulation
from ...model import Spacecraft
from ...outcomes import outcomes_given
from ..result.trajectory import Trajectory
from .equations import Equations
from .settings import Settings

MAX_STEPS = 2_000_000  # attempted, of each run
SMALLEST_RTOL = 2.3e-14  # a hundred times the round-off of float64


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """The arguments of `simulate`, by the same names."""

    craft: Spacecraft
    q0: Any = None
    v0: Any = None
    t_span: Any = None
    control: Any = None
    environment: Any = None
    mode: str | None = None
    formulation: str | None = None
    integrator: str | None = None
    rtol: Any = None
    atol: Any = None
    step: float | None = None
    max_step: float | None = None
    save_at: Any = None
    events: Any = None
    breakpoints: Any = None
    constraints: Sequence[AbstractConstraint] | None = None
    stabilisation: Stabilisation | None = None
    prescribed: Mapping[str, Any] | None = None
    locked: Sequence[str] | None = None
    actuators: Actuators | None = None
    stops: Stops | None = None
    conserve: str | None = None
    parameters: Mapping[str, Any] | None = None
    inputs: Mapping[str, Any] | None = None
    sensitivities: Any = None
    outcomes: Any = None
    seed: Any = None
    runs: Any = None
    threads: int | None = None
    max_steps: int = MAX_STEPS
    resume: Trajectory | None = None
    progress: bool | None = None
    device: str | None = None
    precision: str | None = None

    def settings(self) -> Settings:
        """Complete: what was left out is as in the run that is continued, or the default."""
        given = {field.name: getattr(self, field.name) for field in fields(Settings)}
        return Settings(**given).complete(None if self.resume is None else self.resume.data.attrs)


FUNCTIONS = ("control", "environment", "events", "prescribed", "constraints")  # what a file does not hold


def functions_of(request: Request) -> dict[str, Any]:
    """The functions of a run by name; those left out are the ones of the run that is continued."""
    functions = {name: getattr(request, name) for name in FUNCTIONS}
    functions["constraints"] = given_constraints(request.constraints) or None
    events = functions["events"]
    if not callable(events) and isinstance(events, Iterable):
        functions["events"] = tuple(events)
    functions["outcomes"] = outcomes_given(request.outcomes) or None
    resume = request.resume
    if resume is not None:
        for name in FUNCTIONS:
            if functions[name] is None:
                functions[name] = resume.functions.get(name)
            if functions[name] is None and name in resume.data.attrs.get("functions", ()):
                raise ValueError(
                    f"resume: the run had {name}=, a function, which its file does not hold. Give {name}= again."
                )
        functions["outcomes"] = _continued_outcomes(functions["outcomes"], resume)
    return functions


def _continued_outcomes(given: Any, resume: Trajectory) -> Any:
    """Outcomes are of a whole run: those that it began with."""
    begun = list(resume.outcomes)
    found = given or resume.functions.get("outcomes")
    if [one.name for one in found or ()] != begun:
        asked = [one.name for one in found or ()]
        raise ValueError(
            f"resume: the run that is continued has the outcomes {begun}, here they are {asked}. Outcomes are of a "
            "whole run: give those that it began with."
        )
    return found


def controller_of(control: Any) -> Controller | None:
    if control is None or isinstance(control, Controller):
        return control
    if not callable(control):
        raise TypeError(f"control is {control!r}; expected a function (craft, t, q, v) -> tau, or a Controller.")
    return Controller(control)


def environment_of(environment: Any) -> Environment | None:
    if environment is None or isinstance(environment, Environment):
        return environment
    if not callable(environment):
        raise TypeError(
            f"environment is {environment!r}; expected a function (craft, t, q, v) -> wrenches, or an Environment."
        )
    return Environment(environment)


def dynamics_of(craft: Spacecraft, name: str) -> Callable[..., Array]:
    module = formulation(name)
    reason = module.supports(craft)
    if reason is not None:
        raise ValueError(f"formulation '{name}' does not support {craft.name}: {reason}")
    return module.forward_dynamics


def prescribed_motions(
    craft: Spacecraft, prescribed: Mapping[str, Any] | None, locked: Sequence[str], v: Array
) -> dict[str, Any]:
    motions = dict(prescribed or {})
    for name, motion in motions.items():
        joint = craft.joint_named(name)
        if not callable(motion) and np.size(motion) != joint.nv:
            raise ValueError(
                f"prescribed['{name}'] has shape {np.shape(motion)}; expected {joint.nv} accelerations, or a function "
                "of t."
            )
    for name in locked:
        joint = craft.joint_named(name)
        if name in motions:
            raise ValueError(f"joint '{name}' is both locked and prescribed. Choose one.")
        if np.abs(v[..., joint.v_at]).max(initial=0.0) > 0:
            raise ValueError(f"joint '{name}' is locked, but v0 moves it at {v[0, joint.v_at]}. Set its rate to zero.")
        motions[name] = np.zeros(joint.nv)
    return motions


def conserves(craft: Spacecraft, conserve: str | None, environment: Any, constraints: Sequence[Any] = ()) -> bool:
    if conserve is None:
        return False
    if craft.members:
        names = ", ".join(m.name for m in craft.members)
        raise ValueError(
            f"conserve='momentum' is for one spacecraft: the base follows from its momentum. {craft.name} is put "
            f"together of {names}. Leave conserve out, or simulate each by itself."
        )
    if not craft.joint(craft.base).motion.unbound:
        raise ValueError(f"conserve='momentum' needs a free base; {craft.name}'s is {craft.joint(craft.base).kind}.")
    if environment is not None:
        raise ValueError("conserve='momentum' holds where nothing acts from outside: leave out the environment.")
    for c in constraints:
        if "N" in (c.first, c.second):
            raise ValueError(
                f"conserve='momentum' holds where nothing acts from outside, but the {c.title} binds {craft.name} to "
                f"the inertial frame. Leave one of them out, or bind frames of {craft.name} to each other."
            )
    return True


def tolerances(equations: Equations, rtol: Any, atol: Any, sizes: Array | None = None) -> tuple[Array, Array, int]:
    """rtol and atol per component of y, atol infinite where the error is not controlled (audit integrals);
    how many are.

    sizes: of what is varied, (columns,). Derivatives, times those, are as exact as the state; all columns together add
    to the norm of the error what the state does. They are not among those counted:
    the state is never less exact than without them.
    """
    at, craft = equations.layout, equations.craft
    state, controlled = at.row("v").stop, at.row("load").stop
    result = []
    for name, value in (("rtol", rtol), ("atol", atol)):
        given = reals(value, name)
        if given.shape not in ((), (craft.nq + craft.nv,)):
            raise ValueError(
                f"{name} has shape {given.shape}; expected one number, or one for each of q and v "
                f"({craft.nq + craft.nv})."
            )
        if not (given > 0).all() or not np.isfinite(given).all():
            raise ValueError(f"{name} is {value}; expected positive numbers.")
        if given.ndim and equations.conserve:
            given = np.delete(given, np.arange(craft.nq, craft.nq + 6))
        full = np.full(at.n, given.min())
        full[:state] = given
        result.append(full)
    if (result[0] < SMALLEST_RTOL).any():
        raise ValueError(
            f"rtol is {np.min(result[0]):.3g}, which float64 cannot meet; expected {SMALLEST_RTOL} at least. For more, "
            "use smaller units or mpmath on the NumPy functions."
        )
    result[1][controlled:] = np.inf
    if equations.varied:
        assert sizes is not None
        share = np.sqrt(len(sizes))
        for full, size in zip(result, (np.ones(len(sizes)), sizes), strict=True):
            full[at.row("S")] = np.outer(full[:controlled], share / size).ravel()
    return result[0], result[1], controlled
