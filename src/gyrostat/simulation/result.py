"""From what the engine left to a Trajectory, and to words for runs that failed."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..algebra import Array
from .compiling import SimulationWarning
from .dataset import dataset
from .engine import Outcome, Plan, Record, State
from .equations import Equations
from .stepper import Status
from .trajectory import Event, Trajectory

_REASONS = {
    Status.underflow: "the step became too small to meet the tolerances (a singular or very stiff system)",
    Status.not_finite: "the state became infinite or no number",
    Status.no_convergence: "the implicit stages did not converge: use a smaller step",
}


def _keep_earlier_rows(data: Any, resume: Trajectory) -> None:
    """What the run that is continued had saved, bit for bit."""
    earlier = resume.data
    _, old, new = np.intersect1d(earlier["time"].values, data["time"].values, return_indices=True)
    at: Any = (slice(None), new) if resume.batched else (new,)
    for name in data.data_vars:
        known, current = earlier[name].values.take(old, axis=len(at) - 1), data[name].values
        current[at] = np.where(np.isnan(known), current[at], known)


def trajectory_of(
    equations: Equations,
    outcome: Outcome,
    plan: Plan,
    constants: Array,
    parameters: Mapping[str, Array],
    single: bool,
    settings: Mapping[str, Any],
    span: Array,
    resume: Trajectory | None,
) -> Trajectory:
    from .. import __version__

    craft, state = equations.craft, outcome.state
    failures = tuple(_failure(equations, state, k, single) for k in range(len(state.t)) if _failed(state.status[k]))
    for message in failures:
        warnings.warn(message, SimulationWarning, stacklevel=3)
    unfinished = state.status == Status.running
    if unfinished.any() and not outcome.interrupted:
        warnings.warn(
            f"{craft.name}: {int(unfinished.sum())} of {len(state.t)} runs took {plan.most_steps} steps and reached only "
            f"t = {state.t[unfinished].min():.6g} s. Go on with simulate(resume=trajectory), raise max_steps, loosen rtol, or look "
            f"for an unstable control law.",
            SimulationWarning,
            stacklevel=3,
        )
    data = dataset(equations, plan.saves, outcome.saved, constants, single)
    data.attrs = {
        "model": craft.name,
        "gyrostat": __version__,
        "integrator": plan.method,
        **settings,
        "t_span": tuple(float(t) for t in span),
        "t0": equations.t0,
        "failures": failures,
    }
    if resume is not None:
        _keep_earlier_rows(data, resume)
    interrupted = outcome.interrupted or bool(unfinished.any())
    events = tuple(_event(equations, record, constants) for record in outcome.records)
    return Trajectory(craft, data, state, constants, parameters, events, equations, interrupted)


def _event(equations: Equations, record: Record, constants: Array) -> Event:
    at, offset = equations.layout, equations.state_at.start
    held = np.zeros(equations.held_at.stop - equations.held_at.start)
    x = np.concatenate([[record.t], record.y, held, constants[record.run]])
    q = record.y[at["q"].start - offset : at["q"].stop - offset]
    return Event(record.run, record.event, record.t, q, equations.velocity(x))


def _failed(status: float) -> bool:
    return Status(int(status)) in (Status.underflow, Status.not_finite, Status.no_convergence)


def _failure(equations: Equations, state: State, k: int, single: bool) -> str:
    """When and why run k stopped, and the joint that moved fastest in its last good state."""
    at, offset, craft = equations.layout, equations.state_at.start, equations.craft
    rates = state.y[k, at["v"].start - offset : at["v"].stop - offset]
    rates = np.concatenate([np.zeros(6), rates]) if equations.conserve else rates
    fastest = max(craft.joints, key=lambda joint: np.abs(rates[joint.v_at]).max(initial=0.0))
    who = craft.name if single else f"{craft.name}, run {k}"
    rate = np.abs(rates[fastest.v_at]).max(initial=0.0)
    return (
        f"{who}: stopped at t = {state.t[k]:.9g} s: {_REASONS[Status(int(state.status[k]))]}. "
        f"Fastest joint there: '{fastest.name}' at {rate:.4g}. The last good state is kept."
    )
