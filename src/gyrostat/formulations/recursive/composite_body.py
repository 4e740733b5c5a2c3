"""The joint-space mass matrix by composite rigid bodies."""

from __future__ import annotations

import numpy as np

from ...algebra import Array, mirror, rigid_inertia_to_parent, unboxed, wrench_to_parent
from ...kinematics import bent_inertia, carried, joint_poses
from ...kinematics.arguments import configuration
from ...kinematics.lean import lean
from ...model import Spacecraft


def mass_matrix(craft: Spacecraft, q: Array) -> Array:
    """M (nv, nv), symmetric, with kinetic energy `1/2 v^T M v` (composite rigid bodies).

        M_P += Ad_BP^T M_B Ad_BP                                   (1)
        F    = M_B H_B,  the wrench of unit accelerations of B     (2)
        M[B, B] = H_B^T F + armature                               (3)
        F <- Ad_AP^T F,  M[A, B] = H_A^T F   for each ancestor A   (4)

    A flexible body has columns for its modal coordinates, F = M_rf, with M_ff and M_rf summed over what its nodes
    carry; its modal rows feel S^T F of what sits on them (see `kinematics/flexible.py`).

    Featherstone, Rigid Body Dynamics Algorithms (2008), ch. 6. Cost O(nbodies * depth).
    """
    q = configuration(craft, q)
    craft, _ = lean(craft, {}, q)
    X_PB = joint_poses(craft, q)
    bent = {B: bent_inertia(body, q) for B, _ in craft.base_to_tip if (body := craft.flexible(B))}
    composite = {B: bent[B].rr if B in bent else craft.inertia(B) for B, _ in craft.base_to_tip}
    rf, ff = {B: M.rf for B, M in bent.items()}, {B: M.ff for B, M in bent.items()}
    for B, P in reversed(craft.base_to_tip):
        if P is not None:
            composite[P] = composite[P] + rigid_inertia_to_parent(X_PB[B], composite[B])  # (1)
        if P is not None and craft.joint(B).mount is not None:
            S = carried(craft.joint(B), q)
            felt = composite[B] @ S
            rf[P], ff[P] = rf[P] + wrench_to_parent(X_PB[B], felt), ff[P] + mirror(S.T @ felt)
    M = np.zeros((craft.nv, craft.nv), dtype=object)
    for B, _ in craft.base_to_tip:
        joint, flexible = craft.joint(B), craft.flexible(B)
        at, F = joint.v_at, composite[B] @ joint.H(q)  # (2)
        M[at, at] = mirror(joint.H(q).T @ F + joint.armature * np.eye(joint.nv)) if joint.nv else 0.0  # (3)
        if flexible is not None:
            M[flexible.v_at, flexible.v_at] = ff[B]
            _place(M, at, flexible.v_at, joint.H(q).T @ rf[B])
            at, F = slice(at.start, flexible.v_at.stop), np.hstack([F, rf[B]])
        if at.start == at.stop:
            continue
        A = B
        while (P := craft.body(A).parent) is not None:
            below = craft.joint(A)
            if below.mount is not None:
                _place(M, below.mount.v_at, at, carried(below, q).T @ F)
            F = wrench_to_parent(X_PB[A], F)  # (4)
            A = P
            if craft.joint(A).nv:
                _place(M, craft.joint(A).v_at, at, craft.joint(A).H(q).T @ F)
    return unboxed(M)


def _place(M: Array, rows: slice, columns: slice, block: Array) -> None:
    """The block, and its transpose where that belongs."""
    M[rows, columns] = block
    M[columns, rows] = block.T
