"""Trajectories as NetCDF, complete and readable anywhere, and as MATLAB files.

A NetCDF file holds the states, loads and audit integrals with their names and units, the model (as TOML), version,
tolerances, seed and audit, and what a continued run starts from. Its last line is a digest of all the rest. It is made
in memory and written whole: a half-written file is never taken for a result,
and a full disk costs nothing that was there.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields, is_dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..algebra import Array
from ..simulation.engine.system import State
from ..simulation.result.trajectory import Trajectory
from .results_netcdf import Variable, netcdf_bytes
from .results_read import CONVENTIONS, PARAMETER, STATE, read_trajectory, trailer
from .toml.craft_writer import to_toml
from .writing import write_bytes

MAT = ("time", "q", "v", "command", "tau", "vdot", "wrenches", "impulse", "work")
MAT_NAMES = ("q_name", "v_name", "q_units", "v_units", "body")


def save_trajectory(trajectory: Trajectory, path: str | Path) -> Path:
    """Write .nc or .mat, by the suffix."""
    path = Path(path)
    if path.suffix == ".nc":
        content = _netcdf(trajectory)
        return write_bytes(path, content, trailer(hashlib.sha256(content).digest()))
    if path.suffix == ".mat":
        return write_bytes(path, _mat(trajectory))
    raise ValueError(f"'{path}': a trajectory is saved as .nc (NetCDF) or .mat (MATLAB), not as '{path.suffix}'.")


def load_trajectory(path: str | Path) -> Trajectory:
    """Read what `save_trajectory` wrote as NetCDF. Raises a `ResultError` for anything else."""
    return read_trajectory(Path(path))


def _variables(trajectory: Trajectory) -> Any:
    """The Dataset with the loads in it."""
    data = trajectory.data
    return data if "tau" in data else data.merge(trajectory.signals)


def _netcdf(trajectory: Trajectory) -> memoryview:
    made, told = contents(trajectory)
    attributes = {
        "Conventions": CONVENTIONS,
        "title": f"trajectory of {trajectory.craft.name}",
        "source": f"gyrostat {trajectory.data.attrs['gyrostat']}",
        "audit": str(trajectory.audit),
        "coordinates": " ".join(str(name) for name in trajectory.data.coords if name not in trajectory.data.dims),
    }
    return netcdf_bytes(made, {**attributes, **told}, {"format": CONVENTIONS, **told})


def contents(trajectory: Trajectory) -> tuple[dict[str, Variable], dict[str, str]]:
    """Its arrays by name, and its model and notes as text."""
    data = _variables(trajectory)
    made = {
        str(name): Variable(tuple(map(str, x.dims)), _storable(x.values), x.attrs) for name, x in data.variables.items()
    }
    for field in fields(State):
        value = getattr(trajectory.state, field.name)
        dims = ("member" if len(value) == len(trajectory.state.t) else f"{STATE}{field.name}_rows",)
        made[STATE + field.name] = Variable((*dims, f"{STATE}{field.name}_index")[: value.ndim], value)
    made["run_constants"] = Variable(("member", "constant"), trajectory.constants)
    for name, value in trajectory.parameters.items():
        made[PARAMETER + name] = Variable(("member", *(f"{name} {k}" for k in range(value.ndim - 1))), value)
    if trajectory.events:
        made["event_q"] = Variable(("event", "q_name"), np.array([e.q for e in trajectory.events]))
        made["event_v"] = Variable(("event", "v_name"), np.array([e.v for e in trajectory.events]))
    notes = {
        "events": [(e.run, e.name, e.t) for e in trajectory.events],
        "interrupted": trajectory.interrupted,
        **trajectory.data.attrs,
    }
    return made, {"model_toml": to_toml(trajectory.craft, Path()), "notes": json.dumps(notes, default=_plain)}


def _storable(values: Array) -> Array:
    return values.astype(np.int8) if values.dtype.kind == "b" else values


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return str(value)


def _mat(trajectory: Trajectory) -> memoryview:
    from scipy.io import savemat

    data = _variables(trajectory)
    content: dict[str, Any] = {name: data[name].values for name in MAT}
    content |= {name: np.array([str(x) for x in data[name].values], dtype=object) for name in MAT_NAMES}
    content["model"], content["gyrostat"] = trajectory.craft.name, trajectory.data.attrs["gyrostat"]
    content["audit"] = str(trajectory.audit)
    file = BytesIO()
    savemat(file, content)
    return file.getbuffer()
