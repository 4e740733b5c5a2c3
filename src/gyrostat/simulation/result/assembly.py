"""From what the engine left to a Trajectory, and to words for runs that failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._warned import warn_user
from ...algebra import Array
from ..engine.compiling import SimulationWarning
from ..engine.status import Status
from ..engine.system import Outcome, Plan, Record, State
from ..problem.equations import Equations
from ..problem.outcomes import order_of
from ..problem.request import FUNCTIONS
from ..problem.runs import Runs
from ..problem.settings import Settings
from ..problem.times import Times
from .burnt import BURNT, told_of
from .dataset import causes_at_end, dataset, end_states, looked, of_outcomes
from .outcome_values import outcome_values
from .sensitivities import at_ends, at_events
from .summary import FIGURES
from .trajectory import Event, Trajectory, unresolved

_REASONS = {
    Status.underflow: "the step became too small to meet the tolerances (a singular or very stiff system)",
    Status.not_finite: "the state became infinite or no number",
    Status.no_convergence: "the implicit stages did not converge: use a smaller step, or integrator='gauss16' without "
    "step=, which solves stiff motions",
}


def trajectory_of(
    equations: Equations,
    outcome: Outcome,
    plan: Plan,
    runs: Runs,
    settings: Settings,
    functions: Mapping[str, Any],
    times: Times,
    resume: Trajectory | None,
    stability_share: float = 0.0,
) -> Trajectory:
    from ... import __version__

    craft, state = equations.craft, outcome.state
    ends = times.outside(state.t)
    failures = tuple(failure(equations, state, ends[k], runs, k) for k in range(runs.count) if failed(state.status[k]))
    _warn(craft.name, failures, outcome, plan, ends)
    others = end_states(equations, state, ends, runs.constants, runs.single)
    others |= causes_at_end(equations, state, runs.single) | looked(equations, state.measured, runs.single)
    others |= of_outcomes(
        functions.get("outcomes") or (), _outcomes(equations, state, runs, functions, times, resume), runs.single
    )
    moved = at_events(equations, functions["events"], outcome.records, runs.constants)
    if equations.varied:
        others |= at_ends(equations, state, outcome.records, moved, runs.constants, runs.single)
    numbers = None if runs.single else runs.numbers
    data = dataset(equations, times.save, outcome.saved, runs.constants, numbers, others)
    data.attrs = {
        "model": craft.name,
        "gyrostat": __version__,
        **settings.attributes(),
        "t_span": (float(times.span[0] if resume is None else resume.data.attrs["t_span"][0]), float(times.span[1])),
        "t0": equations.t0,
        "inputs": {name: list(shape) for name, shape in runs.inputs.items()},
        "functions": [name for name in FUNCTIONS if functions[name] is not None],
        "prescribed_joints": list(functions["prescribed"] or ()),
        "failures": failures,
        **({BURNT: told_of(equations.propellant)} if equations.propellant is not None else {}),
        "stability_share": stability_share,
        "unresolved_events": {
            **(resume.data.attrs.get("unresolved_events", {}) if resume else {}),
            **outcome.unresolved,
        },
    }
    data.attrs |= _told(equations, data, runs)
    events = tuple(event_of(equations, record, times, runs.constants) for record in outcome.records)
    if resume is not None:
        _keep_earlier_rows(data, resume)
        events = (*resume.events, *events)
    order = sorted(range(len(events)), key=lambda k: (events[k].run, events[k].t)) if resume else range(len(events))
    events = tuple(events[k] for k in order)
    if equations.varied and events:
        if resume is not None and resume.events:
            moved = np.vstack([resume.data["t_event_by"].values, moved])
        about = {"long_name": "derivatives of the times of the events"}
        data = data.assign(t_event_by=(("event", "by"), moved[list(order)], about))
    interrupted = bool((state.status == Status.running).any())  # whoever asked for it: it may have been done by then
    return Trajectory(
        craft, data, state, runs.constants, runs.parameters, events, equations, interrupted, dict(functions)
    )


def _told(equations: Equations, data: Any, runs: Runs) -> dict[str, Any]:
    """Whether the estimators of a law are consistent, at the last saved time of each run that came there."""
    tells = None if equations.control is None else equations.control.tells
    if tells is None or "held_z" not in data or runs.parameters:
        return {}
    q, v, z = (np.asarray(data[name].values)[..., -1, :] for name in ("q", "v", "held_z"))
    q, v, z = (x.reshape(-1, x.shape[-1]) for x in (q, v, z))
    good = np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1) & np.isfinite(z).all(axis=1)
    if not good.any():
        return {}
    try:
        return {FIGURES: [row.row() for row in tells(equations.craft, q[good], v[good], z[good])]}
    except (ValueError, TypeError, ArithmeticError, LookupError) as error:  # what was computed must not be lost by it
        warn_user(f"{equations.craft.name}: whether its filters were consistent cannot be told ({error}).")
        return {}


def _outcomes(
    equations: Equations,
    state: State,
    runs: Runs,
    functions: Mapping[str, Any],
    times: Times,
    resume: Trajectory | None,
) -> Array:
    """(runs, outcomes); no numbers for runs that failed."""
    outcomes = functions.get("outcomes") or ()
    count = len(order_of(outcomes)[0])
    kept, before = np.split(state.measured[:, state.measured.shape[1] - 2 * count :], 2, axis=1)
    begun = times.inside(times.span[0] if resume is None else resume.data.attrs["t_span"][0])
    found = outcome_values(equations, outcomes, state, runs.constants, kept, before, float(begun), times.outside)
    found[[failed(status) for status in state.status]] = np.nan
    return found


def with_trajectory(error: Exception, trajectory: Any) -> Exception:
    """The user's own exception, which bears what was computed before it as `trajectory`."""
    error.trajectory = trajectory  # type: ignore[attr-defined]
    error.add_note(
        f"What was computed up to t = {float(np.min(trajectory.t_end)):.9g} s is in this exception's attribute "
        "'trajectory'; save it, or go on from it with simulate(..., resume=error.trajectory) once the function is "
        "mended."
    )
    return error


def _warn(name: str, failures: tuple[str, ...], outcome: Outcome, plan: Plan, ends: Array) -> None:
    if failures:  # one warning: members that share a clock all fail at once
        more = f" {len(failures) - 1} more failed: see .failures." if len(failures) > 1 else ""
        warn_user(failures[0] + more, SimulationWarning)
    for event, length in outcome.unresolved.items():
        warn_user(f"{name}: {unresolved(event, length)}", SimulationWarning)
    unfinished = outcome.state.status == Status.running
    if unfinished.any() and not outcome.interrupted:
        warn_user(
            f"{name}: {int(unfinished.sum())} of {len(unfinished)} runs took {plan.most_steps} steps and reached only "
            f"t = {ends[unfinished].min():.6g} s. Go on with simulate(craft, resume=trajectory), raise max_steps, "
            "loosen rtol, or look for an unstable control law.",
            SimulationWarning,
        )


def _keep_earlier_rows(data: Any, resume: Trajectory) -> None:
    """What the run that is continued had saved, bit for bit."""
    earlier = resume.data
    _, old, new = np.intersect1d(earlier["time"].values, data["time"].values, return_indices=True)
    axis = 1 if resume.batched else 0
    at: Any = (slice(None), new) if resume.batched else (new,)
    for name, variable in data.data_vars.items():
        if "time" in variable.dims:
            known, current = earlier[name].values.take(old, axis=axis), variable.values
            current[at] = np.where(np.isnan(known), current[at], known)


def event_of(equations: Equations, record: Record, times: Times, constants: Array) -> Event:
    at = equations.layout
    x = np.zeros(at.size)
    x[0], x[at.state], x[at.held] = record.t, record.y, record.held
    x[at["run"].start :][: constants.shape[1]] = constants[record.run]
    t = float(times.outside(record.t))
    return Event(record.run, record.event, t, x[at["q"]], np.asarray(equations.velocity(x), dtype=float))


def failed(status: float) -> bool:
    """Whether a run ended before its time, and not because it was told to."""
    return Status(int(status)) in _REASONS


def failure(equations: Equations, state: State, t: float, runs: Runs, k: int) -> str:
    """When and why run k stopped, and the joint that moved fastest in its last good state."""
    at, craft = equations.layout, equations.craft
    rates = at.part(state.y[k], "v")
    rates = np.concatenate([np.zeros(6), rates]) if equations.conserve else rates
    moving = [joint for joint in craft.joints if joint.nv]
    fastest = max(moving, key=lambda joint: np.abs(rates[joint.v_at]).max())
    who = craft.name if runs.single else f"{craft.name}, run {int(runs.numbers[k])}"
    place = int(np.argmax(np.abs(rates[fastest.v_at])))
    rate, unit = rates[fastest.v_at][place], fastest.motion.v_units[place]
    return (
        f"{who}: stopped at t = {t:.9g} s: {_REASONS[Status(int(state.status[k]))]}. Fastest joint there: "
        f"'{fastest.name}' at {rate:.4g} {unit}. The last good state is kept."
    )
