"""Trajectories as NetCDF, complete and readable anywhere; as MATLAB files see results_mat.

A NetCDF file holds the states, loads and audit integrals with their names and units, the model (as TOML), version,
tolerances, seed and audit, and what a continued run starts from. Its last line is a digest of all the rest. It is made
in memory and written whole: a half-written file is never taken for a result,
and a full disk costs nothing that was there.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..algebra import Array
from ..simulation.engine.system import State
from ..simulation.result.trajectory import Trajectory
from .results_mat import mat_bytes, read_mat
from .results_netcdf import Variable, netcdf_bytes
from .results_read import CONVENTIONS, PARAMETER, STATE, read_trajectory, trailer
from .toml.craft_writer import to_toml
from .writing import write_bytes


def save_trajectory(
    trajectory: Trajectory, path: str | Path, *, dtype: Any = "float64", compress: bool = False
) -> Path:
    """Write .nc or .mat, by the suffix.

    compress: in chunks, by deflate, which HDF5 and MATLAB read by themselves. dtype: "float32" keeps what is saved over
    time with seven digits; what a continued run starts from, times and the audit keep all sixteen.
    """
    path = Path(path)
    if np.dtype(dtype) not in (np.dtype("f8"), np.dtype("f4")):
        raise ValueError(f"dtype is {dtype!r}; expected 'float64' or 'float32'.")
    if path.suffix == ".nc":
        content = netcdf_of(trajectory, np.dtype(dtype), compress)
        return write_bytes(path, content, trailer(hashlib.sha256(content).digest()))
    if path.suffix == ".mat":
        return write_bytes(path, mat_bytes(trajectory, np.dtype(dtype), compress))
    raise ValueError(f"'{path}': a trajectory is saved as .nc (NetCDF) or .mat (MATLAB), not as '{path.suffix}'.")


def load_trajectory(path: str | Path) -> Trajectory:
    """Read what `save_trajectory` wrote. Raises a `ResultError` for anything else."""
    path = Path(path)
    return read_mat(path) if path.suffix == ".mat" else read_trajectory(path)


def variables_of(trajectory: Trajectory) -> Any:
    """The Dataset with the loads in it."""
    data = trajectory.data
    return data if "tau" in data else data.merge(trajectory.signals)


def netcdf_of(trajectory: Trajectory, dtype: np.dtype[Any], compress: bool) -> memoryview:
    made, told = contents(trajectory)
    if dtype != np.dtype("f8"):
        made = {name: _shortened(name, x, dtype) for name, x in made.items()}
    attributes = {
        "Conventions": CONVENTIONS,
        "title": f"trajectory of {trajectory.craft.name}",
        "source": f"gyrostat {trajectory.data.attrs['gyrostat']}",
        "audit": str(trajectory.audit),
        "coordinates": " ".join(str(name) for name in trajectory.data.coords if name not in trajectory.data.dims),
    }
    return netcdf_bytes(made, {**attributes, **told}, {"format": CONVENTIONS, **told}, compress=compress)


def _shortened(name: str, x: Variable, dtype: np.dtype[Any]) -> Variable:
    """With fewer digits, if it is saved over time."""
    over_time = "time" in x.dims and x.dims != ("time",) and not name.startswith((STATE, PARAMETER))
    return x._replace(values=x.values.astype(dtype)) if over_time and x.values.dtype == np.float64 else x


def contents(trajectory: Trajectory) -> tuple[dict[str, Variable], dict[str, str]]:
    """Its arrays by name, and its model and notes as text."""
    data = variables_of(trajectory)
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


def contents_below(prefix: str, trajectory: Trajectory, made: dict[str, Variable]) -> dict[str, str]:
    """One of several in a file: adds its arrays to `made`; returns its model and notes."""
    own, told = contents(trajectory)
    for name, x in own.items():
        made[prefix + name] = Variable(tuple(prefix + dim for dim in x.dims), x.values, x.attributes)
    return told


def _storable(values: Array) -> Array:
    return values.astype(np.int8) if values.dtype.kind == "b" else values


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return str(value)
