"""How bases moved: each by its name, and those of a formation as seen from its chief."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..algebra import Array, quat_conjugate, quat_log, quat_multiply
from ..formation.told import ORBIT, PLACE, SPENT
from ..model import Body, Spacecraft
from ..simulation.result.figures import CHIEF, base_name, bound_bases, free_bases, seen_from, turned
from .panels import AnyPanel, Panel, Plane

if TYPE_CHECKING:
    from ..simulation import Trajectory

XYZ = ("x", "y", "z")
HILL = ("radial", "along track", "normal")
TUMBLES = 170.0  # deg from the start: beyond, a rotation vector jumps


def base_panels(trajectory: Trajectory) -> list[Panel]:
    """Attitude and place since the start, and both rates. Followers of a formation: as seen from their chief."""
    chief = trajectory.data.attrs.get(CHIEF)
    found = []
    for body in free_bases(trajectory):
        at, vt = body.joint.q_at.start, body.joint.v_at.start
        q, v = trajectory.q[..., at + 4 : at + 7], trajectory.v[..., vt : vt + 6]
        name = base_name(trajectory, body)
        who = "Base" if name == "base" else name
        seen = seen_from(trajectory, name)
        found.append(_attitude(trajectory, body, who, seen))
        if chief is None:
            found.append(Panel(f"{who}: position since the start", "m", q - q[..., :1, :], XYZ))
        found.append(Panel(f"{who}: angular velocity, own axes{seen}", "deg/s", np.degrees(v[..., :3]), XYZ))
        if chief is None:
            found.append(Panel(f"{who}: velocity, own axes", "m/s", v[..., 3:], XYZ))
    for body in bound_bases(trajectory):
        found += _bound(trajectory, body)
    return found


def _attitude(trajectory: Trajectory, body: Body, who: str, seen: str) -> Panel:
    """As a rotation vector from the start; as its angle where the craft tumbles."""
    vector = _rotation_vector(trajectory, body)
    if np.nanmax(np.linalg.norm(vector, axis=-1), initial=0.0) < TUMBLES:
        return Panel(f"{who}: rotation since the start, rotation vector{seen}", "deg", vector, XYZ)
    angle = turned(trajectory, body.joint)[..., None]
    return Panel(f"{who}: angle from the attitude at the start{seen}", "deg", angle, ("angle",))


def _rotation_vector(trajectory: Trajectory, body: Body) -> Array:
    from ..tracing import compile

    at = body.joint.q_at.start

    def since(craft: Spacecraft, q: Array, start: Array) -> Array:
        return quat_log(quat_multiply(quat_conjugate(start), q[at : at + 4]))

    q = trajectory.q
    return np.degrees(compile(since, trajectory.craft, inputs={"start": (4,)})(q, q[..., :1, at : at + 4]))


def quaternion_panels(trajectory: Trajectory) -> list[Panel]:
    """Only where they are asked for: components without jumps of sign."""
    found = []
    for body in free_bases(trajectory):
        at = body.joint.q_at.start
        quat = np.nan_to_num(trajectory.q[..., at : at + 4], nan=1.0)
        flips = np.sign(np.sum(quat[..., 1:, :] * quat[..., :-1, :], axis=-1, keepdims=True))
        signs = np.concatenate([np.ones_like(quat[..., :1, :1]), np.cumprod(flips, axis=-2)], axis=-2)
        values = signs * trajectory.q[..., at : at + 4]
        found.append(Panel(f"{base_name(trajectory, body)}: attitude, quaternion", "", values, ("w", *XYZ)))
    return found


def _bound(trajectory: Trajectory, body: Body) -> list[Panel]:
    """Of a base on a table or a bearing: a picture for each sort of its coordinates and rates."""
    name, joint = base_name(trajectory, body), body.joint
    who, motion = "Base" if name == "base" else name, joint.motion
    found = []
    if motion.quaternion is not None:
        angle = turned(trajectory, joint)[..., None]
        found.append(Panel(f"{who}: angle from the attitude at the start", "deg", angle, ("angle",)))
    q, v = trajectory.q[..., joint.q_at], trajectory.v[..., joint.v_at]
    places = (("m", "position since the start"), ("rad", "angle since the start"))
    rates = (("m/s", "velocity"), ("rad/s", "angular velocity"))
    for values, units, names, pictures in (
        (q - q[..., :1, :], motion.q_units, "q_name", places),
        (v, motion.v_units, "v_name", rates),
    ):
        at = joint.q_at if names == "q_name" else joint.v_at
        labels = [str(one).removeprefix(joint.name).strip() or joint.name for one in trajectory.data[names].values[at]]
        for unit, words in pictures:
            own = [k for k, one in enumerate(units) if one == unit]
            if own:
                factor, shown = (180 / np.pi, unit.replace("rad", "deg")) if unit.startswith("rad") else (1.0, unit)
                found.append(Panel(f"{who}: {words}", shown, factor * values[..., own], tuple(labels[k] for k in own)))
    return found


def together_panels(trajectory: Trajectory) -> Sequence[AnyPanel]:
    """Of a formation: three planes and space in the chief's frame, distances, what was spent."""
    data = trajectory.data
    if PLACE not in data:
        return []
    names, chief = tuple(map(str, data["craft"].values)), data.attrs[CHIEF]
    unit, size = ("km", 1e-3) if np.nanmax(np.abs(data[PLACE].values), initial=0.0) > 2e4 else ("m", 1.0)
    place, axes = size * data[PLACE].values, HILL if ORBIT in data.attrs else XYZ
    where = f"Seen from {chief}"
    found: list[AnyPanel] = [
        Plane(f"{where}: {words}", unit, place[..., at], names, tuple(axes[k] for k in at))
        for words, at in (
            ("the plane of the orbit", [1, 0]),
            ("along track and normal", [1, 2]),
            ("radial and normal", [0, 2]),
        )
    ]
    if ORBIT not in data.attrs:
        found = [Plane(f"{where}: {axes[i]} and {axes[k]}", unit, place[..., [i, k]], names, (axes[i], axes[k]))
                 for i, k in ((0, 1), (0, 2), (1, 2))]  # fmt: skip
    found.append(Plane(f"{where}: in space", unit, place, names, axes))
    others = [k for k, name in enumerate(names) if name != chief]
    if others:
        far = np.linalg.norm(place[others], axis=-1).T
        found.append(Panel(f"Distance from {chief}", unit, far, tuple(names[k] for k in others), colors=tuple(others)))
    pairs = [(i, k) for n, i in enumerate(others) for k in others[n + 1 :]]
    if 0 < len(pairs) <= 10:
        far = np.stack([np.linalg.norm(place[i] - place[k], axis=-1) for i, k in pairs], axis=-1)
        found.append(
            Panel("Distances between the others", unit, far, tuple(f"{names[i]}, {names[k]}" for i, k in pairs))
        )
    spent = data[SPENT].values.T
    if np.nanmax(spent, initial=0.0) > 0:
        found.append(Panel("Velocity spent, by impulses and thrust", "m/s", spent, names))
    return found
