"""States of programs whose models are at hand, in their own order of joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array
from ..model import Spacecraft


def to_pinocchio(craft: Spacecraft, model: Any, q: Array, v: Array) -> tuple[Array, Array]:
    """q and v of a `pinocchio.Model` of the same craft: linear first, quaternion w last, joints in its order."""
    from ..verification.peers.pinocchio import Pinocchio

    peer = Pinocchio(craft, model=model)
    return peer.q(craft.q(q)), peer.v(craft.v(v))


def from_pinocchio(craft: Spacecraft, model: Any, q: Array, v: Array) -> tuple[Array, Array]:
    """The way back of `to_pinocchio`."""
    from ..verification.peers.pinocchio import Pinocchio

    peer, found = Pinocchio(craft, model=model), np.zeros(craft.nq)
    for body in craft.bodies:
        joint = body.joint
        if joint.nq:
            theirs = peer.model.joints[peer.first[body.name]]
            found[joint.q_at] = _from_theirs(joint.kind, q[theirs.idx_q : theirs.idx_q + theirs.nq], w_last=True)
    return found, np.asarray(v, dtype=float)[peer.to]


def to_mujoco(craft: Spacecraft, model: Any, q: Array, v: Array) -> tuple[Array, Array]:
    """qpos and qvel of a `mujoco.MjModel` of the same craft: position first, the base's velocity in world axes."""
    from ..verification.peers.mujoco import MuJoCo

    peer, q = MuJoCo(craft, model=model), craft.q(q)
    return peer.qpos(q), peer.T(q) @ craft.v(v)


def from_mujoco(craft: Spacecraft, model: Any, qpos: Array, qvel: Array) -> tuple[Array, Array]:
    """The way back of `to_mujoco`."""
    from ..verification.peers.mujoco import MuJoCo

    peer, q = MuJoCo(craft, model=model), np.zeros(craft.nq)
    for joint in craft.joints:
        if joint.nq:
            at = peer.place(joint)[0]
            q[joint.q_at] = _from_theirs(joint.kind, qpos[at : at + joint.nq], w_last=False)
    return q, peer.T(q).T @ qvel  # orthogonal, joint by joint


def _from_theirs(kind: str, values: Array, *, w_last: bool) -> Array:
    if kind == "free":
        return np.concatenate([_w_first(values[3:], w_last), values[:3]])
    if kind == "spherical":
        return _w_first(values, w_last)
    if kind == "planar" and len(values) == 4:
        return np.array([values[0], values[1], np.arctan2(values[3], values[2])])
    if len(values) == 2 and kind == "revolute":  # continuous, as cosine and sine
        return np.array([np.arctan2(values[1], values[0])])
    return np.asarray(values, dtype=float)


def _w_first(quat: Array, w_last: bool) -> Array:
    return np.roll(quat, 1) if w_last else np.asarray(quat, dtype=float)
