"""Saved rows of a run as an xarray Dataset with named dimensions and units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array
from ..model import Spacecraft
from ..tracing import Kernel, trace
from .equations import Equations

if TYPE_CHECKING:
    import xarray

WRENCH = ("torque x", "torque y", "torque z", "force x", "force y", "force z")
_PARTS = {
    "free": (("qw", "qx", "qy", "qz", "x", "y", "z"), ("wx", "wy", "wz", "vx", "vy", "vz")),
    "spherical": (("qw", "qx", "qy", "qz"), ("wx", "wy", "wz")),
    "planar": (("x", "y", "angle"), ("rate", "vx", "vy")),
    "cartesian": (("x", "y", "z"), ("vx", "vy", "vz")),
    "cylindrical": (("angle", "displacement"), ("rate", "speed")),
    "universal": (("angle 1", "angle 2"), ("rate 1", "rate 2")),
}


def coordinate_names(craft: Spacecraft) -> tuple[list[str], list[str], list[str], list[str]]:
    """Names of the entries of q and of v, and their units."""
    q: list[str] = []
    v: list[str] = []
    q_units: list[str] = []
    v_units: list[str] = []
    for joint in craft.joints:
        of_q, of_v = _PARTS.get(joint.kind, (("",) * joint.nq, ("",) * joint.nv))
        q += [f"{joint.name} {part}".strip() for part in of_q]
        v += [f"{joint.name} {part}".strip() for part in of_v]
        q_units += joint.motion.q_units
        v_units += joint.motion.v_units
    return q, v, q_units, v_units


def dataset(equations: Equations, times: Array, rows: Array, constants: Array, single: bool) -> xarray.Dataset:
    """rows: (runs, times, y and held). Quaternions are scaled to norm one."""
    import xarray

    craft, at, offset = equations.craft, equations.layout, equations.state_at.start
    q = rows[..., at["q"].start - offset : at["q"].stop - offset].copy()
    for joint in craft.joints:
        if joint.kind in ("free", "spherical"):
            quat = slice(joint.q_at.start, joint.q_at.start + 4)
            q[..., quat] /= np.linalg.norm(q[..., quat], axis=-1, keepdims=True)
    v = rows[..., at["v"].start - offset : at["v"].stop - offset]
    if equations.conserve:
        v = _velocities(equations, times, rows, constants)
    names = coordinate_names(craft)
    values: dict[str, Any] = {
        "q": (("q_name",), q, {"long_name": "configuration"}),
        "v": (("v_name",), v, {"long_name": "velocity"}),
        "work": ((), rows[..., at["work"].start - offset], {"units": "J", "long_name": "work of all loads"}),
    }
    impulse = np.zeros((*rows.shape[:2], 6))
    if at.width("impulse"):
        impulse = rows[..., at["impulse"].start - offset : at["impulse"].stop - offset]
    impulse = np.where(np.isnan(rows[..., :1]), np.nan, impulse)
    values["impulse"] = (
        ("wrench",),
        impulse,
        {"units": "N m s, N s", "long_name": "impulse of external loads about the origin"},
    )
    for name, title in (("z", "memory of the controller"), ("load", "loads of the actuators")):
        if at.width(name):
            part = rows[..., at[name].start - offset : at[name].stop - offset]
            values[name] = (("v_name",) if name == "load" else ("z_name",), part, {"long_name": title})
    start = equations.state_at.stop - offset
    if at.width("held"):
        values["held"] = (("v_name",), rows[..., start : start + craft.nv], {"long_name": "held torque"})
    if at.width("held_z"):
        values["held_z"] = (
            ("memory_name",),
            rows[..., start + at.width("held") :],
            {"long_name": "memory of the controller"},
        )
    lead = ("time",) if single else ("run", "time")
    variables = {n: ((*lead, *dims), x[0] if single else x, attributes) for n, (dims, x, attributes) in values.items()}
    coords: dict[str, Any] = {
        "time": ("time", times, {"units": "s"}),
        "q_name": names[0],
        "v_name": names[1],
        "q_units": ("q_name", names[2]),
        "v_units": ("v_name", names[3]),
        "body": [body.name for body in craft.bodies],
        "wrench": list(WRENCH),
    }
    if not single:
        coords["run"] = constants[:, 0].astype(int)
    return xarray.Dataset(variables, coords=coords)


def _velocities(equations: Equations, times: Array, rows: Array, constants: Array) -> Array:
    """v with the base that follows from the momentum, at every row."""
    kernel = Kernel(trace(equations.velocity, None, inputs={"x": (equations.layout.size,)}))
    t = np.broadcast_to(times[None, :, None], (*rows.shape[:2], 1))
    fixed = np.broadcast_to(constants[:, None, :], (*rows.shape[:2], constants.shape[-1]))
    return kernel(np.concatenate([t, rows, fixed], axis=-1))
