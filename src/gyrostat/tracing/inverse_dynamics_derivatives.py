"""Derivatives of inverse dynamics in closed form, all joint kinds:
far fewer operations than differentiating it line by line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import (
    Array,
    Pose,
    cross_force,
    cross_motion,
    cross_motion_matrix,
    skew,
    twist_to_child,
    unboxed,
    wrench_to_parent,
)
from ..algebra import inertia_to_parent as symmetric_to_parent
from ..kinematics import ZERO6, body_twists, joint_poses
from ..kinematics.lean import lean
from ..model import Spacecraft
from ..model.parts import Joint
from .jacobian import jacobian_of


def inverse_dynamics_derivatives(craft: Spacecraft, q: Array, v: Array, vdot: Array) -> tuple[Array, Array]:
    """d tau / d q in tangent coordinates and d tau / d v of `inverse_dynamics`, both (nv, nv).

    A rate or coordinate of joint J changes the twist of every body B beyond it by the same twist g, and its
    acceleration by u - V_B x g, u again the same; so with 2 B g = V x* M g + g x* M V - M (V x g), summed over what
    each joint carries (M^c, B^c):

        dF_B = 2 B^c g + M^c u                                                              (1)
        by v_J:  g = H,              u = dA_J - g x V_J,  dA_J = V_J x H + H x (H v) + d(bias)/dv   (2)
        by q_J:  g = V_P x H + E_v,  u = dA_J - g x V_J,  dA_J = A_P x H + E_a + g x (H v) + V_J x E_v   (3)

    with V_P, A_P in J, and E_v, E_a what H(q) v and H(q) vdot + bias change by. Joints below J feel dF, and by q_J also
    H x* F_J; a joint beyond J feels H_B^T (2 B^c g + M^c u).
    As in Singh, Russo & Wensing, RA-L 7 (2022), here about body origins.
    """
    craft, _ = lean(craft, {}, q, v, vdot)
    X_PB = joint_poses(craft, q)
    V = body_twists(craft, q, v, X_PB)
    A, F, M, twice_B = _recursion(craft, q, v, vdot, X_PB, V)
    by_q, by_v = (np.zeros((craft.nv, craft.nv), dtype=object) for _ in range(2))
    causes: dict[str, tuple[Array, ...]] = {}  # g and u by q, by v
    for J, P in craft.base_to_tip:
        joint = craft.joint(J)
        if joint.nv:
            V_P, A_P = (twist_to_child(X_PB[J], S[P]) if P is not None else ZERO6 for S in (V, A))
            causes[J] = _causes(joint, q, v, vdot, V[J], V_P, A_P)
    for B, _ in craft.base_to_tip:
        joint = craft.joint(B)
        if not joint.nv:
            continue
        H, at = joint.H(q), joint.v_at
        g_q, u_q, g_v, u_v = causes[B]
        F_q, F_v = twice_B[B] @ g_q + M[B] @ u_q, twice_B[B] @ g_v + M[B] @ u_v  # (1)
        by_q[at, at] = H.T @ F_q + _turned_axes(joint, q, v, F[B])
        by_v[at, at] = H.T @ F_v
        if joint.nq:
            F_q = F_q + _columns(cross_force, H, F[B])
        columns = np.hstack([F_q, F_v, twice_B[B].T @ H, M[B] @ H])
        below: str = B
        while (P := craft.body(below).parent) is not None:
            columns = wrench_to_parent(X_PB[below], columns)
            below = P
            other = craft.joint(P)
            if other.nv:
                F_q, F_v, B_H, M_H = np.split(columns, 4, axis=1)
                g_q, u_q, g_v, u_v = causes[P]
                by_q[other.v_at, at], by_v[other.v_at, at] = other.H(q).T @ F_q, other.H(q).T @ F_v
                by_q[at, other.v_at], by_v[at, other.v_at] = B_H.T @ g_q + M_H.T @ u_q, B_H.T @ g_v + M_H.T @ u_v
    return unboxed(by_q), unboxed(by_v)


def _recursion(
    craft: Spacecraft, q: Array, v: Array, vdot: Array, X_PB: dict[str, Pose], V: dict[str, Array]
) -> tuple[dict[str, Array], ...]:
    """Accelerations; and summed over what each joint carries: wrenches F, inertias M and matrices 2 B, (6, 6)."""
    A: dict[str, Array] = {}
    F: dict[str, Array] = {}
    M: dict[str, Array] = {}
    twice_B: dict[str, Array] = {}
    for B, P in craft.base_to_tip:
        joint, I_B = craft.joint(B), craft.inertia(B)
        A[B] = twist_to_child(X_PB[B], A[P]) if P is not None else ZERO6
        if joint.nv:
            H = joint.H(q)
            A[B] = A[B] + H @ joint.rate(vdot) + joint.bias(q, v) + cross_motion(V[B], H @ joint.rate(v))
        momentum, Vx = I_B @ V[B], cross_motion_matrix(V[B])
        M[B], F[B] = I_B.matrix, I_B @ A[B] + cross_force(V[B], momentum)
        twice_B[B] = -Vx.T @ M[B] - M[B] @ Vx + _force_matrix(momentum)
    for B, P in reversed(craft.base_to_tip):
        if P is not None:
            F[P] = F[P] + wrench_to_parent(X_PB[B], F[B])
            M[P] = M[P] + symmetric_to_parent(X_PB[B], M[B])
            half = wrench_to_parent(X_PB[B], twice_B[B])
            twice_B[P] = twice_B[P] + wrench_to_parent(X_PB[B], half.T).T
    return A, F, M, twice_B


def _force_matrix(F: Array) -> Array:
    """The matrix that takes g to g x* F, (6, 6)."""
    N, f = skew(F[:3]), skew(F[3:])
    return -np.block([[N, f], [f, np.zeros((3, 3))]])


def _causes(joint: Joint, q: Array, v: Array, vdot: Array, V: Array, V_P: Array, A_P: Array) -> tuple[Array, ...]:
    """g and u by q (3), and by v (2): columns for each rate of the joint."""
    kind, own = joint.motion, (q[joint.q_at], v[joint.v_at], vdot[joint.v_at])
    H, Hv = joint.H(q), joint.H(q) @ joint.rate(v)
    bias_by_v = jacobian_of(lambda x, y, a: kind.map_rate(x, y) @ y, "y")(*own)
    u_v = _columns(cross_motion, V, H) + _columns(cross_motion, H, Hv) + bias_by_v - _columns(cross_motion, H, V)
    if not joint.nq:  # a wheel turns nothing that is seen
        return np.zeros((6, joint.nv)), np.zeros((6, joint.nv)), H, u_v
    T = jacobian_of(lambda x, y, a: kind.qdot(x, y), "y")(*own)
    E_v = jacobian_of(lambda x, y, a: kind.H(x) @ y, "x")(*own) @ T
    E_a = jacobian_of(lambda x, y, a: kind.H(x) @ a + kind.map_rate(x, y) @ y, "x")(*own) @ T
    g_q = _columns(cross_motion, V_P, H) + E_v
    u_q = _columns(cross_motion, A_P, H) + E_a + _columns(cross_motion, g_q, Hv - V) + _columns(cross_motion, V, E_v)
    return g_q, u_q, H, u_v


def _turned_axes(joint: Joint, q: Array, v: Array, F: Array) -> Any:
    """What H(q)^T F changes by, as the joint's own coordinates turn its axes: (k, k)."""
    if not joint.nq:
        return 0.0
    kind, x, y = joint.motion, q[joint.q_at], v[joint.v_at]
    T = jacobian_of(lambda x, y: kind.qdot(x, y), "y")(x, y)
    return jacobian_of(lambda x, F: kind.H(x).T @ F, "x")(x, F) @ T


def _columns(product: Any, a: Array, b: Array) -> Array:
    """A product of two 6-vectors, one of which comes in columns."""
    width = (a if a.ndim == 2 else b).shape[1]
    pairs = [(a[:, k] if a.ndim == 2 else a, b[:, k] if b.ndim == 2 else b) for k in range(width)]
    return np.stack([product(x, y) for x, y in pairs], axis=1)
