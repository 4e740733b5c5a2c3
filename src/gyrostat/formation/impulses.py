"""Impulsive manoeuvres: velocities that jump at instants, and the flight between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..algebra import Array
from ..algebra.reals import reals
from ..control.transfers import Impulse
from ..environment.hill import hill_frame
from ..simulation.engine.interruption import one_after_the_other
from ..simulation.problem.balance import held_by
from ..simulation.result.audited import INSIDE
from ..simulation.result.trajectory import Trajectory
from .budget import MemberImpulse
from .members import Formation, State
from .request import asked_of
from .run import fly
from .trajectory import FormationTrajectory, rotations


@one_after_the_other()
def simulate_impulses(
    formation: Formation,
    state: State,
    t_span: Any,
    impulses: Mapping[str, Sequence[Impulse]],
    *,
    save_at: Any = None,
    **options: Any,
) -> FormationTrajectory:
    """As `simulate`, with impulses {member: [Impulse(time, dv_H), ...]} that change the velocity of a member's base and
    all it carries.

    At the instant of an impulse, the state after it is kept; several at one instant act one after the other. The memory
    and the samples of control laws go on across them. The audit counts the impulses' momentum and work. Where a run is
    interrupted, stopped by an event or fails, the flight ends.

    Raises ValueError for a batch, and for resume=.
    """
    progress = options.pop("progress", None)
    asked = asked_of(formation, state, t_span, save_at=None, **options)
    if asked.resume is not None:
        raise ValueError("resume: a flight with impulses starts from a state. Give that of the run: run.final.")
    if asked.batched:
        raise ValueError(
            "simulate_impulses flies one run, not a batch: impulses are those of one. Fly them one by one."
        )
    orbit = formation.needs_orbit("simulate_impulses")
    begin, end = (float(t) for t in t_span)
    times = np.linspace(begin, end, 401) if save_at is None else reals(save_at, "save_at")
    plan = _plan(formation, impulses, begin, end)
    instants = sorted({t for t, _, _ in plan})
    state = {g: (q[0].copy(), v[0].copy()) for g, (q, v) in (asked.state or {}).items()}
    added = {g: (np.zeros((len(group), 6)), np.zeros(len(group))) for g, group in formation.groups.items()}
    legs: list[FormationTrajectory] = []
    pieces: list[FormationTrajectory] = []
    here = begin
    for until in [*instants, end]:
        if until > here:
            wanted = times[(times >= here) & ((times <= until) if until == end else (times < until))]
            span = {"t_span": (here, until), "save_at": np.unique([here, *wanted, until])}
            now = {g: (q[None].copy(), v[None].copy()) for g, (q, v) in state.items()}
            before = legs[-1].groups if legs else None
            piece = fly(replace(asked, state=now, common={**asked.common, **span}, after=before), progress)[0]
            state = {g: (q.copy(), v.copy()) for g, (q, v) in piece.final.items()}
            legs.append(piece)
            pieces.append(_counted(piece, added, wanted))
            added = _carried(piece, added)
            if any(status != "done" for trajectory in piece.groups.values() for status in trajectory.status):
                break
        for t, member, dv in plan:
            if t == until:
                _kick(formation, state, added, member, hill_frame(*orbit.state(t)).R_NH @ dv)
        here = until
    flown = tuple(MemberImpulse(member, t, dv) for t, member, dv in plan if t <= here)
    return replace(_joined(formation, pieces, tuple(legs), times, (begin, end)), impulses=flown)


def _plan(
    formation: Formation, impulses: Mapping[str, Sequence[Impulse]], begin: float, end: float
) -> list[tuple[float, str, Array]]:
    """In the order of their times."""
    plan = []
    for member, row in impulses.items():
        formation.place(member)
        for t, dv in row:
            change = reals(dv, f"impulse of '{member}' at {t} s")
            if change.shape != (3,) or not np.isfinite(change).all():
                raise ValueError(
                    f"impulse of '{member}' at {t} s is {dv}; expected three finite numbers, m/s in the Hill frame."
                )
            if not begin <= t < end:
                where = "at the very end of" if t == end else "outside"
                hint = " Let it end later: nothing flies after the impulse." if t == end else ""
                raise ValueError(f"impulse of '{member}' at {t} s lies {where} t_span ({begin}, {end}).{hint}")
            plan.append((float(t), member, change))
    return sorted(plan, key=lambda entry: entry[0])


def _kick(formation: Formation, state: State, added: dict[str, tuple[Array, Array]], member: str, dv_N: Array) -> None:
    """The whole member's velocity changes; momentum and energy that this brings are noted."""
    group, k = formation.place(member)
    craft, (q, v) = formation.craft(member), state[group]
    before = held_by(craft, q[k], v[k])
    v[k, 3:6] += rotations(q[k, :4]).T @ dv_N
    after, (impulse, work) = held_by(craft, q[k], v[k]), added[group]
    impulse[k] += after.momentum - before.momentum
    work[k] += after.kinetic.sum() - before.kinetic.sum()


def _counted(piece: FormationTrajectory, added: dict[str, tuple[Array, Array]], wanted: Array) -> FormationTrajectory:
    """The piece at the times wanted, its impulse and work counted from the very start."""
    groups = {}
    for g, trajectory in piece.groups.items():
        impulse, work = added[g]
        data = trajectory.data.assign(
            impulse=trajectory.data["impulse"] + impulse[:, None, :], work=trajectory.data["work"] + work[:, None]
        )
        groups[g] = replace(trajectory, data=data.sel(time=wanted))
    return FormationTrajectory(piece.formation, groups)


def _carried(piece: FormationTrajectory, added: dict[str, tuple[Array, Array]]) -> dict[str, tuple[Array, Array]]:
    ends = {g: (t.data["impulse"].values[:, -1], t.data["work"].values[:, -1]) for g, t in piece.groups.items()}
    return {g: (added[g][0] + ends[g][0], added[g][1] + ends[g][1]) for g in added}


def _joined(
    formation: Formation,
    pieces: list[FormationTrajectory],
    legs: tuple[FormationTrajectory, ...],
    times: Array,
    t_span: tuple[float, float],
) -> FormationTrajectory:
    import xarray

    groups: dict[str, Trajectory] = {}
    for g in formation.groups:
        rows = [piece.groups[g] for piece in pieces]
        how: Any = {"data_vars": "minimal", "coords": "minimal", "compat": "override", "join": "override"}
        data = xarray.concat([row.data for row in rows], dim="time", **how).reindex(time=times)
        data = data.drop_vars(INSIDE, errors="ignore")  # those of one piece: what was saved is audited
        data.attrs = rows[-1].data.attrs | {"t_span": t_span}
        happened = tuple(event for row in rows for event in row.events)
        groups[g] = replace(rows[-1], data=data, events=happened)
    return FormationTrajectory(formation, groups, legs)
