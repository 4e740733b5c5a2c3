"""Where results go. What was computed is not lost: not by a full disk,
and not by a later run that did not get as far.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..io.writing import WriteError

if TYPE_CHECKING:
    from ..formation import FormationTrajectory
    from ..simulation import Trajectory
    from ..simulation.phased_run import PhasedRun


COMPACT: Mapping[str, Any] = {"dtype": "float32", "compress": True}


def partial_of(out: Path) -> Path:
    """Where an interrupted run that was to become `out` is kept, and its checkpoints:
    never in the place of a complete one.
    """
    return out.with_name(f"{out.stem}.partial.nc")


def keep(
    trajectory: Trajectory,
    out: Path,
    run: Trajectory | PhasedRun | FormationTrajectory | None = None,
    *,
    compact: bool = False,
) -> tuple[list[Path], str]:
    """Save it; the files that were written, and what is to be said about it.

    run: what the trajectory was made of, if something else: all phases, all members; an interrupted one goes on from
    that. One that did not reach its end and was to become MATLAB's file gets a NetCDF file, too. compact: compressed,
    with seven digits over time.
    """
    if trajectory.interrupted:
        return keep_part(run or trajectory, out)
    written, problem = _saved(partial(trajectory.save, **COMPACT) if compact else trajectory.save, out)
    if trajectory.failures and out.suffix == ".mat":
        more, _ = _saved(trajectory.save, partial_of(out))
        written += more
    return written, problem


def keep_part(run: Trajectory | PhasedRun | FormationTrajectory, out: Path) -> tuple[list[Path], str]:
    """What there is of a run that was to become `out`, to go on from."""
    return _saved(run.save, partial_of(out))


def _saved(save: Callable[[Path], Path], path: Path) -> tuple[list[Path], str]:
    """At `path`; or, if that cannot be written, in a folder that can."""
    try:
        return [save(path)], ""
    except WriteError as error:
        for folder in _elsewhere():
            other = folder / f"{path.stem}-{secrets.token_hex(4)}{path.suffix}"
            try:
                return [save(other)], f"{error} The result is in '{other}' instead."
            except WriteError:
                continue
        raise


def _elsewhere() -> list[Path]:
    folders = [Path(tempfile.gettempdir())]
    with suppress(RuntimeError):  # of a user without one
        folders.append(Path.home())
    return folders
