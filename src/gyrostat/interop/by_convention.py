"""States by what the manuals say: the base apart, then joints in gyrostat's order.

p_NB and v_NB_B belong to the base's origin Bo. SPART, SpaceDyn and 42 measure to its centre of mass Bc, at c in B:

    p_NBc = p_NB + R_NB c                                     (1)
    v_NBc = R_NB (v_NB_B + w_NB_B x c)                        (2)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..algebra import Array, quat_from_rotation, rotation
from ..attitude import convert
from ..formulations.recursive import momentum
from ..kinematics import center_of_mass, total_mass
from ..model import Spacecraft


class Drake(NamedTuple):
    """positions = [quat (w first), p_WB, joints]; velocities = [w_WB, v_WB, joints], both of the base in W."""

    positions: Array
    velocities: Array


class Spart(NamedTuple):
    """SPART: R0 = R_NB, r0 = p_NBc; u0 = [w in base axes; velocity of Bc in inertial axes]; qm, um of the joints."""

    R0: Array
    r0: Array
    qm: Array
    u0: Array
    um: Array


class SpaceDyn(NamedTuple):
    """SpaceDyn: A0 = R_NB, R0 = p_NBc; w0 and v0 = d/dt R0, both in inertial axes; q, qd of the joints."""

    R0: Array
    A0: Array
    v0: Array
    w0: Array
    q: Array
    qd: Array


class Basilisk(NamedTuple):
    """The hub's sigma_BN (modified Rodrigues), omega_BN_B, r_BN_N, v_BN_N; joints and wheels.

    r_CN_N and v_CN_N are of the centre of mass of all, what `hub.r_CN_NInit` and `hub.v_CN_NInit` want.
    """

    sigma_BN: Array
    omega_BN_B: Array
    r_BN_N: Array
    v_BN_N: Array
    q_joints: Array
    v_joints: Array
    r_CN_N: Array
    v_CN_N: Array


class FortyTwo(NamedTuple):
    """42: qn with w last, wn in base axes; pn and vn of Bc from the centre of mass of all, in N; joints and wheels.

    PosR and VelR are of that centre of mass, from the reference orbit, in N.
    """

    qn: Array
    wn: Array
    pn: Array
    vn: Array
    q_joints: Array
    v_joints: Array
    PosR: Array
    VelR: Array


def to_drake(craft: Spacecraft, q: Array, v: Array) -> Drake:
    """Positions and velocities of a `MultibodyPlant` whose base is a floating body; joints in the order of `craft`.

    q (nq,) and v (nv,) as everywhere; SI units. Raises ValueError unless `craft` is one spacecraft on a free base.
    """
    quat, R, p, w, u, joints, rates = _base(craft, q, v)
    return Drake(np.concatenate([quat, p, joints]), np.concatenate([R @ w, R @ u, rates]))


def from_drake(craft: Spacecraft, positions: Array, velocities: Array) -> tuple[Array, Array]:
    """q (nq,) and v (nv,), the way back of `to_drake`. Raises ValueError as it does."""
    R = rotation(positions[:4])
    return _state(
        craft, positions[:4], positions[4:7], R.T @ velocities[:3], R.T @ velocities[3:6], positions[7:], velocities[6:]
    )


def to_spart(craft: Spacecraft, q: Array, v: Array) -> Spart:
    """R0 (3, 3), r0 (3,), qm, u0 (6,), um of SPART. Raises ValueError unless `craft` is one on a free base."""
    _, R, p, w, u, joints, rates = _base(craft, q, v)
    c = _offset(craft)
    return Spart(R, p + R @ c, joints, np.concatenate([w, R @ (u + np.cross(w, c))]), rates)


def from_spart(craft: Spacecraft, state: Spart) -> tuple[Array, Array]:
    """q (nq,) and v (nv,), the way back of `to_spart`. Raises ValueError as it does."""
    R, r0, qm, u0, um = state
    c, w = _offset(craft), u0[:3]
    return _state(craft, quat_from_rotation(R), r0 - R @ c, w, R.T @ u0[3:] - np.cross(w, c), qm, um)


def to_spacedyn(craft: Spacecraft, q: Array, v: Array) -> SpaceDyn:
    """R0, A0, v0, w0, q, qd of SpaceDyn. Raises ValueError unless `craft` is one spacecraft on a free base."""
    R, r0, qm, u0, um = to_spart(craft, q, v)
    return SpaceDyn(r0, R, u0[3:], R @ u0[:3], qm, um)


def from_spacedyn(craft: Spacecraft, state: SpaceDyn) -> tuple[Array, Array]:
    """q (nq,) and v (nv,), the way back of `to_spacedyn`. Raises ValueError as it does."""
    R0, A0, v0, w0, qm, um = state
    return from_spart(craft, Spart(A0, R0, qm, np.concatenate([A0.T @ w0, v0]), um))


def to_basilisk(craft: Spacecraft, q: Array, v: Array) -> Basilisk:
    """The hub's states of Basilisk. |sigma| is at most 1: the shorter way round.

    Raises ValueError unless `craft` is one spacecraft on a free base.
    """
    quat, R, p, w, u, joints, rates = _base(craft, q, v)
    sigma = convert(quat if quat[0] >= 0 else -quat, "quaternion", "modified_rodrigues")
    return Basilisk(sigma, w, p, R @ u, joints, rates, *_whole(craft, q, v))


def from_basilisk(craft: Spacecraft, state: Basilisk) -> tuple[Array, Array]:
    """q (nq,) and v (nv,), the way back of `to_basilisk`; r_CN_N and v_CN_N are not looked at. Raises as it does."""
    sigma, w, p, u_N, joints, rates = state[:6]
    quat = convert(sigma, "modified_rodrigues", "quaternion")
    return _state(craft, quat, p, w, rotation(quat).T @ u_N, joints, rates)


def to_42(craft: Spacecraft, q: Array, v: Array) -> FortyTwo:
    """States of body 0 of 42, and of the spacecraft. Raises ValueError unless `craft` is one on a free base."""
    quat, _, _, w, _, joints, rates = _base(craft, q, v)
    _, r0, _, u0, _ = to_spart(craft, q, v)
    place, velocity = _whole(craft, q, v)
    return FortyTwo(np.roll(quat, -1), w, r0 - place, u0[3:] - velocity, joints, rates, place, velocity)


def from_42(craft: Spacecraft, state: FortyTwo) -> tuple[Array, Array]:
    """q (nq,) and v (nv,), the way back of `to_42`. Raises ValueError as it does."""
    qn, w, pn, vn, joints, rates, place, velocity = state
    R = rotation(np.roll(qn, 1))
    found = Spart(R, place + pn, joints, np.concatenate([w, velocity + vn]), rates)
    q, v = from_spart(craft, found)
    return np.concatenate([np.roll(qn, 1), q[4:]]), v


def _offset(craft: Spacecraft) -> Array:
    return np.asarray(craft.bodies[0].com, dtype=float)


def _whole(craft: Spacecraft, q: Array, v: Array) -> tuple[Array, Array]:
    """Place and velocity of the centre of mass of all, in N."""
    q, v = craft.q(q), craft.v(v)
    return center_of_mass(craft, q), momentum(craft, q, v)[3:] / total_mass(craft)


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
