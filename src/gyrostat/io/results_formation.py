"""Trajectories of formations as NetCDF: every group as a trajectory is kept, under its number; members, orbit and
impulses in the header. Flights with impulses keep their legs, too.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from ..environment.orbit_notes import orbit_from_notes, orbit_notes
from ..formation import Formation, FormationTrajectory, Group
from ..formation.budget import MemberImpulse
from ..simulation.result.trajectory import Trajectory
from .results import contents_below
from .results_netcdf import Variable, netcdf_bytes
from .results_read import (
    FORMATION,
    Described,
    ResultError,
    Told,
    Variables,
    below,
    parts_of,
    suspicious,
    trailer,
    trajectory_of,
)
from .writing import write_bytes


def save_formation(run: FormationTrajectory, path: str | Path) -> Path:
    """Write .nc."""
    path = Path(path)
    if path.suffix != ".nc":
        raise ValueError(
            f"'{path}': a formation's trajectory is saved as .nc (NetCDF), not as '{path.suffix}'. For MATLAB save "
            "run.tree() or one of run.groups."
        )
    made: dict[str, Variable] = {}
    flights = [_flight(flight, f"{number}/", made) for number, flight in enumerate((run, *run.legs))]
    orbit = run.formation.orbit
    header: dict[str, Any] = {
        "format": FORMATION,
        "flights": flights,
        "groups": {g: list(group.names) for g, group in run.formation.groups.items()},
        "differ": {g: list(group.parameters) for g, group in run.formation.groups.items()},
        "orbit": None if orbit is None else orbit_notes(orbit),
        "impulses": [(i.member, i.t, np.asarray(i.dv_H, dtype=float).tolist()) for i in run.impulses],
        "runs": run.runs.tolist(),
    }
    version = str(next(iter(run.groups.values())).data.attrs["gyrostat"])
    attributes = {"Conventions": FORMATION, "title": repr(run.formation), "source": f"gyrostat {version}"}
    content = netcdf_bytes(made, attributes, header)
    return write_bytes(path, content, trailer(hashlib.sha256(content).digest()))


def _flight(run: FormationTrajectory, prefix: str, made: dict[str, Variable]) -> list[dict[str, str]]:
    """Adds its arrays; models and notes of its groups."""
    return [contents_below(f"{prefix}{k}/", group, made) for k, group in enumerate(run.groups.values())]


class _Header(BaseModel):
    format: str
    flights: list[list[Told]]
    groups: dict[str, list[str]]
    differ: dict[str, list[str]]
    orbit: dict[str, Any] | None
    impulses: list[tuple[str, float, list[float]]]
    runs: list[int]
    variables: dict[str, Described]


def load_formation(path: str | Path) -> FormationTrajectory:
    """Read what `save_formation` wrote. Raises a `ResultError` for anything else."""
    return suspicious(Path(path), _read)


def _read(path: Path) -> FormationTrajectory:
    header, variables = parts_of(path, _Header, FORMATION)
    if not header.flights or any(len(flight) != len(header.groups) for flight in header.flights):
        raise ResultError("does not hold a trajectory for each of its groups.")
    flights = [
        {
            g: _group(told, variables, f"{number}/{k}/", path)
            for k, (g, told) in enumerate(zip(header.groups, flight, strict=True))
        }
        for number, flight in enumerate(header.flights)
    ]
    try:
        groups = {g: _members(header, g, flights[0][g]) for g in header.groups}
        orbit = None if header.orbit is None else orbit_from_notes(header.orbit)
        formation = Formation(groups, orbit=orbit)
        impulses = tuple(MemberImpulse(member, t, np.array(dv)) for member, t, dv in header.impulses)
        for impulse in impulses:
            formation.place(impulse.member)
    except ValueError as error:
        raise ResultError(f"holds a formation that cannot be: {error}") from None
    first, *legs = flights
    runs = np.array(header.runs, dtype=np.int64)
    parts = tuple(FormationTrajectory(formation, leg) for leg in legs)
    return FormationTrajectory(formation, first, parts, impulses, runs=runs)


def _group(told: Told, variables: Variables, prefix: str, path: Path) -> Trajectory:
    trajectory = trajectory_of(told, below(variables, prefix), path)
    if not trajectory.batched:
        raise ResultError("holds a group without an axis of members.")
    return trajectory


def _members(header: _Header, g: str, trajectory: Trajectory) -> Group:
    """The group, with the values that its members do not share."""
    differ = {name: trajectory.parameters[name] for name in header.differ.get(g, [])}
    names = header.groups[g]
    if len(names) != trajectory.data.sizes["run"]:
        raise ResultError(f"holds {trajectory.data.sizes['run']} trajectories for the {len(names)} members of '{g}'.")
    return Group(trajectory.craft, tuple(names), differ)
