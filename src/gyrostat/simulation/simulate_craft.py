"""`gs.simulate` of a spacecraft: from its state and what acts on it, to a Trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..constraints import USUAL, AbstractConstraint, Stabilisation
from ..control.controller import Controller
from ..control.modes import demand_mode, guarded
from ..control.passive import Actuators, Stops
from ..environment import Environment
from ..model import Spacecraft
from .engine.compiling import compile_system, settled
from .engine.context import Status
from .engine.integrate import initial_samples, integrate
from .engine.progress import progress_bar
from .engine.system import Plan, State
from .integrators.stiffness import stability_share
from .problem.closure import require_closed
from .problem.equations import Equations
from .problem.request import (
    conserves,
    controller_of,
    dynamics_of,
    environment_of,
    functions_of,
    prescribed_motions,
    stops_of,
    times,
    tolerances,
)
from .problem.runs import arguments, begin, constants, continued, start
from .problem.settings import Settings, ends_at_saves
from .result.assembly import trajectory_of
from .result.mode_audit import warn_if_broken
from .result.trajectory import Trajectory


def simulate(
    craft: Spacecraft,
    q0: Any = None,
    v0: Any = None,
    t_span: Any = None,
    *,
    control: Callable[..., Any] | Controller | None = None,
    environment: Callable[..., Any] | Environment | None = None,
    mode: str | None = None,
    formulation: str | None = None,
    integrator: str | None = None,
    rtol: Any = None,
    atol: Any = None,
    step: float | None = None,
    max_step: float | None = None,
    save_at: Any = None,
    events: Any = None,
    breakpoints: Any = None,
    constraints: Sequence[AbstractConstraint] | None = None,
    stabilisation: Stabilisation = USUAL,
    prescribed: Mapping[str, Any] | None = None,
    locked: Sequence[str] | None = None,
    actuators: Actuators | None = None,
    stops: Stops | None = None,
    conserve: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    seed: int | None = None,
    runs: Any = None,
    threads: int | None = None,
    max_steps: int = 2_000_000,
    resume: Trajectory | None = None,
    progress: bool | None = None,
) -> Trajectory:
    """How the spacecraft moves from `q0, v0` over `t_span`, compiled. Leading batch axes of q0 and v0 are runs.

    control(craft, t, q, v) -> tau, or a `Controller` with memory. environment(craft, t, q, v) -> wrenches, or an `Environment`.
    mode: "floating", "rotation-floating", "rotation-flying", "translation-flying" or "flying": what may act besides the joints; the
        rest is refused, and what the mode conserves is audited (`Trajectory.mode_audit`).
    formulation: of the equations of motion, "recursive" by default.
    integrator: "dop853" (order 8, the default), "rk45" or "gauss16" (implicit, order 16: the fastest for one run at tight
        tolerances, and for stiff control loops at any), which choose their steps by rtol and atol (1e-10 and 1e-12; numbers, or one per component of q and v); "rk4" or
        "gauss6" (implicit, order 6) with a fixed `step`, which makes the others fixed, too. With fixed steps the implicit ones are
        symplectic. max_step: so that short pulses are not stepped over.
    save_at: times to keep; by default 401 from start to end. events: functions of (craft, t, q, v), or `When(...)`, that change their
        sign; functions that swing several times within a step may be missed: bound it by max_step.
    breakpoints: times at which loads jump; the integrator stops and starts there.
    constraints: of `gs.constraints` (closed loops, welds, driven coordinates, ...); they must hold at the start. Their wrenches are
        part of the trajectory's `wrenches`. stabilisation: how fast violations die out.
    prescribed: {joint: acceleration, or function of t}: it follows, whatever the load. locked: joints that stay as they are.
    actuators: saturation, lag and rate limit of all motors. stops: smooth end stops at the joints' limits.
    conserve="momentum": where nothing acts from outside, the base follows from the conserved momentum, which then holds to
        round-off at any tolerance.
    parameters: {"link_3.mass": value, or (runs,) values}: each run's own mass properties.
    inputs: {"gain": value}, in a batch (runs, ...) or (1, ...): what control laws, environments and events may ask for by argument
        name, besides `run`, `sample` and `seed`. runs: the runs' numbers, 0, 1, ... by default.
    max_steps: attempted steps after which a run is interrupted, as by Ctrl-C.
    resume: a trajectory to continue, interrupted or to a later end of t_span, with its settings and functions unless others are
        given; bit for bit as if it had never stopped.
    """
    if max_steps < 1:
        raise ValueError(f"max_steps is {max_steps}; expected at least one.")
    settings = Settings(
        formulation, integrator, rtol, atol, step, max_step, breakpoints, locked, actuators, stops, conserve, mode, seed
    ).complete(None if resume is None else resume.data.attrs)
    functions = functions_of(
        {
            "control": control,
            "environment": environment,
            "events": events,
            "prescribed": prescribed,
            "constraints": constraints or None,
        },
        resume,
    )
    span, save = times(t_span, save_at, settings.step, resume)
    outer = environment_of(functions["environment"])
    held = tuple(functions["constraints"] or ())
    conserving = conserves(craft, settings.conserve, outer, held)
    if resume is None:
        batch = begin(craft, q0, v0, parameters, inputs, runs, conserving)
    else:
        batch = continued(craft, resume, q0, v0, parameters, inputs, runs)
    if outer is not None and outer.check is not None and resume is None:
        for row in batch.q:
            outer.check(craft, float(span[0]), row)
    if held and resume is None:
        require_closed(craft, float(span[0]), batch.q, batch.v, held)
    motions = prescribed_motions(craft, functions["prescribed"], settings.locked or (), batch.v)
    law = controller_of(functions["control"])
    if settings.mode is not None:
        law = guarded(craft, demand_mode(craft, settings.mode, motions), law)
    t0 = float(span[0]) if resume is None else float(resume.data.attrs["t0"])
    equations = Equations(
        craft,
        law,
        outer,
        dynamics_of(craft, str(settings.formulation)),
        t0,
        motions,
        settings.actuators,
        settings.stops,
        conserving,
        seed=int(settings.seed or 0),
        inputs=batch.inputs,
        parameters=batch.parameter_shapes,
        constraints=held,
        stabilisation=stabilisation,
    )
    equations = settled(equations, lambda e: arguments(e, batch, start(e, batch, t0, None))[0])
    state = start(equations, batch, t0, settings.step)
    system = compile_system(equations, functions["events"] or (), arguments(equations, batch, state)[0])
    own = constants(equations, batch)
    if resume is None:
        initial_samples(system, state, own)
    else:
        state = _restart(resume, settings.step)
    fixed = settings.step is not None
    stop_times, samples = stops_of(
        equations, span, settings.breakpoints, save if fixed or ends_at_saves(settings) else ()
    )
    relative, absolute, controlled = tolerances(equations, settings.rtol, settings.atol)
    largest = settings.step or settings.max_step or float("inf")
    plan = Plan(
        str(settings.integrator),
        stop_times,
        samples,
        save,
        relative,
        absolute,
        controlled,
        fixed,
        largest,
        threads,
        max_steps,
    )
    with progress_bar(progress, f"{craft.name}: simulating", float(span[1] - span[0])) as tell:
        outcome = integrate(system, plan, state, own, tell)
    if resume is None:
        outcome.saved[:, plan.saves == span[0]] = np.hstack([state.y, state.held])[:, None, :]
    share = stability_share(system, plan, state, outcome.state, own)
    trajectory = trajectory_of(equations, outcome, plan, batch, settings, functions, span, resume, share)
    warn_if_broken(trajectory)
    return trajectory


def _restart(resume: Trajectory, step: float | None) -> State:
    state = State(**{name: np.array(value) for name, value in vars(resume.state).items()})
    state.status[state.status == Status.done] = Status.running
    if step is not None:
        state.h[:] = step
    return state
