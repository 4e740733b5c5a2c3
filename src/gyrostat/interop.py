"""States as other programs write them, and back: orders, axes, quaternions; docs/from-elsewhere.md is the dictionary.

`craft`, q and v are gyrostat's: q = [quat_NB (w first), p_NB, joints], v = [w_NB_B, v_NB_B, joints, wheels].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .algebra import Array, quat_from_rotation, rotation
from .attitude import convert
from .model import Spacecraft

# ---- programs whose models are at hand: their own order of joints


def to_pinocchio(craft: Spacecraft, model: Any, q: Array, v: Array) -> tuple[Array, Array]:
    """q and v of a `pinocchio.Model` of the same craft: linear first, quaternion w last, joints in its order."""
    from .verification.peers.pinocchio import Pinocchio

    peer = Pinocchio(craft, model=model)
    return peer.q(craft.q(q)), peer.v(craft.v(v))


def from_pinocchio(craft: Spacecraft, model: Any, q: Array, v: Array) -> tuple[Array, Array]:
    """The way back of `to_pinocchio`."""
    from .verification.peers.pinocchio import Pinocchio

    peer, found = Pinocchio(craft, model=model), np.zeros(craft.nq)
    for body in craft.bodies:
        joint = body.joint
        if joint.nq:
            theirs = peer.model.joints[peer.first[body.name]]
            found[joint.q_at] = _from_theirs(joint.kind, q[theirs.idx_q : theirs.idx_q + theirs.nq], w_last=True)
    return found, np.asarray(v, dtype=float)[peer.to]


def to_mujoco(craft: Spacecraft, model: Any, q: Array, v: Array) -> tuple[Array, Array]:
    """qpos and qvel of a `mujoco.MjModel` of the same craft: position first, the base's velocity in world axes."""
    from .verification.peers.mujoco import MuJoCo

    peer, q = MuJoCo(craft, model=model), craft.q(q)
    return peer.qpos(q), peer.T(q) @ craft.v(v)


def from_mujoco(craft: Spacecraft, model: Any, qpos: Array, qvel: Array) -> tuple[Array, Array]:
    """The way back of `to_mujoco`."""
    from .verification.peers.mujoco import MuJoCo

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


# ---- programs by their conventions: the base apart, joints in gyrostat's order


class Drake(NamedTuple):
    """positions = [quat (w first), p_WB, joints]; velocities = [w_WB, v_WB, joints], both of the base in W."""

    positions: Array
    velocities: Array


class Spart(NamedTuple):
    """SPART: R0 takes base components to inertial ones; u0 = [w in base axes; velocity in inertial axes]."""

    R0: Array
    r0: Array
    qm: Array
    u0: Array
    um: Array


class Basilisk(NamedTuple):
    """The hub's sigma_BN (modified Rodrigues), omega_BN_B, r_BN_N, v_BN_N; joints and wheels."""

    sigma_BN: Array
    omega_BN_B: Array
    r_BN_N: Array
    v_BN_N: Array
    q_joints: Array
    v_joints: Array


class FortyTwo(NamedTuple):
    """42: qn with w last, wn in base axes, pn and vn in inertial axes; joints and wheels."""

    qn: Array
    wn: Array
    pn: Array
    vn: Array
    q_joints: Array
    v_joints: Array


def to_drake(craft: Spacecraft, q: Array, v: Array) -> Drake:
    """Positions and velocities of a `MultibodyPlant` whose base is a floating body; joints in the order of `craft`."""
    quat, R, p, w, u, joints, rates = _base(craft, q, v)
    return Drake(np.concatenate([quat, p, joints]), np.concatenate([R @ w, R @ u, rates]))


def from_drake(craft: Spacecraft, positions: Array, velocities: Array) -> tuple[Array, Array]:
    """The way back of `to_drake`."""
    R = rotation(positions[:4])
    return _state(
        craft, positions[:4], positions[4:7], R.T @ velocities[:3], R.T @ velocities[3:6], positions[7:], velocities[6:]
    )


def to_spart(craft: Spacecraft, q: Array, v: Array) -> Spart:
    """R0, r0, qm, u0, um of SPART."""
    _, R, p, w, u, joints, rates = _base(craft, q, v)
    return Spart(R, p, joints, np.concatenate([w, R @ u]), rates)


def from_spart(craft: Spacecraft, state: Spart) -> tuple[Array, Array]:
    """The way back of `to_spart`."""
    R, r0, qm, u0, um = state
    return _state(craft, quat_from_rotation(R), r0, u0[:3], R.T @ u0[3:], qm, um)


def to_basilisk(craft: Spacecraft, q: Array, v: Array) -> Basilisk:
    """The hub's states of Basilisk. |sigma| is at most 1: the shorter way round."""
    quat, R, p, w, u, joints, rates = _base(craft, q, v)
    sigma = convert(quat if quat[0] >= 0 else -quat, "quaternion", "modified_rodrigues")
    return Basilisk(sigma, w, p, R @ u, joints, rates)


def from_basilisk(craft: Spacecraft, state: Basilisk) -> tuple[Array, Array]:
    """The way back of `to_basilisk`."""
    sigma, w, p, u_N, joints, rates = state
    quat = convert(sigma, "modified_rodrigues", "quaternion")
    return _state(craft, quat, p, w, rotation(quat).T @ u_N, joints, rates)


def to_42(craft: Spacecraft, q: Array, v: Array) -> FortyTwo:
    """States of body 0 of 42."""
    quat, R, p, w, u, joints, rates = _base(craft, q, v)
    return FortyTwo(np.roll(quat, -1), w, p, R @ u, joints, rates)


def from_42(craft: Spacecraft, state: FortyTwo) -> tuple[Array, Array]:
    """The way back of `to_42`."""
    quat = np.roll(state.qn, 1)
    return _state(craft, quat, state.pn, state.wn, rotation(quat).T @ state.vn, state.q_joints, state.v_joints)


def _base(craft: Spacecraft, q: Array, v: Array) -> tuple[Array, ...]:
    """quat_NB, R_NB, p_NB, w_NB_B, v_NB_B, and the rest of q and of v."""
    _needs_a_free_base(craft)
    q, v = craft.q(q), craft.v(v)
    quat = q[:4] / np.linalg.norm(q[:4])
    return quat, rotation(quat), q[4:7], v[:3], v[3:6], q[7:], v[6:]


def _state(
    craft: Spacecraft, quat: Array, p: Array, w: Array, u: Array, joints: Array, rates: Array
) -> tuple[Array, Array]:
    _needs_a_free_base(craft)
    return np.concatenate([quat, p, joints]), np.concatenate([w, u, rates])


def _needs_a_free_base(craft: Spacecraft) -> None:
    kind = craft.bodies[0].joint.kind
    if kind != "free" or len(craft.members) > 1:
        found = f"a {kind} base" if kind != "free" else f"{len(craft.members)} members"
        raise ValueError(
            f"{craft.name} has {found}; expected one spacecraft on a free base. Convert members one by one."
        )
