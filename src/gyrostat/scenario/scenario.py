"""A scenario: a spacecraft, where it starts, what it does, ready to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from ..algebra import Array
from ..campaigns import Campaign
from ..environment import Orbit
from ..model import Spacecraft
from ..simulation import Simulation, Trajectory, simulate
from ..simulation.problem.request import FUNCTIONS, MAX_STEPS
from .checkpoints import attempts, in_parts, must_be_same
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
    goes_on_from: ClassVar[tuple[type, ...]] = (Trajectory,)

    @property
    def lasts(self) -> str:
        """How long, as a person is told."""
        return f"{self.duration:g} s"

    @property
    def orbit(self) -> Orbit | None:
        """Whose Hill frame pictures are shown in; None: inertial axes."""
        return None

    def simulate(self, **how: Any) -> Trajectory:
        """Run it, as one trajectory with its outputs and requirements. how: as in `run`."""
        self.require_told()
        return self.told(self.run(**how))

    def run(
        self,
        *,
        progress: bool | None = None,
        resume: Any = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: float = 600.0,
        **changes: Any,
    ) -> Any:
        """What `simulate` tells: the trajectory; of a file with phases the `PhasedRun`, of one with members the
        `FormationTrajectory`. Its `save` keeps all that a run goes on from.

        changes: other values for `gs.simulate`'s options, such as rtol=1e-12.

        resume: an interrupted run of this scenario, or its file: it goes on with its own settings, bit for bit as if
        never stopped.
        checkpoint: a file (.nc) that holds what there is, every so many seconds of the clock on the wall, to resume
        from.
        """
        earlier = self._load(resume) if isinstance(resume, str | Path) else resume
        if earlier is not None:
            if not isinstance(earlier, self.goes_on_from):
                kinds = " or ".join(kind.__name__ for kind in self.goes_on_from)
                raise TypeError(f"resume is {earlier!r:.80}; expected the {kinds} that `run` gave, or its file (.nc).")
            must_be_same(self.text, self._notes(earlier).get("scenario"))
        try:
            if checkpoint is None:
                return self._part(earlier, progress, changes)
            return in_parts(self._parts(earlier, progress, changes), earlier, checkpoint, checkpoint_every)
        except Exception as error:  # of a user's function: it bears what there is
            if (left := getattr(error, "trajectory", None)) is not None:
                self._notes(left)["scenario"] = self.text
            raise

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

    def require_told(self) -> None:
        """Before a long run: raises a ValueError for what no trajectory could hold in the end."""

    def told(self, run: Any) -> Trajectory:
        """What `run` gave as one trajectory, judged by the limits and the requirements of the file."""
        trajectory = self._joined(run)
        add_outputs(trajectory, self.outputs)
        judge(trajectory, self.limits)
        judge_run(trajectory, self.requirements, trajectory.outcomes)
        return trajectory

    # ---- what kinds of scenarios do in ways of their own

    def _part(self, earlier: Any, progress: bool | None, changes: Mapping[str, Any]) -> Any:
        """From the start, or from where an earlier part ended, to the end, or until it is interrupted."""
        if earlier is None:
            options = {**self.options, **changes}
            options |= asked(self.requirements, options)
            run = simulate(self.craft, self.q0, self.v0, (0.0, self.duration), progress=progress, **options)
        else:
            run = simulate(self.craft, resume=earlier, progress=progress, **self._given_again(changes))
        self._notes(run)["scenario"] = self.text
        return run

    def _given_again(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Settings and times are those of the run that goes on; functions are not in its file."""
        kept = {name: x for name, x in self.options.items() if name in (*FUNCTIONS, "max_steps")}
        return {**kept, **changes, **asked(self.requirements, changes)}

    def _parts(self, earlier: Any, progress: bool | None, changes: Mapping[str, Any]) -> Callable[[Any], Any]:
        """`_part` by part: together they may make as many steps as one."""
        most = int(changes.get("max_steps", self.options.get("max_steps", MAX_STEPS)))
        before = self._attempts(earlier)

        def part(earlier: Any) -> Any:
            left = most - (self._attempts(earlier) - before)
            return earlier if left < 1 else self._part(earlier, progress, {**changes, "max_steps": left})

        return part

    def _attempts(self, run: Any) -> int:
        """Steps that were tried."""
        return 0 if run is None else attempts(run)

    def _load(self, path: str | Path) -> Any:
        """A run of this kind, to go on from."""
        return Trajectory.load(path)

    def _joined(self, run: Any) -> Trajectory:
        """As one trajectory."""
        trajectory: Trajectory = run
        return trajectory

    def _notes(self, run: Any) -> dict[str, Any]:
        """Of a run, where its scenario stands, in files too."""
        notes: dict[str, Any] = run.data.attrs
        return notes
