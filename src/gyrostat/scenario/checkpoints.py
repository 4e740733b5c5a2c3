"""Long runs in parts: what there is goes to a file every so often,
so that a machine that stops costs minutes, not days.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._warned import warn_user

if TYPE_CHECKING:
    from ..simulation import Trajectory


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


def in_parts(
    part: Callable[[Trajectory | None, int], Trajectory],
    earlier: Trajectory | None,
    max_steps: int,
    path: str | Path,
    every: float,
) -> Trajectory:
    """`part(trajectory to go on from, steps it may make)` again and again, until it was not the alarm that ended it.

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
        before = 0 if earlier is None else _attempts(earlier)
        with stop_when(alarm):
            trajectory = part(earlier, max_steps)
        if not (trajectory.interrupted and alarm.rang) or stopped_from_outside():
            return trajectory
        max_steps -= _attempts(trajectory) - before
        if max_steps < 1:
            return trajectory
        try:
            trajectory.save(path)
        except WriteError as error:
            warn_user(f"checkpoint: {error} The run goes on without it.")
        earlier = trajectory


def _attempts(trajectory: Trajectory) -> int:
    return int((trajectory.state.steps + trajectory.state.rejections).max())


def must_be_same(text: str, earlier: str | None) -> None:
    """Raises a ValueError that names the first line in which the scenario is another one than it was."""
    if earlier is None:
        raise ValueError("resume: the result is not of a scenario. Go on with gs.simulate(craft, resume=...).")
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


def refuse(what: str, options: Mapping[str, Any]) -> None:
    """Options that a scenario of another kind does not have."""
    for name in ("resume", "checkpoint", "checkpoint_every"):
        if options.get(name) is not None:
            raise ValueError(f"{name}: {what} cannot be continued; run it whole.")
