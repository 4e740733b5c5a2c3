"""A scenario: a spacecraft, where it starts, what it does, ready to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..algebra import Array
from ..campaigns import Campaign
from ..environment import Orbit
from ..model import Spacecraft
from ..simulation import Simulation, Trajectory, simulate
from ..simulation.problem.request import FUNCTIONS, MAX_STEPS
from .checkpoints import in_parts, must_be_same
from .parts.campaign import Sweep
from .parts.limits import Limits, judge
from .parts.outputs import Output, add_outputs
from .parts.requirements import Require, asked, judge_run


@dataclass(frozen=True, eq=False)
class Scenario:
    """A spacecraft, its state at the start, and everything else that `gs.simulate` needs, as `options`."""

    name: str
    craft: Spacecraft
    q0: Array
    v0: Array
    duration: float
    options: Mapping[str, Any]
    outputs: tuple[Output, ...] = ()
    text: str = field(default="", repr=False)
    path: Path | None = None
    limits: Limits = "note"
    requirements: tuple[Require, ...] = ()
    campaign: Sweep | None = None

    @property
    def lasts(self) -> str:
        """How long, as a person is told."""
        return f"{self.duration:g} s"

    @property
    def orbit(self) -> Orbit | None:
        """Whose Hill frame pictures are shown in; None: inertial axes."""
        return None

    def simulate(
        self,
        *,
        progress: bool | None = None,
        resume: Trajectory | str | Path | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: float = 600.0,
        **changes: Any,
    ) -> Trajectory:
        """Run it. changes: other values for `gs.simulate`'s options, such as rtol=1e-12.

        resume: an interrupted run of this scenario, or its file: it goes on with its own settings, bit for bit as if
        never stopped.
        checkpoint: a file (.nc) that holds what there is, every so many seconds of the clock on the wall, to resume
        from.
        """
        if checkpoint is None:
            return self._part(self._earlier(resume), progress, changes)

        def part(earlier: Trajectory | None, most: int) -> Trajectory:
            return self._part(earlier, progress, {**changes, "max_steps": most})

        most = int(changes.get("max_steps", self.options.get("max_steps", MAX_STEPS)))
        return in_parts(part, self._earlier(resume), most, checkpoint, checkpoint_every)

    def simulation(self, **changes: Any) -> Simulation:
        """At its start, to be stepped with loads from outside: its control law does not act. changes: other values for
        the options of `gs.Simulation`.
        """
        if type(self) is not Scenario:
            raise ValueError(
                f"'{self.name}' has phases or members, and is run as a whole: scenario.simulate(). Only one spacecraft "
                "in one "
                f"phase can be stepped."
            )
        given = {name: x for name, x in self.options.items() if name not in ("control", "save_at")}
        sim = Simulation(self.craft, **{**given, **changes})
        sim.reset(self.q0, self.v0)
        return sim

    def sweep(self, *, runs: int | None = None, seed: int | None = None, **how: Any) -> Campaign:
        """The campaign of the file's [campaign]. how: store, resume, shard, executor, progress, as in `gs.campaign`."""
        return self._sweep().run(self, runs=runs, seed=seed, **how)

    def case(self, k: int, *, runs: int | None = None, seed: int | None = None, **changes: Any) -> Trajectory:
        """Run k of the campaign alone with its histories, bit for bit as in it. changes: such as save_at=..."""
        plan = self._sweep().plan(self, runs, seed)
        if not 0 <= k < plan.runs:
            raise ValueError(f"there is no run {k}; they are 0 to {plan.runs - 1}.")
        saved = {name: self.options[name] for name in ("save_at",) if name in self.options}
        return plan.cases([k], **{**saved, **changes})

    def _sweep(self) -> Sweep:
        if self.campaign is None:
            raise ValueError(f"'{self.name}' has no [campaign]: add one with runs, [[campaign.disperse]] and outcomes.")
        return self.campaign

    def _part(self, earlier: Trajectory | None, progress: bool | None, changes: Mapping[str, Any]) -> Trajectory:
        if earlier is None:
            options = {**self.options, **changes}
            options |= asked(self.requirements, options)
            trajectory = simulate(self.craft, self.q0, self.v0, (0.0, self.duration), progress=progress, **options)
        else:  # settings and times are those of the run; functions are not in its file
            kept = {name: x for name, x in self.options.items() if name in (*FUNCTIONS, "max_steps")}
            kept |= {**changes, **asked(self.requirements, changes)}
            trajectory = simulate(self.craft, resume=earlier, progress=progress, **kept)
        add_outputs(trajectory, self.outputs)
        trajectory.data.attrs["scenario"] = self.text
        judge(trajectory, self.limits)
        judge_run(trajectory, self.requirements, trajectory.outcomes)
        return trajectory

    def _earlier(self, resume: Trajectory | str | Path | None) -> Trajectory | None:
        """The run to go on from, if it is one of this scenario."""
        if isinstance(resume, str | Path):
            resume = Trajectory.load(resume)
        if resume is not None:
            must_be_same(self.text, resume.data.attrs.get("scenario"))
        return resume
