"""Recursive Newton-Euler: the forces that a motion needs, and the wrenches that its joints carry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...algebra import Array, twist_to_child, wrench_to_parent
from ...kinematics import ZERO6, bent_bias, bent_inertia, carried, carried_twist, joint_acceleration_bias, joint_poses
from ...kinematics.arguments import configuration, external, rates
from ...kinematics.lean import lean
from ...model import Spacecraft


def inverse_dynamics(craft: Spacecraft, q: Array, v: Array, vdot: Array, *, wrenches: Any = None) -> Array:
    """Generalised force (nv,) that produces the acceleration `vdot` (recursive Newton-Euler).

    For body B with parent P; 6-vectors are [angular; linear] about Bo, expressed in B:

        V_NB = Ad_BP V_NP + H v_B                                  (1)
        A_NB = Ad_BP A_NP + H vdot_B + Hdot v_B + V_NB x (H v_B)   (2)
        F_B  = M A_NB + V_NB x* (M V_NB) - F_ext                   (3)
        F_P += Ad_BP^T F_B                                         (4)
        tau_B = H^T F_B + armature vdot_B                          (5)

    A flexible body has [F_B; Q] = M(e) [A; edd] + h - [F_ext; 0] in place of (3), and Q, to which what it carries on
    its nodes adds S^T F (see `kinematics/flexible.py`), is the load on its modal coordinates.

    Featherstone, Rigid Body Dynamics Algorithms (2008), ch. 5. Cost O(nbodies).
    """
    q, v, vdot = configuration(craft, q), rates(craft, v), rates(craft, vdot, "vdot")
    craft, F_ext = lean(craft, external(craft, wrenches), q, v, vdot, at_most=0.5)
    F, Q = joint_wrenches(craft, q, v, vdot, F_ext)
    tau = []
    for B, _ in craft.base_to_tip:
        joint = craft.joint(B)
        if joint.nv:
            tau.append(joint.H(q).T @ F[B] + joint.armature * joint.rate(vdot))  # (5)
        if B in Q:
            tau.append(Q[B])
    return np.concatenate(tau) if tau else np.zeros(0)


def bias_force(craft: Spacecraft, q: Array, v: Array, *, wrenches: Any = None) -> Array:
    """C(q, v) v: the generalised force at zero acceleration, less what external wrenches contribute, (nv,)."""
    return inverse_dynamics(craft, q, v, np.zeros(craft.nv), wrenches=wrenches)


def reaction_wrenches(craft: Spacecraft, q: Array, v: Array, vdot: Array, *, wrenches: Any = None) -> Array:
    """Total wrench through each joint on its distal body, actuation included, about Bo in B, (nbodies, 6).

    Row 0 is the external wrench on the base (what `tau` holds for a free base).
    """
    q, v, vdot = configuration(craft, q), rates(craft, v), rates(craft, vdot, "vdot")
    F, _ = joint_wrenches(craft, q, v, vdot, external(craft, wrenches))
    return np.array([F[B] for B, _ in craft.base_to_tip])


def joint_wrenches(
    craft: Spacecraft, q: Array, v: Array, vdot: Array, F_ext: Mapping[str, Array]
) -> tuple[dict[str, Array], dict[str, Array]]:
    """F_B of equations (1)-(4) for each body, and Q of each flexible one."""
    X_PB = joint_poses(craft, q)
    V: dict[str, Array] = {}
    A: dict[str, Array] = {}
    F: dict[str, Array] = {}
    Q: dict[str, Array] = {}
    for B, P in craft.base_to_tip:
        joint, flexible = craft.joint(B), craft.flexible(B)
        V[B] = joint.H(q) @ joint.rate(v) if joint.nv else ZERO6
        A[B] = joint.H(q) @ joint.rate(vdot) if joint.nv else ZERO6
        if P is not None:
            V[B] = twist_to_child(X_PB[B], V[P]) + V[B]  # (1)
            A[B] = twist_to_child(X_PB[B], A[P]) + A[B]
        if joint.mount is not None:
            V[B], A[B] = V[B] + carried_twist(joint, q, v), A[B] + carried_twist(joint, q, vdot)
        A[B] = A[B] + joint_acceleration_bias(craft, B, q, v, V[B])  # (2)
        if flexible is None:
            M = craft.inertia(B)
            F[B] = M @ A[B] + M.velocity_product(V[B]) - F_ext.get(B, ZERO6)  # (3)
        else:
            bent, (h_r, h_f), edd = bent_inertia(flexible, q), bent_bias(flexible, q, v, V[B]), vdot[flexible.v_at]
            F[B] = bent.rr @ A[B] + bent.rf @ edd + h_r - F_ext.get(B, ZERO6)
            Q[B] = bent.rf.T @ A[B] + bent.ff @ edd + h_f
    for B, P in reversed(craft.base_to_tip):
        if P is not None:
            F[P] = F[P] + wrench_to_parent(X_PB[B], F[B])  # (4)
            if craft.joint(B).mount is not None:
                Q[P] = Q[P] + carried(craft.joint(B), q).T @ F[B]
    return F, Q
