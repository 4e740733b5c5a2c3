"""Forward dynamics from the saddle-point system (50), eliminated leaf to root: O(nbodies), no fill-in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...algebra import (
    Array,
    inertia_to_parent,
    is_zero,
    ldl,
    ldl_solve,
    mirror,
    twist_from_dual,
    twist_to_child,
    wrench_from_dual,
    wrench_to_parent,
)
from ...kinematics.arguments import Acting, acting, configuration, rates
from ...model import Spacecraft
from ..common.carriers import wheel_motions
from ..common.solution import JointMotion, Solution, in_order
from ..common.support import require
from .kinematics import Frames, Motion, frames, joint_bias, motion_of_rates
from .loads import known_wrench


def forward_dynamics(
    craft: Spacecraft,
    q: Array,
    v: Array,
    tau: Array,
    *,
    wrenches: Any = None,
    prescribed: Mapping[str, Any] | None = None,
) -> Array:
    """Acceleration vdot (nv,) under the generalised force tau and external wrenches.

    `prescribed = {joint: vdot}`: those joints follow, whatever tau says of them; `solve` also returns their holding
    loads.
    """
    return solve(craft, q, v, tau, wrenches=wrenches, prescribed=prescribed).vdot


def solve(
    craft: Spacecraft,
    q: Array,
    v: Array,
    tau: Array,
    *,
    wrenches: Any = None,
    prescribed: Mapping[str, Any] | None = None,
) -> Solution:
    """Accelerations, reaction wrenches and holding loads of prescribed joints.

    Each body with the reaction of its joint is one pivot pair of (50); its children gone, its two rows read, in frame i
    with a = q_{b/i} wdot_b q*_{b/i} and a_k = q*_{i/k} wdot_k q_{i/k},

        K a - V T - V_act (tau - rotor vdot) = e           (51), (53), (55)       (1)
        Lambda a = Lambda (a_k + c)                        (54), (56)             (2)

    (2) leaves a = a_k + c + H vdot, and (1) along H and along V = X Lambda^T then gives the pair:

        U = K H,  D = H^T U + rotor,  u = tau + H^T e                             (3)
        vdot = D^-1 (u - U^T (a_k + c))                                           (4)
        W = V T + V_act tau = K_a (a_k + c) + W_0,   K_a = V V^T (K - U D^-1 U^T) V V^T,                            (5)
            W_0 = V V^T (U D^-1 u - e) + V_act tau
        K_k += [q_{i/k}] K_a [q*_{i/k}],  e_k -= q_{i/k} (K_a c + W_0) q*_{i/k}   (6)

    A prescribed joint holds all six components: V = 1, W = K (a_k + c + H vdot) - e; so does one with a rotor, whose
    load is no longer known beforehand. The scalar rows of the dual quaternions are identities of their own and dropped,
    and wrenches are swapped, so that K is symmetric: 6-vectors [angular; linear], as everywhere in gyrostat. tau -
    rotor vdot = H^T W.
    """
    q, v, given = configuration(craft, q), rates(craft, v), acting(craft, tau, wrenches, prescribed)
    require(craft)
    f = frames(craft, q, given.follows)
    return eliminate(craft, q, f, motion_of_rates(craft, f, v), given)[0]


def eliminate(craft: Spacecraft, q: Array, f: Frames, m: Motion, given: Acting) -> tuple[Solution, dict[str, Array]]:
    """`solve`, from frames and dual velocities; also the accelerations of the bodies, [wdot; vdot] in frame b, by
    name.
    """
    tau, _, follows = given
    K: dict[str, Array] = {}
    e: dict[str, Array] = {}
    c: dict[str, Array] = {}
    for B, _ in f.bodies:
        K[B] = _six_by_six(f.M[B])
        e[B] = wrench_from_dual(known_wrench(craft, f, m, B, given))
        c[B] = twist_from_dual(joint_bias(craft, f, q, m, B))

    H: dict[str, Array] = {}
    U: dict[str, Array] = {}
    D: dict[str, tuple[Array, Array]] = {}
    u: dict[str, Array] = {}
    for B, P in reversed(f.bodies):
        joint, maps = craft.joint(B), f.map[B]
        H[B] = twist_from_dual(maps.H)
        K[B], e[B] = inertia_to_parent(f.X_ib[B], K[B]), wrench_to_parent(f.X_ib[B], e[B])  # from b to i
        if B in follows:
            c[B] = c[B] + H[B] @ follows[B]
        if B in follows or not joint.nv:
            K_a, W_0 = K[B], -e[B]
        else:
            U[B] = K[B] @ H[B]  # (3)
            D[B] = ldl(H[B].T @ U[B] + joint.armature * np.eye(joint.nv))
            u[B] = joint.rate(tau) + H[B].T @ e[B]
            if P is None:
                continue
            K_a = mirror(K[B] - U[B] @ ldl_solve(*D[B], U[B].T))
            W_0 = U[B] @ ldl_solve(*D[B], u[B]) - e[B]
            if is_zero(joint.armature):
                V, V_act = wrench_from_dual(maps.V), wrench_from_dual(maps.V_act)
                held = V @ V.T
                K_a, W_0 = held @ K_a @ held, held @ W_0 + V_act @ joint.rate(tau)  # (5)
        if P is not None:
            K[P] = K[P] + inertia_to_parent(f.X_ki[B], K_a)  # (6)
            e[P] = e[P] - wrench_to_parent(f.X_ki[B], K_a @ c[B] + W_0)

    wdot: dict[str, Array] = {}
    joints: dict[str, JointMotion] = {}
    for B, P in f.bodies:
        joint, R_Bi = craft.joint(B), f.map[B].R_Bi
        a = c[B] if P is None else twist_to_child(f.X_ki[B], wdot[P]) + c[B]
        vdot, load = np.zeros(0), joint.rate(tau)
        if B in follows:
            vdot = follows[B]
            load = H[B].T @ (K[B] @ a - e[B]) + joint.armature * vdot
        elif joint.nv:
            vdot = ldl_solve(*D[B], u[B] - U[B].T @ a)  # (4)
            a = a + H[B] @ vdot
        wdot[B] = twist_to_child(f.X_ib[B], a)
        joints[B] = JointMotion(vdot, load, turned(R_Bi, K[B] @ a - e[B]))  # (1)
        V_i = twist_from_dual(m.w_joint[B] + m.w_parent[B])
        joints |= wheel_motions(craft, f.carrier[B], turned(R_Bi, V_i), turned(R_Bi, a), m.v, given)
    return in_order(craft, joints), wdot


def _six_by_six(M: Array) -> Array:
    """Dual inertia without its scalar rows, angular first: takes [wdot; vdot] to [torque; force]."""
    keep = [5, 6, 7, 1, 2, 3]
    return M[np.ix_(keep, keep)]


def turned(R_Bi: Array, x: Array) -> Array:
    """A 6-vector in B from one in frame i, both about the joint."""
    return np.concatenate([R_Bi @ x[:3], R_Bi @ x[3:]])
