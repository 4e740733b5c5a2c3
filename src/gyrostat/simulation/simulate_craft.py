"""`gs.simulate` of a spacecraft: from its state and what acts on it, to a Trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..constraints import AbstractConstraint, Stabilisation
from ..control.controller import Controller
from ..control.passive import Actuators, Stops
from ..environment import Environment
from ..model import Spacecraft
from .prepare import prepare
from .problem.request import MAX_STEPS, Request
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
    stabilisation: Stabilisation | None = None,
    prescribed: Mapping[str, Any] | None = None,
    locked: Sequence[str] | None = None,
    actuators: Actuators | None = None,
    stops: Stops | None = None,
    conserve: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    sensitivities: Sequence[str] | None = None,
    outcomes: Any = None,
    seed: Any = None,
    runs: Any = None,
    threads: int | None = None,
    max_steps: int = MAX_STEPS,
    resume: Trajectory | None = None,
    progress: bool | None = None,
    device: str | None = None,
    precision: str | None = None,
) -> Trajectory:
    """How the spacecraft moves from `q0, v0` over `t_span`, compiled. Leading batch axes of q0 and v0 are runs.

    control(craft, t, q, v) -> tau, or a `Controller` with memory. environment(craft, t, q, v) -> wrenches, or an
    `Environment`.
    mode: "floating", "rotation-floating", "rotation-flying", "translation-flying" or "flying": what may act besides the
        joints; the rest is refused, and what the mode conserves is audited (`Trajectory.mode_audit`).
    formulation: of the equations of motion, "recursive" by default.
    integrator: "dop853" (order 8, the default), "rk45" or "gauss16" (implicit, order 16: the fastest for one run at
        tight tolerances, and for stiff control loops at any), which choose their steps by rtol and atol (1e-10 and
        1e-12; numbers, or one per component of q and v); "rk4" or "gauss6" (implicit, order 6) with a fixed `step`,
        which makes the others fixed, too. With fixed steps the implicit ones are time-reversible, and keep the norms of
        quaternions. max_step: so that short pulses are not stepped over.
    save_at: times to keep; by default 401 from start to end. events: functions of (craft, t, q, v), or `When(...)`,
        that change their sign; of one that swings too fast within a step to be followed a warning tells: bound the step
        by max_step.
    breakpoints: times at which loads jump; the integrator stops and starts there.
    constraints: of `gs.constraints` (closed loops, welds, driven coordinates, ...); they must hold at the start. Their
        wrenches are part of the trajectory's `wrenches`; `Trajectory.constraint_loads` and `constraint_residuals` give
        them apart.
        stabilisation: how fast violations die out.
    prescribed: {joint: acceleration, or function of t}: it follows, whatever the load. locked: joints that stay as they
    are.
    actuators: saturation, lag and rate limit of all motors. stops: smooth end stops at the joints' limits.
    conserve="momentum": where nothing acts from outside, the base follows from the conserved momentum, linear and
        angular about the centre of mass, which then holds to round-off at any tolerance.
    parameters: {"link_3.mass": value, or (runs,) values}: each run's own mass properties.
    inputs: {"gain": value}, in a batch (runs, ...) or (1, ...): what control laws, environments and events may ask for
        by argument name, besides `run`, `sample` and `seed`. runs: the runs' numbers, 0, 1, ... by default. seed: an
        integer of any size, several of them, or a `numpy.random.SeedSequence`.
    sensitivities: names of what the motion is differentiated by: "q0" (on the manifold), "v0", any parameter
        ("link_6.mass"), any input ("input:gain"). The exact variational equations are integrated beside the motion, to
        the same tolerances, through samples and the effects of events; `Trajectory.sensitivity` gives the derivatives.
        Functions that are called from Python have none.
    outcomes: of `gs.outcomes`, several or {name: outcome}: what is asked of the whole run in one number each, reduced
        while it goes on (extremes, integrals, times of events ...); `Trajectory.outcomes` has them.
    max_steps: attempted steps after which a run is interrupted, as by Ctrl-C.
    resume: a trajectory to continue, interrupted or to a later end of t_span, with its settings and functions unless
        others are given; an interrupted one bit for bit as if it had never stopped. One to a later end goes on from
        where its last step ended, which is at the former end.
    device: "cuda" for a CUDA card, a thread a run, with "dop853", "rk45" or "rk4"; all functions must be compiled.
    precision: "double"; or "single", for batches with a fixed `step` of "rk4", "rk45" or "dop853": accelerations, and
        laws without samples, are computed to seven digits, at about seven tenths of the cost. The state and all that is
        added up, samples, events and outcomes stay in double.
    """
    request = Request(**locals())
    prepared = prepare(request)
    return prepared.result(prepared.integrate(progress))
