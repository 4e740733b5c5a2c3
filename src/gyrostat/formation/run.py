"""`gs.simulate` of a formation: groups that see nobody fly as batches, groups that see each other on one clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra import Array
from ..environment import Environment
from ..simulation.dispatch import of_kind
from ..simulation.prepare import Prepared, prepare
from ..simulation.problem.request import FUNCTIONS, MAX_STEPS, Request, environment_of
from ..simulation.problem.unfelt import asked_by_name
from ..simulation.result import signals
from ..simulation.result.assembly import with_trajectory
from ..simulation.result.trajectory import Trajectory
from .coupling import Coupling, View, opened, views
from .joint import Flown, Joint
from .members import Formation, Group, State
from .options import by_group, check_options, own_options
from .trajectory import FormationTrajectory


def simulate(
    formation: Formation,
    state: State | None = None,
    t_span: Any = None,
    *,
    control: Mapping[str, Any] | Callable[..., Any] | Coupling | None = None,
    environment: Mapping[str, Any] | Callable[..., Any] | Environment | Coupling | None = None,
    events: Any = None,
    inputs: Mapping[str, Mapping[str, Any]] | None = None,
    save_at: Any = None,
    resume: FormationTrajectory | None = None,
    progress: bool | None = None,
    max_steps: int = MAX_STEPS,
    **settings: Any,
) -> FormationTrajectory:
    """How the formation moves from `state` {group: (q, v)} over `t_span`.

    control: {group: a law (craft, t, q, v) -> tau, a Controller, or a Coupling that sees other members}, or one law for
        all. environment: one for all, or {group: environment}; events: the same. Either may be a Coupling, too.
    inputs: {group: {"gain": (members, ...)}}.
    settings: as for one spacecraft; those of a craft (mode, formulation, constraints, stabilisation, prescribed,
        locked, actuators, stops, conserve) for all groups, or {group: value}.
    resume: a run to continue, interrupted or to a later end of t_span, with its settings and functions unless others
        are given; bit for bit as if it had never stopped.

    Members that see nobody choose their own steps, those that see each other share theirs; all are saved at the same
    times. A terminal event stops all who share the clock of the member that it happens to.
    """
    options = {name: value for name, value in locals().items() if name not in ("formation", "settings", "progress")}
    return fly(asked_of(formation, **options, **settings), progress)


of_kind.register(Formation, simulate)


def asked_of(formation: Formation, state: Any, t_span: Any, **options: Any) -> Asked:
    """The arguments of `simulate`, but for progress; read and checked."""
    if not isinstance(formation, Formation):
        raise TypeError(f"expected a Formation, got {formation!r}.")
    common = {"t_span": t_span, "save_at": options.pop("save_at"), "max_steps": options.pop("max_steps", MAX_STEPS)}
    given = {name: options.pop(name, None) for name in FUNCTIONS}
    inputs, resume = (options.pop(name, None) for name in ("inputs", "resume"))
    check_options(options)
    if resume is not None:
        _check_resume(formation, resume, state, inputs)
        given = {name: resume.functions.get(name) if value is None else value for name, value in given.items()}
    else:
        state = checked_state(formation, formation.neutral() if state is None else state)
    return Asked(formation, state, given, inputs or {}, common, options, resume)


@dataclass(frozen=True, eq=False)
class Asked:
    """The arguments of `simulate`. functions: as they were given; common: what is the same for all groups.
    after: the flight before in time, from whose end this one starts.
    """

    formation: Formation
    state: State | None
    functions: Mapping[str, Any]
    inputs: Mapping[str, Mapping[str, Any]]
    common: Mapping[str, Any]
    settings: Mapping[str, Any]
    resume: FormationTrajectory | None = None
    after: FormationTrajectory | None = None


def fly(asked: Asked, progress: bool | None) -> FormationTrajectory:
    """What was asked for: all of it prepared, then flown cluster by cluster."""
    formation = asked.formation
    opened_, seen = _functions(asked)
    _check_start(asked, opened_)
    parts = {g: _prepared(asked, g, opened_[g], seen[g]) for g in formation.groups}
    flown: dict[str, Flown] = {}
    stopped = False
    for cluster in clusters(formation, seen):
        found = _fly_cluster(formation, cluster, parts, seen, progress, stopped)
        flown |= dict(zip(cluster, found, strict=True))
        stopped = stopped or any(f.outcome.interrupted for f in found)
    error = next((f.outcome.error for f in flown.values() if f.outcome.error is not None), None)
    left = {g: _trajectory(flown[g]) for g in formation.groups}
    for g in formation.groups:
        if seen[g]:
            _keep_loads(left, g, flown[g].prepared, seen[g])
    named = {g: _named(left[g], formation.groups[g]) for g in formation.groups}
    run = FormationTrajectory(formation, named, functions=asked.functions)
    if error is not None:
        raise with_trajectory(error, run)
    return run


def _fly_cluster(
    formation: Formation,
    cluster: list[str],
    parts: Mapping[str, Prepared],
    seen: Mapping[str, list[View]],
    progress: bool | None,
    stopped: bool,
) -> list[Flown]:
    """Groups that share a clock, or one whose members see nobody: a batch of runs. stopped: no step is made."""
    own = [parts[g] for g in cluster]
    if not any(seen[g] for g in cluster):
        part = replace(own[0], plan=replace(own[0].plan, most_steps=0)) if stopped else own[0]
        flown = [Flown(part, part.integrate(progress), None)]
    else:
        names = tuple(formation.groups[g].names for g in cluster)
        sees = tuple(tuple((view, cluster.index(view.group)) for view in seen[g]) for g in cluster)
        flown = Joint(tuple(own), names, sees).fly(progress, 0 if stopped else None)
    for f in flown:
        f.outcome.interrupted |= stopped
    return flown


def _trajectory(flown: Flown) -> Trajectory:
    """An exception of a user's function is raised when all groups have theirs."""
    return flown.prepared.result(replace(flown.outcome, error=None), flown.share)


def _prepared(asked: Asked, g: str, functions: Mapping[str, Any], seen: list[View]) -> Prepared:
    group, own = asked.formation.groups[g], own_options(asked.formation, asked.settings, g)
    request: dict[str, Any] = {"craft": group.craft, **functions, **asked.common, **own}
    if asked.resume is None:
        assert asked.state is not None
        shown = {**asked.inputs.get(g, {}), **_seen_inputs(asked, functions, g, seen)}
        q, v = asked.state[g]
        start = {"q0": q, "v0": v, "parameters": group.parameters or None, "inputs": shown or None}
        request |= start | {"runs": numbers(asked.formation, g)}
    else:
        request["resume"] = asked.resume.groups[g]
    try:
        return prepare(Request(**request), None if asked.after is None else asked.after.groups[g])
    except (ValueError, TypeError) as error:
        if len(asked.formation.groups) > 1:
            error.args = (f"group '{g}': {error}",)
        raise


def _functions(asked: Asked) -> tuple[dict[str, dict[str, Any]], dict[str, list[View]]]:
    """The functions of each group without couplings, and what its members see."""
    formation = asked.formation
    found: dict[str, dict[str, Any]] = {g: {} for g in formation.groups}
    seen: dict[str, list[View]] = {g: [] for g in formation.groups}
    for name in FUNCTIONS:
        for g, function in by_group(formation, asked.functions.get(name), name).items():
            found[g][name], couplings = opened(function)
            for coupling in couplings:
                seen[g] += views(formation, g, coupling, name, seen[g])
    for g, looks in seen.items():
        names = asked_by_name(found[g])
        for view in looks:
            if not names & set(view.inputs):
                raise ValueError(
                    f"group '{g}' sees '{view.name}', but none of its functions asks for {' or '.join(view.inputs)} by "
                    f"argument name."
                )
            before = None if asked.resume is None else asked.resume.groups[g].data.attrs["inputs"]
            if before is not None and not names & set(view.inputs) <= set(before):
                raise ValueError(
                    f"resume: members of group '{g}' did not see '{view.name}' in the run that is continued: they had "
                    f"clocks of their own. Start anew from run.final, or give the functions that it was run with."
                )
            if asked.settings.get("conserve") is not None and f"v_{view.name}" in names:
                raise ValueError(
                    f"conserve= leaves the velocity of a base out of the state, and members of group '{g}' see it as "
                    f"v_{view.name}. Leave conserve out, and use a tighter rtol."
                )
    return found, seen


def _seen_inputs(asked: Asked, functions: Mapping[str, Any], g: str, seen: list[View]) -> dict[str, Array]:
    """What members see at the start, as far as their functions ask for it."""
    assert asked.state is not None
    shown, names = {}, asked_by_name(functions)
    for view in seen:
        for letter, rows in zip("qv", asked.state[view.group], strict=True):
            shown[f"{letter}_{view.name}"] = rows[view.rows]
        if view.weight is not None:
            shown[f"weight_{view.name}"] = view.weight
    for name in asked.inputs.get(g, {}):
        if name in shown:
            raise ValueError(f"inputs['{g}']['{name}']: members see others under that name. Choose another one.")
    return {name: x for name, x in shown.items() if name in names}


def _keep_loads(found: dict[str, Trajectory], g: str, prepared: Prepared, seen: list[View]) -> None:
    """Loads at the saved states, with what each member saw then: they cannot be computed from the group alone."""
    trajectory, equations = found[g], prepared.equations
    at = equations.layout

    def fill(x: Array) -> None:
        for view in seen:
            for letter in ("q", "v"):
                if f"{letter}_{view.name}" in equations.inputs:
                    rows = found[view.group].data[letter].values[view.rows]  # (members, [k,] times, n)
                    rows = np.moveaxis(rows, -2, 1)
                    x[..., at[f"input {letter}_{view.name}"]] = rows.reshape(*rows.shape[:2], -1)

    x = signals.arguments(trajectory, equations, fill)
    data = trajectory.data.assign(signals.signals_at(equations, x, trajectory.data["v"].dims))
    found[g] = replace(trajectory, data=data)


# ---- what was asked for


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


def _check_resume(formation: Formation, resume: Any, state: Any, inputs: Any) -> None:
    if not isinstance(resume, FormationTrajectory):
        raise TypeError(f"resume is {resume!r:.80}; expected the FormationTrajectory of a run.")
    if state is not None or inputs is not None:
        raise ValueError("resume: state and inputs are those of the run that is continued. Leave them out.")
    if resume.legs:
        raise ValueError("resume: a flight with impulses is not continued; start anew from run.final, at its end.")
    there, here = ({g: group.names for g, group in f.groups.items()} for f in (resume.formation, formation))
    if there != here:
        raise ValueError(f"resume: the run belongs to {resume.formation!r} with other groups or members.")
    for g, group in formation.groups.items():
        for name, value in group.parameters.items():
            if not np.array_equal(resume.formation.groups[g].parameters.get(name, np.nan), value):
                raise ValueError(f"resume: '{name}' of group '{g}' is not as it was in the run that is continued.")


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


def _check_start(asked: Asked, functions: Mapping[str, Mapping[str, Any]]) -> None:
    t_span = asked.common["t_span"]
    if asked.state is None or t_span is None:
        return
    for g, own in functions.items():
        environment = environment_of(own["environment"])
        if environment is not None and environment.check is not None:
            for k, name in enumerate(asked.formation.groups[g].names):
                try:
                    environment.check(asked.formation.groups[g].craft_of(k), float(t_span[0]), asked.state[g][0][k])
                except ValueError as error:
                    raise ValueError(f"member '{name}': {error}") from None


def _named(trajectory: Trajectory, group: Group) -> Trajectory:
    return replace(trajectory, data=trajectory.data.assign_coords(member_name=("run", list(group.names))))
