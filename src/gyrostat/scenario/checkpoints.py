"""Long runs in parts: what there is goes to a file every so often,
so that a machine that stops costs minutes, not days.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from .._warned import warn_user

if TYPE_CHECKING:
    from ..formation import FormationTrajectory
    from ..simulation import Trajectory
    from ..simulation.phased_run import PhasedRun


class _Alarm:
    """True once so many seconds have passed since it was first asked, and it was asked often enough: some steps are
    made, whatever came before.
    """

    def __init__(self, seconds: float, least: int) -> None:
        self.seconds, self.least, self.rang = seconds, least, False
        self._begun, self._asked = 0.0, 0

    def __call__(self) -> bool:
        if not self.rang:
            self._asked += 1
            self._begun = self._begun or time.monotonic()
            self.rang = self._asked > self.least and time.monotonic() - self._begun >= self.seconds
        return self.rang

    @property
    def early(self) -> bool:
        """It rang as soon as it could."""
        return self.rang and self._asked == self.least + 1


Run = TypeVar("Run", "Trajectory", "PhasedRun", "FormationTrajectory")


def in_parts(part: Callable[[Run | None], Run], earlier: Run | None, path: str | Path, every: float) -> Run:
    """`part(run to go on from)` again and again, until it was not the alarm that ended it, or nothing is left to do:
    then it gives back what it was given.

    Every part but the last is saved at `path`. Where that fails, a warning says so, and the run goes on.
    """
    from ..io.writing import WriteError
    from ..simulation.engine.interruption import question, stop_when

    if not every > 0:
        raise ValueError(f"checkpoint_every is {every}; expected a positive number of seconds.")
    if Path(path).suffix != ".nc":
        raise ValueError(f"checkpoint '{path}': a run goes on from NetCDF, .nc.")
    stopped_from_outside, least = question(), 1
    while True:
        alarm = _Alarm(every, least)
        with stop_when(alarm):
            run = part(earlier)
        if alarm.early:  # members that have ended ask, too: the others must get on between two checkpoints
            least *= 2
        if run is earlier or not (run.interrupted and alarm.rang) or stopped_from_outside():
            return run
        try:
            run.save(path)
        except WriteError as error:
            warn_user(f"checkpoint: {error} The run goes on without it.")
        earlier = run


def attempts(*trajectories: Trajectory) -> int:
    """Steps that were tried, the most of any run."""
    return max(int((t.state.steps + t.state.rejections).max()) for t in trajectories)


def must_be_same(text: str, earlier: str | None) -> None:
    """Raises a ValueError that names the first line in which the scenario is another one than it was."""
    if earlier is None:
        raise ValueError("resume: the result is not of a scenario. Go on with what it was made by, in Python.")
    if text == earlier:
        return
    now, then = text.splitlines(), earlier.splitlines()
    for k, (new, old) in enumerate(zip([*now, ""], [*then, ""], strict=False), 1):
        if new != old:
            raise ValueError(
                f"resume: the scenario was changed since: line {k} is '{new[:80]}', it was '{old[:80]}'. Change it "
                "back, or run it anew."
            )
    raise ValueError("resume: the scenario was changed since. Change it back, or run it anew.")
