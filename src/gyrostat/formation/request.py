"""What a caller of `simulate` asked of a formation, read and checked: for how many runs, from where, with which
functions, and who sees whom.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..algebra import Array
from ..algebra.reals import reals
from ..model import nearest
from ..simulation.problem.idle_options import asked_by_name
from ..simulation.problem.request import FUNCTIONS, MAX_STEPS, environment_of
from ..simulation.result.trajectory import Trajectory
from .batch import FormationBatch
from .coupling import View, opened, views
from .members import Formation, State
from .options import by_group, check_options
from .trajectory import FormationTrajectory

Values = Mapping[str, Mapping[str, Array]]  # by group and name, (runs, members, ...)


@dataclass(frozen=True, eq=False)
class Asked:
    """The arguments of `simulate`. functions: as they were given; common: what is the same for all groups.

    runs: their numbers; batched: whether their axis was given. state: {group: (q (runs, members, nq), v)}.
    opened: the functions of each group without couplings; seen: what its members see.
    resume, after: the run that is continued, or the one before in time from whose end this one starts, by group.
    """

    formation: Formation
    runs: Array
    batched: bool
    state: State | None
    inputs: Values
    parameters: Values
    functions: Mapping[str, Any]
    common: Mapping[str, Any]
    settings: Mapping[str, Any]
    resume: Mapping[str, Trajectory] | None = None
    after: Mapping[str, Trajectory] | None = None
    opened: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    seen: Mapping[str, list[View]] = field(default_factory=dict)

    def flat(self, x: Array) -> Array:
        """(runs, members, ...) as the batch that a group is, (runs * members, ...)."""
        return x.reshape(-1, *x.shape[2:])

    def start(self, g: str) -> dict[str, Any]:
        """States, parameters, inputs and numbers of all members of a group in all runs."""
        assert self.state is not None
        group, count = self.formation.groups[g], len(self.formation)
        shared = {name: np.broadcast_to(x, (len(self.runs), *x.shape)) for name, x in group.parameters.items()}
        values = {name: self.flat(x) for name, x in {**shared, **self.parameters.get(g, {})}.items()}
        shown = {name: self.flat(x) for name, x in {**self.inputs.get(g, {}), **self._seen_inputs(g)}.items()}
        q, v = (self.flat(x) for x in self.state[g])
        numbers = (self.runs[:, None] * count + member_numbers(self.formation, g)).ravel()
        return {"q0": q, "v0": v, "parameters": values or None, "inputs": shown or None, "runs": numbers}

    def _seen_inputs(self, g: str) -> dict[str, Array]:
        """What members see at the start, as far as their functions ask for it."""
        assert self.state is not None
        shown, names = {}, asked_by_name(self.opened[g])
        for view in self.seen[g]:
            for letter, rows in zip("qv", self.state[view.group], strict=True):
                shown[f"{letter}_{view.name}"] = rows[:, view.rows]
            if view.weight is not None:
                shown[f"weight_{view.name}"] = np.broadcast_to(view.weight, (len(self.runs), *view.weight.shape))
        for name in self.inputs.get(g, {}):
            if name in shown:
                raise ValueError(f"inputs['{g}']['{name}']: members see others under that name. Choose another one.")
        return {name: x for name, x in shown.items() if name in names}


def asked_of(formation: Formation, state: Any, t_span: Any, **options: Any) -> Asked:
    """The arguments of `simulate`, but for progress."""
    if not isinstance(formation, Formation):
        raise TypeError(f"expected a Formation, got {formation!r}.")
    common = {"t_span": t_span, "save_at": options.pop("save_at"), "max_steps": options.pop("max_steps", MAX_STEPS)}
    functions = {name: options.pop(name, None) for name in FUNCTIONS}
    own = {name: options.pop(name, None) for name in ("inputs", "parameters", "runs")}
    resume = options.pop("resume", None)
    check_options(options)
    if isinstance(common["save_at"], Mapping):
        raise TypeError("save_at= is one for all groups of a formation; found a mapping.")
    if resume is not None:
        _check_resume(formation, resume, {"state": state, **own})
        functions = {name: resume.functions.get(name) if f is None else f for name, f in functions.items()}
        formation, batched, runs = resume.formation, isinstance(resume, FormationBatch), resume.runs
        begun: State | None = None
        shown: Values = {}
        values: Values = resume.parameters if isinstance(resume, FormationBatch) else {}
    else:
        start = formation.neutral() if state is None else state
        runs, batched, begun, shown, values = _start(formation, start, **own)
    without, seen = _functions(formation, functions)
    asked = Asked(
        formation,
        runs,
        batched,
        begun,
        shown,
        values,
        functions,
        common,
        options,
        None if resume is None else resume.groups,
        opened=without,
        seen=seen,
    )
    _check_views(asked)
    _check_environments(asked)
    return asked


def _start(
    formation: Formation, state: Any, inputs: Any, parameters: Any, runs: Any
) -> tuple[Array, bool, State, Values, Values]:
    """The runs' numbers, whether they are a batch, and what they begin with."""
    found, given = _checked_state(formation, state), by_group(formation, parameters, "parameters")
    values = {
        g: {
            name: _with_shape(x, len(group), np.shape(group.craft.value(name)), f"parameters['{g}']['{name}']")
            for name, x in (given[g] or {}).items()
        }
        for g, group in formation.groups.items()
    }
    batches = [x for pair in found.values() for x in pair if x.ndim == 3]
    batches += [x for g, own in values.items() for name, x in own.items() if np.ndim(given[g][name]) == x.ndim]
    counts = {len(x) for x in batches if len(x) != 1}
    if len(counts) > 1:
        raise ValueError(f"states and parameters have different numbers of runs: {sorted(counts)}.")
    count = counts.pop() if counts else 1
    numbers = np.arange(count) if runs is None else np.asarray(runs)
    if numbers.shape not in ((), (count,)) or numbers.dtype.kind not in "iu":
        raise ValueError(f"runs are {runs!r:.80}; expected the numbers of {count} runs of the formation.")
    full = {
        g: (np.broadcast_to(q, (count, *q.shape[-2:])), np.broadcast_to(v, (count, *v.shape[-2:])))
        for g, (q, v) in found.items()
    }
    spread = {
        g: {name: np.broadcast_to(x, (count, *x.shape[1:])) for name, x in own.items()} for g, own in values.items()
    }
    shown = _inputs(formation, inputs or {}, count, bool(batches))
    return np.broadcast_to(numbers, (count,)).astype(np.int64), bool(batches), full, shown, spread


def _with_shape(value: Any, members: int, shape: tuple[int, ...], what: str) -> Array:
    """(runs or 1, members, *shape), from that or from (members, *shape)."""
    x = reals(value, what)
    x = x[None] if x.ndim == 1 + len(shape) else x
    if x.ndim != 2 + len(shape) or x.shape[1:] != (members, *shape):
        raise ValueError(
            f"{what} has shape {np.shape(value)}; expected {(members, *shape)}, one value per member, or one more axis "
            "of runs in front."
        )
    return x


def _inputs(formation: Formation, given: Any, count: int, batched: bool) -> Values:
    """(runs, members, ...); axes of runs and members may be 1."""
    found: dict[str, dict[str, Array]] = {}
    for g, own in by_group(formation, given, "inputs").items():
        found[g] = {}
        for name, value in (own or {}).items():
            x = reals(value, f"inputs['{g}']['{name}']")
            x = x if batched else x[None]
            members = len(formation.groups[g])
            try:
                found[g][name] = np.broadcast_to(x, (count, members, *x.shape[2:]))
            except ValueError:
                expected = f"({count}, {members}, ...)" if batched else f"({members}, ...)"
                raise ValueError(
                    f"inputs['{g}']['{name}'] has shape {np.shape(value)}; expected {expected}, or 1 on an axis that "
                    "shares it."
                ) from None
    return found


def _checked_state(formation: Formation, state: Any) -> State:
    """{group: (q ([runs,] members, nq), v)}, or an error."""
    found = {}
    for g in state:
        if g not in formation.groups:
            raise ValueError(f"the state has a group '{g}' that the formation has not. {nearest(g, formation.groups)}")
    for g, group in formation.groups.items():
        if g not in state:
            raise ValueError(
                f"the state has no group '{g}'; expected {{group: (q, v)}} for {', '.join(formation.groups)}."
            )
        q, v = (reals(x, f"the state of group '{g}'") for x in state[g])
        for name, x, size in (("q", q, group.craft.nq), ("v", v, group.craft.nv)):
            if x.shape[-2:] != (len(group), size) or x.ndim > 3:
                raise ValueError(
                    f"{name} of group '{g}' has shape {x.shape}; expected ({len(group)}, {size}): one row per member; "
                    f"in a batch (runs, {len(group)}, {size})."
                )
        found[g] = (q, v)
    return found


def member_numbers(formation: Formation, g: str) -> Array:
    """The members' numbers in the whole formation: noise is a function of them."""
    before = 0
    for name, group in formation.groups.items():
        if name == g:
            return before + np.arange(len(group))
        before += len(group)
    raise ValueError(f"the formation has no group '{g}'.")


# ---- functions


def _functions(
    formation: Formation, functions: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Any]], dict[str, list[View]]]:
    """The functions of each group without couplings, and what its members see."""
    found: dict[str, dict[str, Any]] = {g: {} for g in formation.groups}
    seen: dict[str, list[View]] = {g: [] for g in formation.groups}
    for name in FUNCTIONS:
        for g, function in by_group(formation, functions.get(name), name).items():
            found[g][name], couplings = opened(function)
            for coupling in couplings:
                seen[g] += views(formation, g, coupling, name, seen[g])
    return found, seen


def _check_views(asked: Asked) -> None:
    conserve = by_group(asked.formation, asked.settings.get("conserve"), "conserve")
    for g, looks in asked.seen.items():
        names = asked_by_name(asked.opened[g])
        for view in looks:
            if not names & set(view.inputs):
                raise ValueError(
                    f"group '{g}' sees '{view.name}', but none of its functions asks for {' or '.join(view.inputs)} by "
                    "argument name."
                )
            before = None if asked.resume is None else asked.resume[g].data.attrs["inputs"]
            if before is not None and not names & set(view.inputs) <= set(before):
                raise ValueError(
                    f"resume: members of group '{g}' did not see '{view.name}' in the run that is continued: they had "
                    "clocks of their own. Start anew from run.final, or give the functions that it was run with."
                )
            if conserve[view.group] is not None and f"v_{view.name}" in names:
                raise ValueError(
                    f"conserve= leaves the velocity of a base out of the state, and members of group '{g}' see it as "
                    f"v_{view.name}. Leave conserve out, and use a tighter rtol."
                )


def _check_environments(asked: Asked) -> None:
    """At the start of the first run: who is where no environment can be."""
    t_span = asked.common["t_span"]
    for g, own in asked.opened.items():
        environment = environment_of(own["environment"])
        if asked.state is None or t_span is None:
            continue
        if environment is not None:
            environment.require_span(float(t_span[0]), float(t_span[1]))
        if environment is not None and environment.check is not None:
            for k, name in enumerate(asked.formation.groups[g].names):
                try:
                    environment.check(asked.formation.groups[g].craft_of(k), float(t_span[0]), asked.state[g][0][0, k])
                except ValueError as error:
                    raise ValueError(f"member '{name}': {error}") from None


def _check_resume(formation: Formation, resume: Any, given: Mapping[str, Any]) -> None:
    if not isinstance(resume, FormationTrajectory | FormationBatch):
        raise TypeError(f"resume is {resume!r:.80}; expected the FormationTrajectory of a run.")
    if any(value is not None for value in given.values()):
        raise ValueError(f"resume: {', '.join(given)} are those of the run that is continued. Leave them out.")
    if isinstance(resume, FormationTrajectory) and resume.legs:
        raise ValueError("resume: a flight with impulses is not continued; start anew from run.final, at its end.")
    there, here = ({g: group.names for g, group in f.groups.items()} for f in (resume.formation, formation))
    if there != here:
        raise ValueError(f"resume: the run belongs to {resume.formation!r} with other groups or members.")
    for g, group in formation.groups.items():
        for name, value in group.parameters.items():
            if not np.array_equal(resume.formation.groups[g].parameters.get(name, np.nan), value):
                raise ValueError(
                    f"resume: '{name}' of group '{g}' is not as it was in the run that is continued. Go on with "
                    "run.formation, or run it anew."
                )
