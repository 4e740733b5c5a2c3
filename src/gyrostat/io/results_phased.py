"""Runs in phases as NetCDF: each phase as a trajectory is kept, under its number, and all of them end to end, which is
what reports take. What acted is not in it: a run that goes on is told again.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ..simulation.phased_run import KeptPhases, PhasedRun
from .results import contents_below
from .results_netcdf import Variable, netcdf_bytes
from .results_read import PHASES, Described, ResultError, Told, below, parts_of, suspicious, trailer, trajectory_of
from .writing import write_bytes

WHOLE = "whole/"


def save_phased(run: PhasedRun, path: str | Path) -> Path:
    """Write .nc."""
    path = Path(path)
    if path.suffix != ".nc":
        raise ValueError(
            f"'{path}': a run in phases is saved as .nc (NetCDF), not as '{path.suffix}'. For MATLAB save "
            "run.trajectory."
        )
    made: dict[str, Variable] = {}
    told = [contents_below(f"{k}/", result.trajectory, made) for k, result in enumerate(run.phases)]
    header: dict[str, Any] = {
        "format": PHASES,
        "phases": [(result.phase.name, result.phase.duration) for result in run.phases],
        "told": told,
        "whole": contents_below(WHOLE, run.trajectory, made),
    }
    version = str(run.phases[0].trajectory.data.attrs["gyrostat"])
    attributes = {"Conventions": PHASES, "title": f"{run.craft.name} in phases", "source": f"gyrostat {version}"}
    content = netcdf_bytes(made, attributes, header)
    return write_bytes(path, content, trailer(hashlib.sha256(content).digest()))


class _Header(BaseModel):
    format: str
    phases: list[tuple[str, float]]
    told: list[Told]
    whole: Told
    variables: dict[str, Described]


def load_phased(path: str | Path) -> KeptPhases:
    """Read what `save_phased` wrote. Raises a `ResultError` for anything else."""
    return suspicious(Path(path), _read)


def _read(path: Path) -> KeptPhases:
    header, variables = parts_of(path, _Header, PHASES)
    if not header.phases or len(header.told) != len(header.phases):
        raise ResultError("does not hold a trajectory for each of its phases.")
    found = [trajectory_of(told, below(variables, f"{k}/"), path) for k, told in enumerate(header.told)]
    whole = trajectory_of(header.whole, below(variables, WHOLE), path)
    if any(trajectory.batched for trajectory in (*found, whole)):
        raise ResultError("holds several runs in a phase; phases are one run at a time.")
    return KeptPhases(tuple(header.phases), tuple(found), whole)
