"""`gs.simulate`: from a spacecraft, its state and what acts on it, to a Trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra import Array
from ..control.controller import Controller
from ..control.modes import demand_mode, guarded
from ..control.passive import Actuators, Stops
from ..environment import Environment
from ..formulations import recursive
from ..model import Spacecraft
from .compiling import compile_system, settled
from .engine import Plan, State, initial_samples, integrate
from .equations import Equations
from .mode_audit import warn_if_broken
from .progress import progress_bar
from .request import (
    choice,
    conserves,
    controller_of,
    dynamics_of,
    initial_state,
    own_shape,
    per_run,
    prescribed_motions,
    run_count,
    stops_of,
    times,
    tolerances,
)
from .result import trajectory_of
from .stepper import Status
from .tableaus import METHODS
from .trajectory import Trajectory


def simulate(
    craft: Spacecraft,
    q0: Any = None,
    v0: Any = None,
    t_span: Any = None,
    *,
    control: Callable[..., Any] | Controller | None = None,
    environment: Callable[..., Any] | Environment | None = None,
    mode: str | None = None,
    formulation: str = "recursive",
    integrator: str = "dop853",
    rtol: Any = 1e-10,
    atol: Any = 1e-12,
    step: float | None = None,
    max_step: float | None = None,
    save_at: Any = None,
    events: Sequence[Any] = (),
    breakpoints: Any = (),
    prescribed: Mapping[str, Any] | None = None,
    locked: Sequence[str] = (),
    actuators: Actuators | None = None,
    stops: Stops | None = None,
    conserve: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    seed: int = 0,
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
    integrator: "dop853" (order 8) or "rk45", which choose their steps by rtol and atol (numbers, or one per component of q and v);
        "rk4" or "gauss6" (implicit, symplectic, order 6) with a fixed `step`. A `step` makes the others fixed too.
    save_at: times to keep; by default 401 from start to end. events: functions of (craft, t, q, v), or `When(...)`.
    breakpoints: times at which loads jump; the integrator stops and starts there.
    prescribed: {joint: acceleration, or function of t}: it follows, whatever the load. locked: joints that stay as they are.
    actuators: saturation, lag and rate limit of all motors. stops: smooth end stops at the joints' limits.
    conserve="momentum": where nothing acts from outside, the base follows from the conserved momentum, which then holds to
        round-off at any tolerance.
    parameters: {"link_3.mass": (runs,)}: each run's own values. inputs: {"gain": (runs, ...)}: what control laws, environments and
        events may ask for by argument name, besides `run`, `sample` and `seed`. runs: the runs' numbers, 0, 1, ... by default.
    max_steps: attempted steps after which a run is interrupted, as by Ctrl-C.
    resume: continue an interrupted run, or one that shall go on to a later end of t_span.
    """
    method = choice(integrator, METHODS, "integrator")
    fixed = step is not None
    if not fixed and method in ("rk4", "gauss6"):
        raise ValueError(
            f"integrator '{method}' takes fixed steps: give step= in seconds, or choose 'dop853' or 'rk45'."
        )
    if resume is not None and parameters is None:
        parameters = resume.parameters
    span, save = times(t_span, save_at, step, resume)
    q, v, single = initial_state(craft, q0, v0, resume)
    count = run_count(craft, q, parameters)
    single = (
        single and count == 1 and all(np.shape(x) == np.shape(craft.value(n)) for n, x in (parameters or {}).items())
    )
    q, v = np.broadcast_to(q, (count, craft.nq)), np.broadcast_to(v, (count, craft.nv))
    values, value_shapes = per_run(parameters, count, lambda name, _: np.shape(craft.value(name)), "parameters")
    given, given_shapes = per_run(inputs, count, lambda _, value: own_shape(value, count, single), "inputs")

    motions, law = prescribed_motions(craft, prescribed, locked, v), controller_of(control)
    if mode is not None:
        law = guarded(craft, demand_mode(craft, mode, motions), law)
    equations = Equations(
        craft,
        law,
        environment if isinstance(environment, Environment) or environment is None else Environment(environment),
        dynamics_of(craft, formulation),
        float(span[0]) if resume is None else float(resume.data.attrs["t0"]),
        motions,
        actuators,
        stops,
        conserves(craft, conserve, environment),
        True,
        seed,
        given_shapes,
        value_shapes,
    )
    equations = settled(equations)
    kernels = compile_system(equations, events)
    momentum = _momenta(craft, q, v, values) if equations.conserve else np.zeros((count, 0))
    numbers = np.arange(count, dtype=float) if runs is None else np.broadcast_to(np.asarray(runs, float), (count,))
    constants = np.hstack([numbers[:, None], momentum, *given.values(), *values.values()])
    if equations.python_control:
        width = equations.layout.width("python tau") + equations.layout.width("python zdot")
        constants = np.hstack([constants, np.zeros((count, width))])
    if resume is not None and resume.constants.shape == constants.shape:
        constants = resume.constants
    state = _start(equations, q, v, count, step, span) if resume is None else _restart(resume, step)
    stop_times, samples = stops_of(equations, span, breakpoints, save if fixed else ())
    plan = Plan(
        method,
        stop_times,
        samples,
        save,
        *tolerances(equations, rtol, atol),
        fixed,
        float(max_step or max(span[1] - span[0], 1e-300)) if not fixed else float(step or 0.0),
        threads,
        max_steps,
    )
    if resume is None:
        initial_samples(kernels, state, constants, range(count))
    first = np.hstack([state.y, state.held])
    with progress_bar(progress, f"{craft.name}: simulating") as tell:
        outcome = integrate(kernels, plan, state, constants, tell)
    if resume is None:
        outcome.saved[:, plan.saves == span[0]] = first[:, None, :]
    settings = {"formulation": formulation, "rtol": rtol, "atol": atol, "step": step, "seed": seed}
    if mode is not None:
        settings["mode"] = mode
    own = {name: value.reshape(count, *value_shapes[name]) for name, value in values.items()}
    trajectory = trajectory_of(equations, outcome, plan, constants, own, single, settings, span, resume)
    if mode is not None:
        warn_if_broken(trajectory)
    return trajectory


def _momenta(craft: Spacecraft, q: Array, v: Array, values: Mapping[str, Array]) -> Array:
    rows = []
    for k in range(len(q)):
        own = {name: value[k].reshape(np.shape(craft.value(name))) for name, value in values.items()}
        rows.append(recursive.momentum(craft.with_values(own) if own else craft, q[k], v[k]))
    return np.array(rows, dtype=float)


def _start(equations: Equations, q: Array, v: Array, count: int, step: float | None, span: Array) -> State:
    at, offset = equations.layout, equations.state_at.start
    y = np.zeros((count, equations.state_at.stop - offset))
    y[:, at["q"].start - offset : at["q"].stop - offset] = q
    y[:, at["v"].start - offset : at["v"].stop - offset] = v[:, 6:] if equations.conserve else v
    held = np.zeros((count, equations.held_at.stop - equations.held_at.start))
    if equations.control is not None and equations.control.state0.size:
        memory = equations.control.state0
        if equations.control.sampled:
            held[:, -memory.size :] = memory
        else:
            y[:, at["z"].start - offset : at["z"].stop - offset] = memory
    zeros = np.zeros(count)
    return State(
        np.full(count, span[0]), y, held, np.full(count, step or 0.0), zeros.copy(), zeros.copy(), zeros.copy()
    )


def _restart(resume: Trajectory, step: float | None) -> State:
    s = resume.state
    state = State(*(np.array(a) for a in (s.t, s.y, s.held, s.h, s.status, s.steps, s.rejections)))
    state.status[state.status == Status.done] = Status.running
    if step is not None:
        state.h[:] = step
    return state
