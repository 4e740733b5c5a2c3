"""Trajectories as NetCDF, complete and readable anywhere, and as MATLAB files.

A NetCDF file holds the states, loads and audit integrals with their names and units, the model (as TOML), version, tolerances,
seed and audit, and what a continued run starts from. It is written under another name first: a half-written file is never taken
for a result.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..simulation.engine.system import State
from ..simulation.result.trajectory import Event, Trajectory
from .files import whole_file
from .toml_read import read_toml
from .toml_write import to_toml

_STATE = ("t", "y", "held", "h", "status", "steps", "rejections", "g", "past")


def save_trajectory(trajectory: Trajectory, path: str | Path) -> Path:
    """Write .nc or .mat, by the suffix."""
    path = Path(path)
    writers = {".nc": _write_netcdf, ".mat": _write_mat}
    if path.suffix not in writers:
        raise ValueError(f"'{path}': a trajectory is saved as .nc (NetCDF) or .mat (MATLAB), not as '{path.suffix}'.")
    with whole_file(path) as temporary:
        writers[path.suffix](trajectory, str(temporary))
    return path


def _variables(trajectory: Trajectory) -> Any:
    """The Dataset with the loads in it."""
    data = trajectory.data
    return data if "tau" in data else data.merge(trajectory.signals)


def _write_netcdf(trajectory: Trajectory, path: str) -> None:
    data = _variables(trajectory).copy()
    attributes = dict(trajectory.data.attrs)
    data.attrs = {}
    for name in _STATE:
        value = getattr(trajectory.state, name)
        data[f"state_{name}"] = (("member", f"state_{name}_index")[: value.ndim], value)
    data["run_constants"] = (("member", "constant"), trajectory.constants)
    for name, value in trajectory.parameters.items():
        data[f"parameter {name}"] = (("member", *(f"{name} {k}" for k in range(value.ndim - 1))), value)
    if trajectory.events:
        data["event_q"] = (("event", "q_name"), np.array([e.q for e in trajectory.events]))
        data["event_v"] = (("event", "v_name"), np.array([e.v for e in trajectory.events]))
    notes = {
        "events": [(e.run, e.name, e.t) for e in trajectory.events],
        "interrupted": trajectory.interrupted,
        **{name: _plain(value) for name, value in attributes.items()},
    }
    data.attrs = {
        "Conventions": "gyrostat-1",
        "title": f"trajectory of {trajectory.craft.name}",
        "source": f"gyrostat {attributes['gyrostat']}",
        "model_toml": to_toml(trajectory.craft, Path()),
        "audit": str(trajectory.audit),
        "notes": json.dumps(notes),
    }
    data.to_netcdf(path, engine="h5netcdf")


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def load_trajectory(path: str | Path) -> Trajectory:
    """Read what `save_trajectory` wrote as NetCDF."""
    import xarray

    path = Path(path)
    if not path.is_file():
        raise ValueError(f"'{path}' does not exist; expected a trajectory saved by gyrostat (.nc).")
    try:
        with xarray.open_dataset(path, engine="h5netcdf") as file:
            data = file.load()
    except (OSError, ValueError) as error:
        raise ValueError(f"'{path}' cannot be read as NetCDF: {error}.") from None
    if data.attrs.get("Conventions") != "gyrostat-1":
        raise ValueError(f"'{path}' is NetCDF, but was not written by gyrostat.")
    craft = read_toml(data.attrs["model_toml"].encode(), str(path))
    notes = json.loads(data.attrs["notes"])
    state = State(*(data[f"state_{name}"].values for name in _STATE))
    happened = notes.pop("events")
    states = zip(data["event_q"].values, data["event_v"].values, strict=True) if happened else ()
    events = tuple(Event(run, name, t, q, v) for (run, name, t), (q, v) in zip(happened, states, strict=True))
    interrupted = notes.pop("interrupted")
    notes["t_span"], notes["failures"] = tuple(notes["t_span"]), tuple(notes["failures"])
    prefix = "parameter "
    constants = data["run_constants"].values
    parameters = {str(n).removeprefix(prefix): data[n].values for n in data if str(n).startswith(prefix)}
    data = data.drop_vars([n for n in data if str(n).startswith(("state_", prefix, "event_", "run_constants"))])
    data.attrs = notes
    return Trajectory(craft, data, state, constants, parameters, events, None, interrupted)


def _write_mat(trajectory: Trajectory, path: str) -> None:
    from scipy.io import savemat

    data = _variables(trajectory)
    content = {
        name: data[name].values for name in ("time", "q", "v", "command", "tau", "vdot", "wrenches", "impulse", "work")
    }
    content |= {
        name: np.array([str(x) for x in data[name].values], dtype=object)
        for name in ("q_name", "v_name", "q_units", "v_units", "body")
    }
    content["model"], content["gyrostat"] = trajectory.craft.name, trajectory.data.attrs["gyrostat"]
    content["audit"] = str(trajectory.audit)
    savemat(path, content)
