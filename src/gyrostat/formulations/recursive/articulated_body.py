"""Articulated-body algorithm, with prescribed joints: forward and hybrid dynamics in O(nbodies)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...algebra import (
    Array,
    inertia_to_parent,
    ldl,
    ldl_solve,
    mirror,
    twist_to_child,
    wrench_to_parent,
)
from ...kinematics import ZERO6, bent_bias, bent_inertia, body_twists, carried, joint_acceleration_bias, joint_poses
from ...kinematics.arguments import configuration, external, prescribed_rates, rates
from ...kinematics.lean import lean
from ...model import Spacecraft


class HybridDynamics(NamedTuple):
    """Accelerations of all joints, and the loads of all joints: given where free, solved for where prescribed."""

    vdot: Array  # (nv,)
    tau: Array  # (nv,)


def supports(craft: Spacecraft) -> str | None:
    """None: every spacecraft is supported."""
    return None


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

    `prescribed = {joint: vdot}`: those joints follow, whatever tau says of them; `hybrid_dynamics` also returns their
    loads.
    """
    return hybrid_dynamics(craft, q, v, tau, wrenches=wrenches, prescribed=prescribed).vdot


def hybrid_dynamics(
    craft: Spacecraft,
    q: Array,
    v: Array,
    tau: Array,
    *,
    wrenches: Any = None,
    prescribed: Mapping[str, Any] | None = None,
) -> HybridDynamics:
    """Accelerations of the free joints and loads of the prescribed ones (articulated bodies).

    For body B with parent P, 6-vectors about Bo in B; c = Hdot v + V x (H v); M^A, p^A start as M and V x* M V - F_ext:

        free:        U = M^A H,  D = H^T U + armature,  u = tau - H^T p^A             (1)
                     M^a = M^A - U D^-1 U^T,  p^a = p^A + M^a c + U D^-1 u            (2)
        prescribed:  M^a = M^A,               p^a = p^A + M^A (c + H vdot)            (3)
        M^A_P += Ad_BP^T M^a Ad_BP,  p^A_P += Ad_BP^T p^a                             (4)
        A' = Ad_BP A_P + c;  free: vdot = D^-1 (u - U^T A')                           (5)
        A = A' + H vdot;  prescribed: tau = H^T (M^A A + p^A) + armature vdot         (6)

    A flexible body starts with [[M, M_rf], [M_rf^T, M_ff]] and [p; p_f], to which children on its nodes add by S as by
    Ad (see `kinematics/flexible.py`). After all of them and before its joint, its modal coordinates are eliminated:

        free:        M^A = M - M_rf M_ff^-1 M_rf^T,  p^A = p - M_rf M_ff^-1 (p_f - tau)    (7)
                     edd = M_ff^-1 (tau - p_f - M_rf^T A)
        prescribed:  M^A = M,  p^A = p + M_rf edd;  tau = M_rf^T A + M_ff edd + p_f        (8)

    Featherstone, Rigid Body Dynamics Algorithms (2008), chs. 7 and 9.1. Cost O(nbodies).
    """
    q, v, tau = configuration(craft, q), rates(craft, v), rates(craft, tau, "tau")
    F_ext, follows = external(craft, wrenches), prescribed_rates(craft, prescribed)
    craft, F_ext = lean(craft, F_ext, q, v, tau)
    X_PB = joint_poses(craft, q)
    V = body_twists(craft, q, v, X_PB)
    c: dict[str, Array] = {}
    M_A: dict[str, Array] = {}
    p_A: dict[str, Array] = {}
    modal = {B: body for B, _ in craft.base_to_tip if (body := craft.flexible(B))}
    M_rf: dict[str, Array] = {}
    M_ff: dict[str, Array] = {}
    p_f: dict[str, Array] = {}
    for B, _ in craft.base_to_tip:
        c[B] = joint_acceleration_bias(craft, B, q, v, V[B])
        if B in modal:
            bent, (h, p_f[B]) = bent_inertia(modal[B], q), bent_bias(modal[B], q, v, V[B])
            M_A[B], M_rf[B], M_ff[B], p_A[B] = bent.rr.matrix, bent.rf, bent.ff, h - F_ext.get(B, ZERO6)
        else:
            M = craft.inertia(B)
            M_A[B], p_A[B] = M.matrix, M.velocity_product(V[B]) - F_ext.get(B, ZERO6)

    U: dict[str, Array] = {}
    D: dict[str, tuple[Array, Array]] = {}
    u: dict[str, Array] = {}
    D_f: dict[str, tuple[Array, Array]] = {}
    for B, P in reversed(craft.base_to_tip):
        joint = craft.joint(B)
        H = joint.H(q)
        if B in modal and modal[B].modes.name in follows:
            p_A[B] = p_A[B] + M_rf[B] @ follows[modal[B].modes.name]  # (8)
        elif B in modal:
            D_f[B] = ldl(M_ff[B])
            p_f[B] = p_f[B] - tau[modal[B].v_at]
            M_A[B] = mirror(M_A[B] - M_rf[B] @ ldl_solve(*D_f[B], M_rf[B].T))  # (7)
            p_A[B] = p_A[B] - M_rf[B] @ ldl_solve(*D_f[B], p_f[B])
        if B in follows:
            M_a, p_a = M_A[B], p_A[B] + M_A[B] @ (c[B] + H @ follows[B])  # (3)
        elif joint.nv:
            U[B] = M_A[B] @ H  # (1)
            D[B] = ldl(H.T @ U[B] + joint.armature * np.eye(joint.nv))
            u[B] = joint.rate(tau) - H.T @ p_A[B]
            if P is None:
                continue  # nothing feels it
            M_a = mirror(M_A[B] - U[B] @ ldl_solve(*D[B], U[B].T))  # (2)
            p_a = p_A[B] + M_a @ c[B] + U[B] @ ldl_solve(*D[B], u[B])
        else:
            M_a, p_a = M_A[B], p_A[B] + M_A[B] @ c[B]
        if P is not None:
            M_A[P] = M_A[P] + inertia_to_parent(X_PB[B], M_a)  # (4)
            p_A[P] = p_A[P] + wrench_to_parent(X_PB[B], p_a)
            if joint.mount is not None:
                S = carried(joint, q)
                felt = M_a @ S
                M_rf[P], M_ff[P] = M_rf[P] + wrench_to_parent(X_PB[B], felt), M_ff[P] + mirror(S.T @ felt)
                p_f[P] = p_f[P] + S.T @ p_a

    A: dict[str, Array] = {}
    edd: dict[str, Array] = {}
    vdots, loads = [], []
    for B, P in craft.base_to_tip:
        joint = craft.joint(B)
        H = joint.H(q)
        A[B] = c[B] if P is None else twist_to_child(X_PB[B], A[P]) + c[B]
        if P is not None and joint.mount is not None:
            A[B] = A[B] + carried(joint, q) @ edd[P]
        if not joint.nv:
            vdot = load = np.zeros(0)
        elif B in follows:
            vdot = follows[B]
            A[B] = A[B] + H @ vdot
            load = H.T @ (M_A[B] @ A[B] + p_A[B]) + joint.armature * vdot  # (6)
        else:
            vdot, load = ldl_solve(*D[B], u[B] - U[B].T @ A[B]), joint.rate(tau)  # (5)
            A[B] = A[B] + H @ vdot
        vdots.append(vdot)
        loads.append(load)
        if B in modal and B not in D_f:
            edd[B] = follows[modal[B].modes.name]
            vdots.append(edd[B])
            loads.append(M_rf[B].T @ A[B] + M_ff[B] @ edd[B] + p_f[B])  # (8)
        elif B in modal:
            edd[B] = -ldl_solve(*D_f[B], p_f[B] + M_rf[B].T @ A[B])  # (7)
            vdots.append(edd[B])
            loads.append(tau[modal[B].v_at])
    return HybridDynamics(np.concatenate(vdots), np.concatenate(loads))
