"""Scenarios in phases: approach, capture, hold, release, from one file to one trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import constraints as gc
from ...algebra import Array, norm
from ...io.toml.source import Source
from ...kinematics import frame_pose
from ...model import Spacecraft
from ...model.assembly import joined_state, together
from ..checkpoints import refuse
from ..parts.acting import acting_options
from ..parts.craft import spacecraft_of
from ..parts.limits import judge, limit_options
from ..parts.outputs import add_outputs
from ..parts.requirements import asked, judge_run, requirements_of, through_phases
from ..parts.start import initial_state
from ..scenario import Scenario
from .capture_tables import CaptureTable, GraspTable, PhaseTable
from .kind import Kind

if TYPE_CHECKING:
    from ...simulation import Trajectory
    from ...simulation.phased_run import PhasedRun


@dataclass(frozen=True, eq=False, kw_only=True)
class CaptureScenario(Scenario):
    """A servicer and its target as one model, and the phases."""

    phases: tuple[PhaseTable, ...]

    def run(self, **changes: Any) -> PhasedRun:
        """All phases, with the impulses of each grasp."""
        from ...simulation.phases import Phase, simulate_phases

        made = [
            Phase(
                phase.duration,
                phase.name,
                grasp=[_grasp(grasp) for grasp in phase.grasp],
                release=phase.release,
                until=None if phase.until is None else _near(phase.until.frames, phase.until.closer_than),
                restitution=phase.restitution,
            )
            for phase in self.phases
        ]
        options = {**self.options, **changes}
        options |= asked(self.requirements, options)
        return simulate_phases(self.craft, self.q0, self.v0, made, **options)

    def simulate(self, *, progress: bool | None = None, **changes: Any) -> Trajectory:
        """All phases as one trajectory. What happened in each is in its summary."""
        refuse("a scenario in phases", changes)
        run = self.run(progress=progress, **changes)
        trajectory = run.trajectory
        add_outputs(trajectory, self.outputs)
        trajectory.data.attrs["scenario"] = self.text
        judge(trajectory, self.limits)
        judge_run(trajectory, self.requirements, through_phases(run, self.requirements))
        return trajectory


def capture_scenario(source: Source, table: CaptureTable, path: Path) -> CaptureScenario:
    """The scenario of a file with [target] and [[phase]]. What is wrong goes to the source's report."""
    chaser = spacecraft_of(source, table.spacecraft, path, base=table.base)
    target = spacecraft_of(source, table.target.spacecraft, path, ("target",))
    both = together(f"{chaser.name} and {target.name}", [chaser, target])
    states = [
        (craft, *initial_state(source, craft, start))
        for craft, start in ((chaser, table.start), (target, table.target.start))
    ]
    q, v = joined_state(both, states)
    _check_frames(source, both, table)
    _refuse(source, table)
    source.report.raise_errors()
    total = sum(phase.duration for phase in table.phase)
    options = table.run.options(source, total) | acting_options(source, both, table, q, v, total)
    options |= limit_options(source, both, table, q, v)
    return CaptureScenario(
        name=table.name or path.stem,
        craft=both,
        q0=q,
        v0=v,
        duration=total,
        options=options,
        outputs=tuple(table.outputs),
        text=source.text,
        path=path,
        limits=table.limits,
        requirements=requirements_of(source, both, table.require, q, v, phased=True),
        phases=tuple(table.phase),
    )


def _check_frames(source: Source, both: Spacecraft, table: CaptureTable) -> None:
    held: set[str] = set()
    for k, phase in enumerate(table.phase):
        pairs = [("grasp", grasp.frames) for grasp in phase.grasp]
        pairs += [] if phase.until is None else [("until", phase.until.frames)]
        for key, frames in pairs:
            for name in frames:
                try:
                    both.locate(name)
                except ValueError as error:
                    source.error("no-such-frame", ("phase", k), str(error), "", key)
        for name in phase.release:
            if name not in held:
                known = f"What is held by then: {', '.join(sorted(held))}." if held else "Nothing is held by then."
                source.error("not-held", ("phase", k), f"releases '{name}', which is not held.", known, "release")
        held = (held - set(phase.release)) | {grasp.name for grasp in phase.grasp}


def _refuse(source: Source, table: CaptureTable) -> None:
    if table.run.conserve is not None:
        message = "'conserve' takes one spacecraft with a free base; here are two."
        source.error("not-with-phases", ("run",), message, "Leave it out.", "conserve")
    for k, phase in enumerate(table.phase):
        if phase.restitution and not phase.grasp:
            message = "'restitution' is that of a grasp, and nothing is grasped."
            source.error("no-grasp", ("phase", k), message, "Leave it out, or add [[phase.grasp]].", "restitution")


def _grasp(grasp: GraspTable) -> gc.AbstractConstraint:
    kinds: Mapping[str, Callable[..., gc.AbstractConstraint]] = {
        "weld": gc.weld,
        "point": gc.point,
        "revolute": gc.revolute,
    }
    return kinds[grasp.kind](*grasp.frames, name=grasp.name)


def _near(frames: list[str], distance: float) -> Callable[..., Any]:
    def gap(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        return norm(frame_pose(craft, q, frames[1]).p - frame_pose(craft, q, frames[0]).p) - distance

    return gap


CAPTURE = Kind(
    "a scenario of a capture",
    CaptureTable,
    capture_scenario,
    marks=("phase", "target"),
    hints={"run.duration": "The phases say how long."},
)
