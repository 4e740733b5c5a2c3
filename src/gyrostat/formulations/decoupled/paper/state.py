"""This formulation's own state, with INERTIAL velocities of the centres of mass: what figure 6 of Valverde & Tsiotras
compares.

z = [quat_Nb of the base (4); its centre of mass in N (3); Gamma (joint coordinates as in q); per body w in B (3) and u
in N (3); wheel speeds]. Total linear momentum is linear in it, so every Runge-Kutta method keeps it to round-off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....algebra import Array, Pose, cross, rotation, transform_point
from ....kinematics import body_twists, inertial_poses, joint_poses
from ....kinematics.arguments import acting, configuration, rates
from ....model import Spacecraft
from ....model.kinds import quat_rate
from ...common.carriers import carrier_bodies, carriers
from ...common.joint_maps import joint_map
from ..newton_euler import newton_euler


def decoupled_state(craft: Spacecraft, q: Array, v: Array) -> Array:
    """z at the state (q, v)."""
    q, v = configuration(craft, q), rates(craft, v)
    _require_free_base(craft)
    V, X_NB, body = body_twists(craft, q, v, joint_poses(craft, q)), inertial_poses(craft, q), carriers(craft, {})
    quat = q[:4] / np.sqrt(q[:4] @ q[:4])
    velocities = []
    for B, _ in carrier_bodies(craft):
        w, v_o = V[B][:3], V[B][3:]
        velocities += [w, X_NB[B].R @ (v_o + cross(w, body[B].com))]
    position = transform_point(X_NB[craft.base], body[craft.base].com)
    wheels = [wheel.joint.rate(v) for wheel in craft.wheels]
    return np.concatenate([quat, position, q[7:], *velocities, *wheels])


def state_from_decoupled(craft: Spacecraft, z: Array) -> tuple[Array, Array]:
    """(q, v) at the state z."""
    q, w, u, speeds = _unpacked(craft, np.asarray(z))
    return q, _rates(craft, q, w, u, speeds)


def decoupled_state_rate(
    craft: Spacecraft, z: Array, tau: Array, *, wrenches: Any = None, prescribed: Mapping[str, Any] | None = None
) -> Array:
    """d/dt z."""
    q, w, u, speeds = _unpacked(craft, np.asarray(z))
    v = _rates(craft, q, w, u, speeds)
    solved = newton_euler(craft, q, w, v, acting(craft, tau, wrenches, prescribed))
    base = craft.base
    gamma = [
        joint.motion.qdot(q[joint.q_at], joint.rate(v))
        for joint in (craft.joint(B) for B, P in carrier_bodies(craft) if P is not None)
    ]
    wheels = [wheel.joint.rate(solved.vdot) for wheel in craft.wheels]
    accelerations = solved.body_accelerations.reshape(-1)
    return np.concatenate([quat_rate(q[:4], w[base]), u[base], *gamma, accelerations, *wheels])


def momentum_of_decoupled_state(craft: Spacecraft, z: Array) -> Array:
    """[angular about the inertial origin; linear] in N from the velocities in z themselves, constraint errors included,
    (6,).
    """
    q, w, u, speeds = _unpacked(craft, np.asarray(z))
    X_NB, body = inertial_poses(craft, q), carriers(craft, {})
    spin = dict(zip((wheel.name for wheel in craft.wheels), speeds, strict=True))
    total = np.zeros(6)
    for B, _ in carrier_bodies(craft):
        h = body[B].inertia @ w[B]
        for wheel in body[B].wheels:
            h = h + wheel.a * (wheel.J * (spin[wheel.name] + wheel.a @ w[B]))
        p = body[B].mass * u[B]
        total = total + np.concatenate([X_NB[B].R @ h + cross(transform_point(X_NB[B], body[B].com), p), p])
    return total


def _unpacked(craft: Spacecraft, z: Array) -> tuple[Array, dict[str, Array], dict[str, Array], Array]:
    """q, and by body the angular velocity in B and the velocity of the centre of mass in N; wheel speeds."""
    _require_free_base(craft)
    bodies = [B for B, _ in carrier_bodies(craft)]
    size = craft.nq + 6 * len(bodies) + len(craft.wheels)
    if z.shape != (size,):
        raise ValueError(
            f"z has shape {z.shape}; expected ({size},): pose of the base, Gamma, velocities, wheel speeds."
        )
    X_Nb = Pose(rotation(z[:4]), z[4:7])
    p_NB = transform_point(X_Nb, -carriers(craft, {})[craft.base].com)
    q = np.concatenate([z[:4], p_NB, z[7 : craft.nq]])
    rows = z[craft.nq : craft.nq + 6 * len(bodies)].reshape(-1, 6)
    w = {B: row[:3] for B, row in zip(bodies, rows, strict=True)}
    u = {B: row[3:] for B, row in zip(bodies, rows, strict=True)}
    return q, w, u, z[craft.nq + 6 * len(bodies) :]


def _rates(craft: Spacecraft, q: Array, w: dict[str, Array], u: dict[str, Array], speeds: Array) -> Array:
    """Joint rates from the relative velocities of body and parent at the joint's origin."""
    X_NB, X_PB, body = inertial_poses(craft, q), joint_poses(craft, q), carriers(craft, {})
    found = []
    for B, P in carrier_bodies(craft):
        R_BN, R_BP = X_NB[B].R.T, X_PB[B].R.T
        turn, slide = w[B], R_BN @ u[B] - cross(w[B], body[B].com)
        if P is not None:
            turn = turn - R_BP @ w[P]
            slide = slide - R_BN @ u[P] - R_BP @ cross(w[P], X_PB[B].p - body[P].com)
        maps = joint_map(craft.joint(B), q)
        R_iB = maps.R_Bi.T
        found.append(maps.L[:, 1:4] @ (R_iB @ turn) + maps.L[:, 5:] @ (R_iB @ slide))
    return np.concatenate([*found, speeds])


def _require_free_base(craft: Spacecraft) -> None:
    kind = craft.joint(craft.base).kind
    if kind != "free":
        raise ValueError(
            f"the base of {craft.name} is {kind}; this state is that of a free base. Use q and v with `solve` instead."
        )
