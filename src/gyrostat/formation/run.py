"""`gs.simulate` of a formation: groups that see nobody fly as batches, groups that see each other on one clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..algebra import Array
from ..environment import Environment
from ..simulation.dispatch import of_kind
from ..simulation.prepare import Prepared, prepare
from ..simulation.problem.request import MAX_STEPS, Request
from ..simulation.result import signals
from ..simulation.result.assembly import with_trajectory
from ..simulation.result.trajectory import Trajectory
from .batch import FormationBatch
from .coupling import Coupling, View
from .members import Formation, State
from .one_clock import Flown, OneClock
from .options import own_options
from .request import Asked, asked_of
from .trajectory import FormationTrajectory


def simulate(
    formation: Formation,
    state: State | None = None,
    t_span: Any = None,
    *,
    control: Mapping[str, Any] | Callable[..., Any] | Coupling | None = None,
    environment: Mapping[str, Any] | Callable[..., Any] | Environment | Coupling | None = None,
    events: Any = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    inputs: Mapping[str, Mapping[str, Any]] | None = None,
    runs: Any = None,
    save_at: Any = None,
    resume: FormationTrajectory | FormationBatch | None = None,
    progress: bool | None = None,
    max_steps: int = MAX_STEPS,
    **settings: Any,
) -> Any:
    """How the formation moves from `state` {group: (q, v)} over `t_span`: a `FormationTrajectory`.

    q (members, nq), v (members, nv); with an axis of runs in front the result is a `FormationBatch`, whose rows are
        what each run is alone.
    control: {group: a law (craft, t, q, v) -> tau, a Controller, or a Coupling that sees other members}, or one law for
        all. environment: one for all, or {group: environment}; events: the same. Either may be a Coupling, too.
    parameters: {group: {"hull.mass": ([runs,] members)}}: values other than those of the groups.
    inputs: {group: {"gain": (members, ...)}}, in a batch (runs, members, ...); 1 on an axis that shares it.
    runs: the runs' numbers. A member's number, by which noise is drawn, is run * len(formation) + its place.
    settings: as for one spacecraft; those of a craft (mode, formulation, constraints, stabilisation, prescribed,
        locked, actuators, stops, conserve) for all groups, or {group: value}.
    resume: a run to continue, interrupted or to a later end of t_span, with its settings and functions unless others
        are given; bit for bit as if it had never stopped.

    Members that see nobody choose their own steps, those that see each other share theirs; all are saved at the same
    times. A terminal event stops all who share the clock of the member that it happens to.
    """
    options = {name: value for name, value in locals().items() if name not in ("formation", "settings", "progress")}
    asked = asked_of(formation, **options, **settings)
    batch = fly(asked, progress)
    return batch if asked.batched else batch[0]


of_kind.register(Formation, simulate)


def fly(asked: Asked, progress: bool | None) -> FormationBatch:
    """What was asked for: all of it prepared, then flown cluster by cluster."""
    formation = asked.formation
    parts = {g: _prepared(asked, g) for g in formation.groups}
    flown: dict[str, Flown] = {}
    stopped = False
    for cluster in clusters(formation, asked.seen):
        found = _fly_cluster(asked, cluster, parts, progress, stopped)
        flown |= dict(zip(cluster, found, strict=True))
        stopped = stopped or any(f.outcome.interrupted for f in found)
    error = next((f.outcome.error for f in flown.values() if f.outcome.error is not None), None)
    left = {g: _trajectory(flown[g]) for g in formation.groups}
    for g in formation.groups:
        if asked.seen[g]:
            _keep_loads(asked, left, g, flown[g].prepared)
    named = {g: _named(asked, left[g], g) for g in formation.groups}
    batch = FormationBatch(formation, named, asked.runs, asked.parameters, asked.functions)
    if error is not None:
        raise with_trajectory(error, batch if asked.batched else batch[0])
    return batch


def _prepared(asked: Asked, g: str) -> Prepared:
    group, own = asked.formation.groups[g], own_options(asked.formation, asked.settings, g)
    request = {"craft": group.craft, **asked.opened[g], **asked.common, **own}
    request |= {"resume": asked.resume[g]} if asked.resume is not None else asked.start(g)
    after = None if asked.after is None else asked.after[g]
    try:
        return prepare(Request(**request), after, None if after is None else after.data.attrs["t0"])
    except (ValueError, TypeError) as error:
        if len(asked.formation.groups) > 1:
            error.args = (f"group '{g}': {error}",)
        raise


def _fly_cluster(
    asked: Asked, cluster: list[str], parts: Mapping[str, Prepared], progress: bool | None, stopped: bool
) -> list[Flown]:
    """Groups that share a clock, or one whose members see nobody: a batch of runs. stopped: no step is made."""
    own = [parts[g] for g in cluster]
    if not any(asked.seen[g] for g in cluster):
        part = replace(own[0], plan=replace(own[0].plan, most_steps=0)) if stopped else own[0]
        flown = [Flown(part, part.integrate(progress), None)]
    else:
        names = tuple(asked.formation.groups[g].names for g in cluster)
        sees = tuple(tuple((view, cluster.index(view.group)) for view in asked.seen[g]) for g in cluster)
        flown = OneClock(tuple(own), names, sees).fly(progress, 0 if stopped else None)
    for f in flown:
        f.outcome.interrupted |= stopped
    return flown


def _trajectory(flown: Flown) -> Trajectory:
    """An exception of a user's function is raised when all groups have theirs."""
    return flown.prepared.result(replace(flown.outcome, error=None), flown.share)


def _keep_loads(asked: Asked, found: dict[str, Trajectory], g: str, prepared: Prepared) -> None:
    """Loads at the saved states, with what each member saw then: they cannot be computed from the group alone."""
    trajectory, equations, runs = found[g], prepared.equations, len(asked.runs)
    at = equations.layout

    def fill(x: Array) -> None:
        for view in asked.seen[g]:
            for letter in ("q", "v"):
                if f"{letter}_{view.name}" in equations.inputs:
                    there = found[view.group].data[letter].values
                    rows = there.reshape(runs, -1, *there.shape[1:])[:, view.rows]  # (runs, members, [k,] times, n)
                    rows = np.moveaxis(rows, -2, 2)
                    x[..., at[f"input {letter}_{view.name}"]] = rows.reshape(*x.shape[:2], -1)

    x = signals.arguments(trajectory, equations, fill)
    data = trajectory.data.assign(signals.signals_at(equations, x, trajectory.data["v"].dims))
    found[g] = replace(trajectory, data=data)


def clusters(formation: Formation, seen: Mapping[str, list[View]]) -> list[list[str]]:
    """Groups that must share a clock, because one sees the other."""
    home = {g: g for g in formation.groups}

    def root(g: str) -> str:
        return g if home[g] == g else root(home[g])

    for g, looks in seen.items():
        for view in looks:
            home[root(view.group)] = root(g)
    found: dict[str, list[str]] = {}
    for g in formation.groups:
        found.setdefault(root(g), []).append(g)
    return list(found.values())


def _named(asked: Asked, trajectory: Trajectory, g: str) -> Trajectory:
    names = list(asked.formation.groups[g].names) * len(asked.runs)
    return replace(trajectory, data=trajectory.data.assign_coords(member_name=("run", names)))
