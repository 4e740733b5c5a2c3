"""Where results go. What was computed is not lost: not by a full disk,
and not by a later run that did not get as far.
"""

from __future__ import annotations

import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..io.writing import WriteError

if TYPE_CHECKING:
    from ..simulation import Trajectory


def partial_of(out: Path) -> Path:
    """Where an interrupted run that was to become `out` is kept, and its checkpoints:
    never in the place of a complete one.
    """
    return out.with_name(f"{out.stem}.partial.nc")


def keep(trajectory: Trajectory, out: Path) -> tuple[list[Path], str]:
    """Save it; the files that were written, and what is to be said about it.

    MATLAB's files do not hold the state to go on from, so a run that did not reach its end gets a NetCDF file, too.
    """
    if trajectory.interrupted:
        return _saved(trajectory, partial_of(out))
    written, problem = _saved(trajectory, out)
    if trajectory.failures and out.suffix == ".mat":
        more, _ = _saved(trajectory, partial_of(out))
        written += more
    return written, problem


def _saved(trajectory: Trajectory, path: Path) -> tuple[list[Path], str]:
    """At `path`; or, if that cannot be written, in a folder that can."""
    try:
        return [trajectory.save(path)], ""
    except WriteError as error:
        for folder in _elsewhere():
            other = folder / f"{path.stem}-{secrets.token_hex(4)}{path.suffix}"
            try:
                return [trajectory.save(other)], f"{error} The result is in '{other}' instead."
            except WriteError:
                continue
        raise


def _elsewhere() -> list[Path]:
    folders = [Path(tempfile.gettempdir())]
    with suppress(RuntimeError):  # of a user without one
        folders.append(Path.home())
    return folders
