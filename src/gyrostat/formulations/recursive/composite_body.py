"""The joint-space mass matrix by composite rigid bodies."""

from __future__ import annotations

import numpy as np

from ...algebra import Array, mirror, rigid_inertia_to_parent, unboxed, wrench_to_parent
from ...kinematics import joint_poses
from ...kinematics.arguments import configuration
from ...model import Spacecraft


def mass_matrix(craft: Spacecraft, q: Array) -> Array:
    """M (nv, nv), symmetric, with kinetic energy `1/2 v^T M v` (composite rigid bodies).

        M_P += Ad_BP^T M_B Ad_BP                                   (1)
        F    = M_B H_B,  the wrench of unit accelerations of B     (2)
        M[B, B] = H_B^T F + armature                               (3)
        F <- Ad_AP^T F,  M[A, B] = H_A^T F   for each ancestor A   (4)

    Featherstone, Rigid Body Dynamics Algorithms (2008), ch. 6. Cost O(nbodies * depth).
    """
    q = configuration(craft, q)
    X_PB = joint_poses(craft, q)
    composite = {B: craft.inertia(B) for B, _ in craft.base_to_tip}
    for B, P in reversed(craft.base_to_tip):
        if P is not None:
            composite[P] = composite[P] + rigid_inertia_to_parent(X_PB[B], composite[B])  # (1)
    M = np.zeros((craft.nv, craft.nv), dtype=object)
    for B, _ in craft.base_to_tip:
        joint = craft.joint(B)
        if not joint.nv:
            continue
        F = composite[B] @ joint.H(q)  # (2)
        M[joint.v_at, joint.v_at] = mirror(joint.H(q).T @ F + joint.armature * np.eye(joint.nv))  # (3)
        A = B
        while (P := craft.body(A).parent) is not None:
            F = wrench_to_parent(X_PB[A], F)  # (4)
            A = P
            above = craft.joint(A)
            if above.nv:
                block = above.H(q).T @ F
                M[above.v_at, joint.v_at] = block
                M[joint.v_at, above.v_at] = block.T
    return unboxed(M)
