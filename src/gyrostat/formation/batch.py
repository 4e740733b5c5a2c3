"""Several runs of one formation: what each of them is, bit for bit, alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..algebra import Array
from ..simulation.engine.status import Status
from ..simulation.result.assembly import failed
from ..simulation.result.trajectory import Trajectory
from .members import Formation, Group, State
from .trajectory import ByGroup, FormationTrajectory


@dataclass(frozen=True, eq=False)
class FormationBatch(ByGroup):
    """`batch[k]` is the FormationTrajectory of run k. groups[g]: an ordinary Trajectory whose runs are all members of
    that group in the first run, then in the second, and so on. runs: their numbers.

    parameters: {group: {name: (runs, members, ...)}}, values that are not the same in all runs.
    """

    formation: Formation
    groups: Mapping[str, Trajectory]
    runs: Array
    parameters: Mapping[str, Mapping[str, Array]] = field(default_factory=dict, repr=False)
    functions: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[FormationTrajectory]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, k: int) -> FormationTrajectory:
        if not -len(self) <= k < len(self):
            raise IndexError(f"run {k} of a batch of {len(self)}.")
        k %= len(self)
        return FormationTrajectory(
            self.formation_of(k),
            {g: self._of_run(g, k) for g in self.groups},
            functions=self.functions,
            runs=self.runs[k : k + 1],
        )

    def formation_of(self, k: int) -> Formation:
        """With the values that the members have in run k."""
        if not any(self.parameters.values()):
            return self.formation
        groups: dict[str, Any] = {}
        for g, group in self.formation.groups.items():
            own = {name: x[k] for name, x in self.parameters.get(g, {}).items()}
            groups[g] = Group(group.craft, group.names, {**group.parameters, **own})
        return Formation(groups, orbit=self.formation.orbit)

    def _of_run(self, g: str, k: int) -> Trajectory:
        count = len(self.formation.groups[g])
        return some_runs(self.groups[g], slice(k * count, (k + 1) * count)) if len(self) > 1 else self.groups[g]

    @property
    def t_end(self) -> Array:
        """When each member of each run ended, in s, (runs, members) in the order of `formation.names`."""
        return np.concatenate([t.t_end.reshape(len(self), -1) for t in self.groups.values()], axis=1)

    @property
    def final(self) -> State:
        """{group: (q (runs, members, nq), v)} at the end, to start from again."""
        shapes = {g: (len(self), len(group)) for g, group in self.formation.groups.items()}
        return {
            g: tuple(x.reshape(*shapes[g], -1) for x in trajectory.final)  # type: ignore[misc]
            for g, trajectory in self.groups.items()
        }

    def __str__(self) -> str:
        lines = [f"{len(self)} runs of {self.formation!r}, {self.time[0]:g} to {self.time[-1]:g} s"]
        return "\n".join(lines + [f"  {g}: {trajectory}" for g, trajectory in self.groups.items()])


def some_runs(trajectory: Trajectory, rows: slice) -> Trajectory:
    """Of a batch, those in these rows."""
    state = replace(trajectory.state, **{n: x[rows] for n, x in vars(trajectory.state).items() if len(x)})
    places = np.flatnonzero([failed(status) for status in trajectory.state.status])
    failures = [
        message for place, message in zip(places, trajectory.failures, strict=True) if rows.start <= place < rows.stop
    ]
    data = trajectory.data.isel(run=rows)
    data.attrs = trajectory.data.attrs | {"failures": tuple(failures)}
    return replace(
        trajectory,
        data=data,
        state=state,
        constants=trajectory.constants[rows],
        parameters={name: x[rows] for name, x in trajectory.parameters.items()},
        events=tuple(e._replace(run=e.run - rows.start) for e in trajectory.events if rows.start <= e.run < rows.stop),
        interrupted=bool((state.status == Status.running).any()),
    )
