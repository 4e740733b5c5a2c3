"""Scenarios in phases: coast, approach, grasp, attach, detumble, release, from one file to one trajectory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...io.toml.source import Source
from ...model import Spacecraft
from ...model.assembly import joined_state, together
from ...model.names import name_of
from ...simulation import Trajectory
from ...simulation.phased_run import PhasedRun
from ...simulation.phases import Phase, simulate_phases
from ..checkpoints import refuse
from ..parts.craft import spacecraft_of
from ..parts.flight import happening
from ..parts.limits import judge
from ..parts.outputs import add_outputs
from ..parts.requirements import asked, judge_run, requirements_of
from ..parts.start import initial_state
from ..scenario import Scenario
from .kind import Kind
from .phase_motions import Course
from .phased_tables import PhasedTable, Target
from .phases_of_files import phases_of


@dataclass(frozen=True, eq=False, kw_only=True)
class PhasedScenario(Scenario):
    """A spacecraft, with those that it meets as one model, and the phases."""

    phases: tuple[Phase, ...]

    @property
    def lasts(self) -> str:
        """Phases may end before their time."""
        return f"{'at most ' if any(phase.until for phase in self.phases) else ''}{self.duration:g} s"

    def run(self, **changes: Any) -> PhasedRun:
        """All phases, with the impulses of each grasp."""
        options = {**self.options, **changes}
        options |= asked(self.requirements, options)
        return simulate_phases(self.craft, self.q0, self.v0, self.phases, **options)

    def simulate(self, *, progress: bool | None = None, **changes: Any) -> Trajectory:
        """All phases as one trajectory. What happened in each is in its summary."""
        refuse("a scenario in phases", changes)
        run = self.run(progress=progress, **changes)
        trajectory = run.trajectory
        add_outputs(trajectory, self.outputs)
        trajectory.data.attrs["scenario"] = self.text
        judge(trajectory, self.limits)
        judge_run(trajectory, self.requirements, trajectory.outcomes)
        return trajectory


def phased_scenario(source: Source, table: PhasedTable, path: Path) -> PhasedScenario:
    """The scenario of a file with [[phase]]. What is wrong goes to the source's report."""
    lead = spacecraft_of(source, table.spacecraft, path, base=table.base)
    one = isinstance(source.raw.get("target"), dict)
    places = [source.inside("target") if one else source.inside("target", k) for k in range(len(table.target))]
    others = [_met(at, target, path) for at, target in zip(places, table.target, strict=True)]
    _check_names(places, lead, others)
    starts = [(source, lead, table.start), *zip(places, others, (t.start for t in table.target), strict=True)]
    states = [(craft, *initial_state(at, craft, start)) for at, craft, start in starts]
    source.report.raise_errors()
    craft, q, v = states[0]
    if others:
        craft = together(" and ".join(c.name for c, _, _ in states), [c for c, _, _ in states])
        q, v = joined_state(craft, states)
    if table.run.conserve is not None and others:
        message = "'conserve' takes one spacecraft with a free base; here are two."
        source.error("not-with-phases", ("run",), message, "Leave it out.", "conserve")
    total = sum(phase.duration for phase in table.phase)
    acts = {lead.name: (source, table)} | {
        other.name: (at, target) for other, at, target in zip(others, places, table.target, strict=True)
    }
    course = Course(source, craft, lead.name, q, v, total, table, acts)
    events = happening(source, craft, table, q, v)
    phases = phases_of(course, table.phase, events.get("events", []))
    options = table.run.options(source, total) | course.common() | events
    return PhasedScenario(
        name=table.name or name_of(path),
        craft=craft,
        q0=q,
        v0=v,
        duration=total,
        options=options,
        outputs=tuple(table.outputs),
        text=source.text,
        path=path,
        limits=table.limits,
        requirements=requirements_of(source, craft, table.require, q, v, phased=True),
        phases=phases,
    )


def _met(source: Source, table: Target, path: Path) -> Spacecraft:
    craft = spacecraft_of(source, table.spacecraft, path)
    return craft if table.name is None else replace(craft, name=table.name)


def _check_names(places: list[Source], lead: Spacecraft, others: list[Spacecraft]) -> None:
    names = [lead.name]
    for at, craft in zip(places, others, strict=True):
        if craft.name in names:
            at.error("twice", (), f"two spacecraft are named '{craft.name}'.", 'Add name = "...", its name here.')
        names.append(craft.name)


PHASED = Kind(
    "a scenario in phases",
    PhasedTable,
    phased_scenario,
    marks=("phase", "target"),
    hints={"run.duration": "The phases say how long."},
)
