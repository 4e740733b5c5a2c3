"""M vdot_r + C(q, v) v_r: what the whole craft needs to follow a reference velocity, as loads and as a regressor.

C is the Christoffel matrix, for which Mdot - 2C is skew. With U and A the body twists and accelerations that v_r and
vdot_r make (the joints' maps changing at v), and Q(V) = V x* M V, the wrench on one body is

    F = M (A - 1/2 V x U) + 1/2 (Q(V + U) - Q(V) - Q(U)),                                                    (1)
    A = Ad A_P + H vdot_r + (Hdot + V x H) v_r                                                               (2)

which is M A + B U of `christoffel_matrix`: symmetric in V and U but for the maps' own change, linear in the inertial
parameters. Slotine & Li (1987), in body frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..algebra import Array, Pose, RigidInertia, cross_motion, twist_to_child, wrench_to_parent
from ..formulations.recursive.regressors import at_the_joints, body_regressor
from ..kinematics import ZERO6, body_twists, joint_poses
from ..model import Spacecraft


class Motions(NamedTuple):
    """By body, about Bo in B: its twist, that of the reference, and A of (2)."""

    X_PB: Mapping[str, Pose]
    V: Mapping[str, Array]
    U: Mapping[str, Array]
    A: Mapping[str, Array]


def reference_motions(craft: Spacecraft, q: Array, v: Array, v_r: Array, vdot_r: Array) -> Motions:
    X_PB = joint_poses(craft, q)
    V, U = body_twists(craft, q, v, X_PB), body_twists(craft, q, v_r, X_PB)
    A: dict[str, Array] = {}
    for B, P in craft.base_to_tip:
        joint = craft.joint(B)
        A[B] = ZERO6 if P is None else twist_to_child(X_PB[B], A[P])
        if joint.nv:
            own = joint.rate(v_r)
            H = joint.H(q)
            A[B] = A[B] + H @ joint.rate(vdot_r) + joint.map_rate(q, v) @ own + cross_motion(V[B], H @ own)  # (2)
    return Motions(X_PB, V, U, A)


def tracking_wrench(M: RigidInertia, V: Array, U: Array, A: Array) -> Array:
    """(1), (6,)."""
    both, one, other = (M.velocity_product(x) for x in (V + U, V, U))
    return M @ (A - 0.5 * cross_motion(V, U)) + 0.5 * (both - one - other)


def wrench_regressor(V: Array, U: Array, A: Array) -> Array:
    """(1) as W pi, (6, 10)."""
    both, one, other = (body_regressor(x, ZERO6) for x in (V + U, V, U))
    return body_regressor(ZERO6, A - 0.5 * cross_motion(V, U)) + 0.5 * (both - one - other)


def loads_of_wrenches(craft: Spacecraft, q: Array, X_PB: Mapping[str, Pose], F: Mapping[str, Array]) -> Array:
    """Loads (nv,) of all joints that make these wrenches on the bodies."""
    total = dict(F)
    loads: dict[str, Array] = {}
    for B, P in reversed(craft.base_to_tip):
        joint = craft.joint(B)
        loads[B] = joint.H(q).T @ total[B] if joint.nv else np.zeros(0)
        if P is not None:
            total[P] = total[P] + wrench_to_parent(X_PB[B], total[B])
    return np.concatenate([loads[B] for B, _ in craft.base_to_tip])


def tracking_force(craft: Spacecraft, q: Array, v: Array, v_r: Array, vdot_r: Array) -> Array:
    """M vdot_r + C v_r (nv,), rotors included."""
    X_PB, V, U, A = reference_motions(craft, q, v, v_r, vdot_r)
    F = {B: tracking_wrench(craft.inertia(B), V[B], U[B], A[B]) for B, _ in craft.base_to_tip}
    rotors = np.concatenate([joint.armature * joint.rate(vdot_r) for joint in craft.joints])
    return loads_of_wrenches(craft, q, X_PB, F) + rotors


def tracking_regressor(craft: Spacecraft, q: Array, v: Array, v_r: Array, vdot_r: Array) -> Array:
    """Y (nv, 10 nbodies) with `Y @ inertial_parameters(craft) = M vdot_r + C v_r`, rotors apart; for v_r = v the
    regressor of dynamics.
    """
    X_PB, V, U, A = reference_motions(craft, q, v, v_r, vdot_r)
    return at_the_joints(craft, q, X_PB, {B: wrench_regressor(V[B], U[B], A[B]) for B, _ in craft.base_to_tip})
