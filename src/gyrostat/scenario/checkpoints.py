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
    """True once so many seconds have passed since it was first asked: some steps are made, whatever came before."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.rang = seconds, False
        self._begun: float | None = None

    def __call__(self) -> bool:
        if self._begun is None:
            self._begun = time.monotonic()
        else:
            self.rang = self.rang or time.monotonic() - self._begun >= self.seconds
        return self.rang


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
    stopped_from_outside = question()
    while True:
        alarm = _Alarm(every)
        with stop_when(alarm):
            run = part(earlier)
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
