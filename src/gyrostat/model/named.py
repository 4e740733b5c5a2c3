"""Arrays from values by name, and back: q and v by joint, wrenches and other rows by body.

An array stands for itself everywhere: `craft.q(x)` and its kin give back what is no mapping, untouched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array, Pose, cross, quat_from_rotation
from .parts import Joint

if TYPE_CHECKING:
    from .spacecraft import Spacecraft


def coordinates(craft: Spacecraft, values: Mapping[str, Any]) -> Array:
    """q (..., nq): those of the joints named, the others neutral. A free joint takes seven numbers, or a Pose."""
    given = {name: _pose(value) if isinstance(value, Pose) else value for name, value in values.items()}
    parts = {joint.name: (joint, joint.nq, joint.motion.neutral()) for joint in craft.joints}
    return _joined(craft, given, parts, "q", "coordinates")


def rates(craft: Spacecraft, values: Mapping[str, Any], what: str = "v") -> Array:
    """v (or vdot, tau, dv) (..., nv): those of the joints named, zero elsewhere."""
    parts = {joint.name: (joint, joint.nv, np.zeros(joint.nv)) for joint in craft.joints}
    return _joined(craft, values, parts, what, "values")


def wrenches(craft: Spacecraft, values: Mapping[str, Any]) -> Array:
    """(nbodies, 6) in B about Bo: those on the bodies named, zero elsewhere.

    On a frame: given in its axes about its origin. Several on one body add up.
    """
    rows: list[Any] = [np.zeros(6) for _ in craft.bodies]
    for name, value in values.items():
        body, X_BF = craft.locate(name)
        F = np.asarray(value)
        if F.shape != (6,):
            raise ValueError(
                f"wrenches['{name}'] has shape {F.shape}; expected (6,): [torque; force] about its origin."
            )
        if name != body:
            force = X_BF.R @ F[3:]
            F = np.concatenate([X_BF.R @ F[:3] + cross(X_BF.p, force), force])
        k = craft.index(body)
        rows[k] = rows[k] + F
    return np.array(rows)


def _joined(
    craft: Spacecraft, values: Mapping[str, Any], parts: Mapping[str, tuple[Joint, int, Array]], what: str, units: str
) -> Array:
    found = []
    for name in values:
        craft.joint_named(name)  # which knows the nearest name
    for name, (joint, count, missing) in parts.items():
        if name not in values:
            found.append(missing)
            continue
        value = np.asarray(values[name])
        if count == 1 and value.shape[-1:] != (1,):
            value = value[..., None]  # one number for each run
        if value.shape[-1:] != (count,):
            raise ValueError(
                f"{what}['{name}'] has shape {np.shape(values[name])}; expected the {count} {units} of a {joint.kind} "
                "joint."
            )
        found.append(value)
    batch = np.broadcast_shapes(*(part.shape[:-1] for part in found))
    return np.concatenate([np.broadcast_to(part, (*batch, part.shape[-1])) for part in found], axis=-1)


def _pose(X: Pose) -> Array:
    return np.concatenate([quat_from_rotation(X.R), X.p])
