"""The mass matrix on SE(3) x R^n and its derivatives in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import Array, cross_motion_matrix, mirror, unboxed
from ...kinematics.arguments import configuration, rates
from ...model import Spacecraft
from .base_frame import assembled, base_frame, lines
from .subgroups import require


def mass_matrix(craft: Spacecraft, q: Array) -> Array:
    """M (nv, nv) of the kinetic energy T = 1/2 v^T M v.

        M = sum_i [H J_i]^T Ad_ib^T M_i Ad_ib [H J_i]                                        (8)-(10)

    Gathered by columns, with A an ancestor of B or B itself: M[A, B] = S_A^T M_c S_B, M_c the inertia of all that B
    carries. Independent of where the base is.
    """
    frame = base_frame(craft, configuration(craft, q))
    blocks = {}
    for A, B in lines(craft):
        block = frame.S[A].T @ (frame.M_c[B] @ frame.S[B])  # (9)
        joint = craft.joint(B)
        if A == B:
            block = mirror(block + joint.armature * np.eye(joint.nv))
        blocks[A, B], blocks[B, A] = block, block.T
    return assembled(craft, blocks)


def kinetic_energy(craft: Spacecraft, q: Array, v: Array) -> Any:
    """T = 1/2 v^T M v in J                                                                              (10)"""
    v = rates(craft, v)
    return 0.5 * (v @ (mass_matrix(craft, q) @ v))


def mass_matrix_derivatives(craft: Spacecraft, q: Array) -> Array:
    """dM/dphi_k (nv, nv, nv), k first: phi_k is a joint coordinate, or a step along the k-th rate of a joint that is a
    group.

    From (A.1) with Prop. A.1 and (B.2): a step along column k turns every column and inertia beyond it by ad_k = S_k x
    and leaves the rest. Gathered over the bodies, for A an ancestor of B or B itself, and K the body that k moves:

        K beyond B:               dM[A, B] = -S_A^T (ad_k^T M_c(K) + M_c(K) ad_k) S_B
        K beyond A, up to B:      dM[A, B] = -(ad_k S_A)^T M_c(B) S_B
        otherwise:                0                                                           (A.1)
    """
    require(craft)
    frame = base_frame(craft, configuration(craft, q))
    above = {B: {A for A, D in lines(craft) if D == B and A != B} for B, _ in craft.base_to_tip}  # strictly
    derivatives = []
    for K, _ in craft.base_to_tip:
        for column in frame.S[K].T:
            ad_k, M_K = cross_motion_matrix(column), frame.M_c[K].matrix
            turned = -(ad_k.T @ M_K + M_K @ ad_k)
            blocks = {}
            for A, B in lines(craft):
                if A in above[K] and B in above[K]:
                    block = frame.S[A].T @ turned @ frame.S[B]
                elif A in above[K] and (K == B or K in above[B]):
                    block = -(ad_k @ frame.S[A]).T @ (frame.M_c[B] @ frame.S[B])
                else:
                    continue
                blocks[A, B], blocks[B, A] = block, block.T
            derivatives.append(assembled(craft, blocks))
    return unboxed(np.array(derivatives, dtype=object).reshape(craft.nv, craft.nv, craft.nv))
