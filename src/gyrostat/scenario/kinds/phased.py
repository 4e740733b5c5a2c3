"""Scenarios in phases: coast, approach, grasp, attach, detumble, release, from one file to one trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from ...io.results_phased import load_phased
from ...io.toml.source import Source
from ...model import Spacecraft
from ...model.assembly import joined_state, together
from ...model.names import name_of
from ...simulation import Trajectory
from ...simulation.phase import Phase
from ...simulation.phased_run import KeptPhases, PhasedRun
from ...simulation.phases import simulate_phases
from ...simulation.problem.request import MAX_STEPS
from ..checkpoints import attempts
from ..parts.craft import spacecraft_of
from ..parts.flight import happening
from ..parts.requirements import asked, requirements_of
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
    goes_on_from: ClassVar[tuple[type, ...]] = (PhasedRun, KeptPhases)

    @property
    def lasts(self) -> str:
        """Phases may end before their time."""
        return f"{'at most ' if any(phase.until for phase in self.phases) else ''}{self.duration:g} s"

    def _part(self, earlier: Any, progress: bool | None, changes: Mapping[str, Any]) -> PhasedRun:
        """All phases, with the impulses of each grasp."""
        options = {**self.options, **changes}
        options |= asked(self.requirements, options)
        if isinstance(earlier, PhasedRun):
            run = simulate_phases(self.craft, phases=self.phases, resume=earlier, progress=progress, **changes)
        else:
            start = (self.craft, self.q0, self.v0, self.phases)
            run = simulate_phases(*start, resume=earlier, progress=progress, **options)
        self._notes(run)["scenario"] = self.text
        return run

    def _parts(self, earlier: Any, progress: bool | None, changes: Mapping[str, Any]) -> Callable[[Any], Any]:
        """Each phase may make as many steps in parts as in one."""
        begun, before = (-1, 0) if earlier is None else self._under_way(earlier)
        most = changes.get("max_steps", self.options.get("max_steps", MAX_STEPS))

        def part(earlier: Any) -> Any:
            if earlier is None:
                return self._part(None, progress, changes)
            k, made = self._under_way(earlier)
            phase = self.phases[k]
            left = int(phase.options.get("max_steps", most)) - (made - before if k == begun else made)
            if left < 1:
                return earlier
            shorter = replace(phase, options={**phase.options, "max_steps": left})
            phases = (*self.phases[:k], shorter, *self.phases[k + 1 :])
            return replace(self, phases=phases)._part(earlier, progress, changes)

        return part

    def _under_way(self, run: PhasedRun | KeptPhases) -> tuple[int, int]:
        """The number of the phase in which it was interrupted, and the steps that were tried in it."""
        last = run.trajectories[-1] if isinstance(run, KeptPhases) else run.phases[-1].trajectory
        return len(run.phases) - 1, attempts(last)

    def _load(self, path: str | Path) -> KeptPhases:
        return load_phased(path)

    def _joined(self, run: PhasedRun) -> Trajectory:
        return run.trajectory

    def _notes(self, run: PhasedRun | KeptPhases) -> dict[str, Any]:
        notes: dict[str, Any] = (run.whole if isinstance(run, KeptPhases) else run.trajectory).data.attrs
        return notes


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
