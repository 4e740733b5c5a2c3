"""Runs in phases: approach, capture, hold, release.

Constraints switch on with a velocity jump that conserves momentum, and off without.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._warned import warn_user
from ..algebra import Array, cross
from ..algebra.reals import reals, seconds
from ..constraints import AbstractConstraint, Capture, capture, grasped
from ..constraints.consistency import support_impulses
from ..constraints.kinds import given_constraints
from ..kinematics import center_of_mass, frame_pose, neutral
from ..model import Spacecraft
from ..model.demands import demand_spacecraft
from ..model.differences import difference
from ..outcomes import outcomes_given
from .engine.compiling import SimulationWarning
from .engine.interruption import one_after_the_other
from .one_tree import OneTree
from .phase import (
    COMMON,
    ELSEWHERE,
    OF_THE_PHASE,
    OF_THE_RUN,
    OPTIONS,
    Phase,
    attached,
    demand_order,
    known,
    listed,
    released,
)
from .phased_run import KeptPhases, PhasedRun, PhaseResult
from .prepare import prepare
from .problem.causes import grounded, is_still
from .problem.events import When, event_name
from .problem.request import Request
from .problem.settings import Settings
from .result.joined_outcomes import refuse_unseen
from .result.trajectory import Trajectory
from .simulate_craft import simulate

SAME = 1e-13  # of a state that is given again, whose quaternions the run has brought to length one
LOOKS = 500  # times at least that a phase looks for its event


@one_after_the_other()
def simulate_phases(
    craft: Spacecraft,
    q0: Any = None,
    v0: Any = None,
    phases: Sequence[Phase] = (),
    *,
    t0: float = 0.0,
    resume: PhasedRun | KeptPhases | str | Path | None = None,
    **options: Any,
) -> PhasedRun:
    """One phase after the other, each from where the one before ended.

    options: those of `simulate`, for all phases: control, environment, constraints, events (a terminal one ends the
    whole run), save_at and breakpoints (times of the whole run), prescribed, locked, actuators, stops, parameters,
    inputs, mode, integrator, tolerances ...; max_steps is that of each phase.

    resume: an interrupted run of the same phases, which goes on with its options unless others are given; or the file
    of one, which holds no functions: craft, start and options are given again, as they were.

    Raises ValueError for options that no phase can use, by name.
    """
    demand_spacecraft(craft, "simulate_phases", "phases are")
    known(options, "simulate_phases")
    phases, t0 = listed(phases), seconds(t0, "t0")
    results: list[PhaseResult] = []
    begun: PhaseResult | None = None  # and interrupted
    anew = set(options)
    if isinstance(resume, str | Path):
        resume = KeptPhases.load(resume)
    kept: Sequence[Trajectory] = ()
    if isinstance(resume, KeptPhases):
        _refuse_others(resume.phases, phases)
        _one_run(craft, q0, v0, options)
        kept = resume.trajectories
    elif resume is not None:
        _refuse_anew(resume, phases, (q0, v0), t0, options)
        options = {**resume.options, **options}
        results = [replace(r, phase=phase) for r, phase in zip(resume.phases, phases, strict=False)]
        if results and not results[-1].finished:
            begun, _ = resume.phases[-1], results.pop()
    else:
        _one_run(craft, q0, v0, options)
    if options.get("stabilisation") is not None and not _any_constraint(phases, options):
        raise ValueError("stabilisation= is that of constraints, and no phase has any: leave it out.")
    jumps = [phase.name for k, phase in enumerate(phases) if phase.grasp or (k and phase.constraints)]
    refuse_unseen(outcomes_given(options.get("outcomes")), jumps)
    own = {name: reals(x, f"parameters['{name}']") for name, x in (options.get("parameters") or {}).items()}
    state = (t0, *_start(craft, q0, v0)) if not results else results[-1].end
    demand_order(craft, own, state[1], phases)
    try:
        if begun is not None:
            results.append(_continued(begun, phases[len(results)], options, anew))
            begun, state = None, results[-1].end
        for k, phase in enumerate(phases[len(results) :]):
            if results and results[-1].over:
                break
            before = results[-1] if results else None
            results.append(_run(craft, own, state, phase, before, options, kept[k] if k < len(kept) else None))
            state = results[-1].end
    except Exception as error:
        part = getattr(error, "trajectory", None)
        if isinstance(part, PhaseResult) and part.trajectory.state.steps.any():  # else it begins anew
            results.append(part)
        elif begun is not None:
            results.append(begun)
        if results and len(results) >= len(kept):  # else the file holds more
            error.trajectory = PhasedRun(craft, tuple(results), options)  # type: ignore[attr-defined]
        raise
    if results and results[-1].missed:
        warn_user(results[-1].missed, SimulationWarning)
    return PhasedRun(craft, tuple(results), options)


def _start(craft: Spacecraft, q0: Any, v0: Any) -> tuple[Array, Array]:
    q = neutral(craft) if q0 is None else reals(craft.q(q0), "q0")
    return q, np.zeros(craft.nv) if v0 is None else reals(craft.v(v0), "v0")


def _run(
    craft: Spacecraft,
    own: Mapping[str, Array],
    state: tuple[float, Array, Array],
    phase: Phase,
    before: PhaseResult | None,
    options: Mapping[str, Any],
    recorded: Trajectory | None = None,
) -> PhaseResult:
    """own: values of the craft that the run has in place of its. recorded: how far a file says that the phase came."""
    struck = craft.with_values(own) if own else craft
    t, q, v = start = state
    kept = released(() if before is None else before.grasps, phase)
    begun = tuple(grasped(struck, t, q, c) for c in phase.grasp)
    always = (*given_constraints(options.get("constraints")), *phase.constraints)
    holds = kept if phase.restitution > 0.0 else (*kept, *begun)  # what bounces off does not hold
    joined = attached(holds, phase, () if before is None else before.attached)
    given = _given(phase, (*holds, *always), options, (t, t + phase.duration))
    jump, impulse, struck_by = None, None, ""
    if begun or _begin(always, before):
        hit = (*kept, *begun, *always)
        e = [phase.restitution if any(c is b for b in begun) else 0.0 for c in hit]
        rigid = [*(given["prescribed"] or {}), *_names(given["locked"])]
        jump = capture(struck, q, v, hit, t=t, restitution=e, locked=rigid)
        v, impulse = jump.v, _outer_impulse(struck, q, v, hit, jump, rigid)
        struck_by = ", ".join(c.title for c in hit)
    tree = _tree(craft, own, q, [c for c in holds if c.title in joined], before)
    now = craft
    if tree is not None:
        now, (q, v) = tree.craft, tree.joined(q, v)
        given["constraints"] = tuple(c for c in given["constraints"] if c.title not in joined) or None
    if phase.made is not None:
        given |= _made(phase, phase.made(now, t, q, v))
    request = Request(craft=now, q0=q, v0=v, t_span=(t, t + phase.duration), **given)
    after = None if before is None else before.trajectory

    def left(trajectory: Trajectory) -> PhaseResult:
        return PhaseResult(
            phase,
            trajectory,
            (*holds, *always),
            jump,
            holds,
            impulse,
            struck_by,
            start[1:],
            _ended_by(trajectory, phase),
            joined,
            tree,
            given,
        )

    with _bearing(left):
        return left(_simulated(request, after) if recorded is None else _recalled(request, after, recorded))


@contextmanager
def _bearing(left: Callable[[Trajectory], PhaseResult]) -> Iterator[None]:
    """An exception of a user's function bears what there is of its phase, as the phase left it."""
    try:
        yield
    except Exception as error:
        if isinstance(part := getattr(error, "trajectory", None), Trajectory):
            error.trajectory = left(part)  # type: ignore[attr-defined]
        raise


def _tree(
    craft: Spacecraft,
    own: Mapping[str, Array],
    q: Array,
    grasps: Sequence[AbstractConstraint],
    before: PhaseResult | None,
) -> OneTree | None:
    """The craft with these as one tree: the same as before where they are the same."""
    if not grasps:
        return None
    if before is not None and before.tree is not None and before.attached == tuple(c.title for c in grasps):
        return before.tree
    return OneTree.of(craft, own, q, grasps)


def _made(phase: Phase, given: Mapping[str, Any]) -> dict[str, Any]:
    allowed = {"control", "environment"}
    for name in given:
        if name in ELSEWHERE or (name in OF_THE_PHASE and name not in allowed):
            where = ELSEWHERE.get(name) or OF_THE_PHASE[name]
            raise TypeError(f"phase '{phase.name}': made= gives {name}, which is no option of a phase. {where}")
    known(given, f"phase '{phase.name}'")
    _refuse_burning(phase, given.get("control"))
    return dict(given)


def _refuse_burning(phase: Phase, law: Any) -> None:
    if getattr(law, "propellant", None) is not None:
        raise ValueError(
            f"phase '{phase.name}': its law burns propellant, which phases do not hand on. Use gs.simulate."
        )


def _simulated(request: Request, after: Trajectory | None = None) -> Trajectory:
    prepared = prepare(request, after)
    return prepared.result(prepared.integrate(request.progress))


def _given(
    phase: Phase, held: Sequence[AbstractConstraint], options: Mapping[str, Any], span: tuple[float, float]
) -> dict[str, Any]:
    """Every option of `simulate` for one phase, but those that say where it starts."""
    fields = {name: p.default for name, p in inspect.signature(simulate).parameters.items() if name in OPTIONS}
    given = {**fields, **options, **phase.options}
    for name in ("control", "environment", "stabilisation"):
        own = getattr(phase, name)
        if own is not COMMON:
            given[name] = own
    _refuse_burning(phase, given["control"])
    given["constraints"] = tuple(held) or None
    if given["stabilisation"] is not None and not held:
        given["stabilisation"] = None  # it is that of other phases
    event = phase.event
    if event is not None:
        given["events"] = [*_unlike(given["events"], event, phase), event]
        if given["max_step"] is None and given["step"] is None:
            given["max_step"] = phase.duration / LOOKS  # a step must not pass through what it shall see
    if given["save_at"] is not None:
        times = np.atleast_1d(reals(given["save_at"], "save_at"))
        given["save_at"] = times[(times >= span[0]) & (times <= span[1])]
    return given


def _unlike(events: Any, event: When, phase: Phase) -> list[Any]:
    """The other events, none of which may bear the name of the one that the phase waits for."""
    others = [] if events is None else [events] if callable(events) or isinstance(events, When) else list(events)
    for k, other in enumerate(others):
        if event_name(other, f"event {k}") == event.name:
            raise ValueError(
                f"phase '{phase.name}' waits for an event named '{event.name}', and events= has another of that name. "
                "Give one of them a name of its own: gs.When(function, name)."
            )
    return others


def _ended_by(trajectory: Trajectory, phase: Phase) -> str | None:
    return trajectory.events[-1].name if trajectory.status[0] == "stopped" else None


# ---- a run that goes on


def _recalled(request: Request, after: Trajectory | None, kept: Trajectory) -> Trajectory:
    """What a file keeps of a phase, with the functions that act in it, which it does not hold; an unfinished one goes
    on to its end.
    """
    other = _unlike_kept(request, kept)
    if other:
        raise ValueError(f"resume: the file is not of this run: {other}. Give what it was run with, or run it anew.")
    kept = replace(kept, craft=request.craft)
    if kept.status[0] == "running":
        again: dict[str, Any] = dict.fromkeys(("q0", "v0", "t_span", *OF_THE_RUN))
        return _simulated(replace(request, **again, resume=kept, save_at=kept.time))
    prepared = prepare(request, after)
    return replace(kept, equations=prepared.equations, functions=prepared.functions)


def _continued(result: PhaseResult, phase: Phase, options: Mapping[str, Any], anew: set[str]) -> PhaseResult:
    """The phase in which the run was interrupted, to its end. anew: options that are given for the rest of the run."""
    now = result.trajectory.craft
    span = result.trajectory.data.attrs["t_span"]
    given = _given(phase, result.constraints, options, span)
    given["constraints"] = result.given["constraints"]
    if phase.made is not None:  # as they were made when it began
        before = result.phase.options
        anew = anew | {name for name, x in phase.options.items() if name not in before or before[name] is not x}
        given |= {name: x for name, x in result.given.items() if name not in anew}
    given = {name: None if name in OF_THE_RUN else value for name, value in given.items()}
    given |= {"resume": result.trajectory, "save_at": result.trajectory.time}

    def left(trajectory: Trajectory) -> PhaseResult:
        return replace(result, phase=phase, trajectory=trajectory, ended_by=_ended_by(trajectory, phase))

    with _bearing(left):
        return left(_simulated(Request(craft=now, **given)))


def _unlike_kept(request: Request, kept: Trajectory) -> str:
    """In what a phase is not what it was when it was kept; empty if it is."""
    span, then = tuple(map(float, request.t_span)), kept.data.attrs["t_span"]
    if then != span:
        return f"phase lasts from {span[0]} to {span[1]} s, there it is {then[0]} to {then[1]} s"
    if found := difference(request.craft, kept.craft):
        return found
    own = {name: np.asarray(value, dtype=float) for name, value in (request.parameters or {}).items()}
    for name in dict.fromkeys((*own, *kept.parameters)):
        if name not in own or name not in kept.parameters or not np.array_equal(own[name], kept.parameters[name][0]):
            return (
                f"parameter {name} is {own.get(name, 'left out')}, there it is {kept.parameters.get(name, 'not one')}"
            )
    for name, x, rows in (("q", request.q0, kept.q), ("v", request.v0, kept.v)):
        if len(rows) and kept.time[0] == span[0] and not np.allclose(x, rows[0], rtol=SAME, atol=SAME):
            return f"it starts with {name} = {np.asarray(x)}, there with {rows[0]}"
    now, before = (x.attributes() for x in (request.settings(), Settings().complete(kept.data.attrs)))
    for name, value in now.items():
        if value != before[name]:
            return f"{name} is {value}, there it is {before[name]}"
    return ""


def _refuse_anew(
    resume: PhasedRun,
    phases: Sequence[Phase],
    state: tuple[Any, Any],
    t0: float,
    options: Mapping[str, Any],
) -> None:
    if not isinstance(resume, PhasedRun):
        raise TypeError(f"resume is {resume!r:.80}; expected what simulate_phases returned, or its file (.nc).")
    if t0 != 0.0 or any(x is not None for x in (*state, *(options.get(name) for name in OF_THE_RUN))):
        raise ValueError(
            "resume: q0, v0, t0, parameters, inputs and runs are those of the run that is continued. Leave them out."
        )
    _refuse_others([(result.phase.name, result.phase.duration) for result in resume.phases], phases)


def _refuse_others(before: Sequence[tuple[str, float]], phases: Sequence[Phase]) -> None:
    now = [(phase.name, phase.duration) for phase in phases]
    if now[: len(before)] != list(before):
        raise ValueError(
            f"resume: the run had the phases {', '.join(repr(n) for n, _ in before)}; expected the same again, of the "
            "same durations."
        )


# ---- what was asked for


def _one_run(craft: Spacecraft, q0: Any, v0: Any, options: Mapping[str, Any]) -> None:
    axes = {name: np.ndim(x) - np.ndim(craft.value(name)) for name, x in (options.get("parameters") or {}).items()}
    axes |= {name: np.ndim(x) - 1 for name, x in (("q0", q0), ("v0", v0)) if x is not None}
    axes |= {"runs": np.ndim(options.get("runs", 0))}
    for name, extra in axes.items():
        if extra > 0:
            raise ValueError(
                f"simulate_phases makes one run at a time, since phases may end at different times; '{name}' is given "
                "for several. Call it once for each."
            )


def _any_constraint(phases: Sequence[Phase], options: Mapping[str, Any]) -> bool:
    return bool(options.get("constraints")) or any(phase.constraints or phase.grasp for phase in phases)


def _names(locked: Any) -> list[str]:
    return [locked] if isinstance(locked, str) else list(locked or ())


def _begin(always: Sequence[AbstractConstraint], before: PhaseResult | None) -> bool:
    """True if some constraint did not hold in the phase before. Those of the first phase must hold when it starts."""
    return before is not None and any(all(c is not b for b in before.constraints) for c in always)


def _outer_impulse(
    craft: Spacecraft, q: Array, v: Array, hit: Sequence[AbstractConstraint], jump: Capture, rigid: Sequence[str]
) -> Array | None:
    """What constraints onto the inertial frame and the supports of bases change of the momentum
    [angular about the centre of mass; linear], (6,); None without.
    """
    supports = support_impulses(craft, q, v, hit, jump, locked=rigid)
    if supports is None and not any(grounded(craft, c) for c in hit):
        return None
    total, c_N = np.zeros(6) if supports is None else supports, center_of_mass(craft, q)
    for c, wrench in zip(hit, jump.on_second, strict=True):
        p = np.zeros(3) if c.second == "N" else frame_pose(craft, q, c.second).p
        sign = float(not is_still(craft, c.second)) - float(not is_still(craft, c.first))
        total += sign * np.concatenate([wrench[:3] + cross(p - c_N, wrench[3:]), wrench[3:]])
    return total
