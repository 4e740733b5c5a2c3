"""`gs.simulate` of a formation: groups that see nobody fly as batches, groups that see each other on one clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array
from ..environment import Environment
from ..simulation.dispatch import of_kind
from ..simulation.engine.compiling import compile_system, settled
from ..simulation.engine.progress import progress_bar
from ..simulation.prepare import plan_of
from ..simulation.problem.equations import Equations
from ..simulation.problem.request import (
    FUNCTIONS,
    MAX_STEPS,
    controller_of,
    dynamics_of,
    environment_of,
    prescribed_motions,
)
from ..simulation.problem.runs import Runs, arguments, begin, start
from ..simulation.problem.settings import Settings
from ..simulation.problem.times import times_of
from ..simulation.result.assembly import trajectory_of
from ..simulation.result.trajectory import Trajectory
from ..simulation.simulate_craft import simulate as simulate_craft
from .coupling import Coupling, View, views
from .members import Formation, Group, State
from .options import check_options, together_settings
from .shared_clock import Part, integrate_together
from .trajectory import FormationTrajectory


def simulate(
    formation: Formation,
    state: State | None = None,
    t_span: Any = None,
    *,
    control: Mapping[str, Any] | Callable[..., Any] | None = None,
    environment: Mapping[str, Any] | Callable[..., Any] | Environment | None = None,
    inputs: Mapping[str, Mapping[str, Any]] | None = None,
    save_at: Any = None,
    progress: bool | None = None,
    max_steps: int = MAX_STEPS,
    **settings: Any,
) -> FormationTrajectory:
    """How the formation moves from `state` {group: (q, v)} over `t_span`.

    control: {group: a law (craft, t, q, v) -> tau, a Controller, or a Coupling that sees other members}, or one law for all.
    environment: one for all, or {group: environment}. inputs: {group: {"gain": (members, ...)}}.
    settings: as for one spacecraft (rtol, atol, integrator, step, max_step, breakpoints, actuators, stops, seed, locked, formulation);
        for members that see nobody also events, prescribed, constraints, conserve and mode.

    Members that see nobody choose their own steps, those that see each other share theirs; all are saved at the same times.
    """
    if not isinstance(formation, Formation):
        raise TypeError(f"expected a Formation, got {formation!r}.")
    check_options(settings)
    state = checked_state(formation, formation.neutral() if state is None else state)
    laws = by_group(formation, control, "control")
    outer = {g: environment_of(e) for g, e in by_group(formation, environment, "environment").items()}
    seen = {g: views(formation, g, law) if isinstance(law, Coupling) else [] for g, law in laws.items()}
    _check_start(formation, state, outer, t_span)
    asked = _Asked(formation, state, t_span, laws, outer, seen, inputs or {}, save_at, progress, max_steps, settings)
    found: dict[str, Trajectory] = {}
    for cluster in clusters(formation, seen):
        alone = len(cluster) == 1 and not seen[cluster[0]]
        found |= {cluster[0]: _alone(asked, cluster[0])} if alone else _together(asked, cluster)
    return FormationTrajectory(formation, {g: _named(found[g], formation.groups[g]) for g in formation.groups})


of_kind.register(Formation, simulate)


class _Asked(NamedTuple):
    """The arguments of `simulate`, by group where they differ."""

    formation: Formation
    state: State
    t_span: Any
    laws: Mapping[str, Any]
    outer: Mapping[str, Environment | None]
    seen: Mapping[str, list[View]]
    inputs: Mapping[str, Mapping[str, Any]]
    save_at: Any
    progress: bool | None
    max_steps: int
    settings: Mapping[str, Any]


def _alone(asked: _Asked, g: str) -> Trajectory:
    """A group whose members see nobody: a batch of runs."""
    group, (q, v) = asked.formation.groups[g], asked.state[g]
    return simulate_craft(
        group.craft,
        q,
        v,
        asked.t_span,
        control=asked.laws[g],
        environment=asked.outer[g],
        parameters=group.parameters,
        inputs=asked.inputs.get(g),
        save_at=asked.save_at,
        runs=numbers(asked.formation, g),
        progress=asked.progress,
        max_steps=asked.max_steps,
        **asked.settings,
    )


def _together(asked: _Asked, cluster: list[str]) -> dict[str, Trajectory]:
    """Groups that see each other: one clock."""
    settings = together_settings(asked.settings)
    times = replace(times_of(asked.t_span, asked.save_at, settings.step), epoch=0.0)  # the clock shows the users' time
    span = times.span
    batches = {g: _batch(asked, g) for g in cluster}
    equations = {g: _equations(asked, g, batches[g], settings, float(span[0])) for g in cluster}
    plans = {g: plan_of(equations[g], settings, times, None, asked.max_steps) for g in cluster}
    parts = []
    for g in cluster:
        begun = start(equations[g], batches[g], float(span[0]), settings.step)
        x = arguments(equations[g], batches[g], begun)
        sees = [(view, cluster.index(view.group)) for view in asked.seen[g]]
        parts.append(Part(compile_system(equations[g], (), x[0]), equations[g].layout, plans[g], begun, x, sees))
    h_max = settings.max_step or float("inf")
    with progress_bar(asked.progress, "formation: simulating") as tell:
        outcomes = integrate_together(parts, str(settings.integrator), settings.step, h_max, tell)
    functions: dict[str, Any] = dict.fromkeys(FUNCTIONS)
    found = {
        g: trajectory_of(equations[g], outcome, plans[g], batches[g], settings, functions, times, None)
        for g, outcome in zip(cluster, outcomes, strict=True)
    }
    for g in cluster:
        if asked.seen[g]:
            _keep_loads(found, g, equations[g], asked.seen[g])
    return found


def _batch(asked: _Asked, g: str) -> Runs:
    group, (q, v) = asked.formation.groups[g], asked.state[g]
    shown = dict(asked.inputs.get(g, {})) | _seen_inputs(asked.state, asked.seen[g])
    return begin(group.craft, q, v, group.parameters, shown, numbers(asked.formation, g), False)


def _equations(asked: _Asked, g: str, batch: Runs, settings: Settings, t0: float) -> Equations:
    craft, law = asked.formation.groups[g].craft, asked.laws[g]
    equations = Equations(
        craft,
        controller_of(law.law if isinstance(law, Coupling) else law),
        asked.outer[g],
        dynamics_of(craft, str(settings.formulation)),
        t0,
        prescribed_motions(craft, None, settings.locked or (), batch.v),
        settings.actuators,
        settings.stops,
        seed=int(settings.seed or 0),
        inputs=batch.inputs,
        parameters=batch.parameter_shapes,
    )
    return settled(equations, lambda e: arguments(e, batch, start(e, batch, t0, None))[0])


def _seen_inputs(state: State, seen: list[View]) -> dict[str, Array]:
    shown = {}
    for view in seen:
        for letter, rows in zip("qv", state[view.group], strict=True):
            shown[f"{letter}_{view.name}"] = rows[view.rows]
        if view.weight is not None:
            shown[f"weight_{view.name}"] = view.weight
    return shown


def _keep_loads(found: dict[str, Trajectory], g: str, equations: Equations, seen: list[View]) -> None:
    """Loads at the saved states, with what each member saw then: they cannot be computed from the group alone."""
    from ..simulation.result import signals

    trajectory, at = found[g], equations.layout
    x = signals.arguments(trajectory, equations)
    for view in seen:
        for letter in ("q", "v"):
            rows = found[view.group].data[letter].values[view.rows]  # (members, [k,] times, n)
            rows = np.moveaxis(rows, -2, 1)
            x[..., at[f"input {letter}_{view.name}"]] = rows.reshape(*rows.shape[:2], -1)

    data = trajectory.data.assign(signals.signals_at(equations, x, trajectory.data["v"].dims))
    found[g] = replace(trajectory, data=data)


# ---- what was asked for


def by_group(formation: Formation, given: Any, what: str) -> dict[str, Any]:
    """One for each group, from one for all or from a mapping."""
    if isinstance(given, Mapping):
        for name in given:
            if name not in formation.groups:
                raise ValueError(
                    f"{what}: the formation has no group '{name}'; its groups are {', '.join(formation.groups)}."
                )
        return {g: given.get(g) for g in formation.groups}
    return dict.fromkeys(formation.groups, given)


def checked_state(formation: Formation, state: Any) -> State:
    """{group: (q (members, nq), v (members, nv))}, or an error."""
    found = {}
    for g, group in formation.groups.items():
        if g not in state:
            raise ValueError(
                f"the state has no group '{g}'; expected {{group: (q, v)}} for {', '.join(formation.groups)}."
            )
        q, v = (np.asarray(x, dtype=float) for x in state[g])
        for name, x, size in (("q", q, group.craft.nq), ("v", v, group.craft.nv)):
            if x.shape != (len(group), size):
                raise ValueError(
                    f"{name} of group '{g}' has shape {x.shape}; expected ({len(group)}, {size}): one row per member."
                )
        found[g] = (q, v)
    return found


def numbers(formation: Formation, g: str) -> Array:
    """The members' numbers in the whole formation: noise is a function of them."""
    before = 0
    for name, group in formation.groups.items():
        if name == g:
            return before + np.arange(len(group), dtype=float)
        before += len(group)
    raise ValueError(f"the formation has no group '{g}'.")


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


def _check_start(formation: Formation, state: State, outer: Mapping[str, Any], t_span: Any) -> None:
    for g, environment in outer.items():
        if environment is not None and environment.check is not None and t_span is not None:
            for k, name in enumerate(formation.groups[g].names):
                try:
                    environment.check(formation.groups[g].craft_of(k), float(t_span[0]), state[g][0][k])
                except ValueError as error:
                    raise ValueError(f"member '{name}': {error}") from None


def _named(trajectory: Trajectory, group: Group) -> Trajectory:
    return replace(trajectory, data=trajectory.data.assign_coords(member_name=("run", list(group.names))))
