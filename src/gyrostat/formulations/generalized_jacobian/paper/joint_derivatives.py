"""Equations (83)-(94), (98), (102): derivatives by one joint angle, the base's pose held.

`k` is the paper's number of the joint, 1..N.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....algebra import Array, cos, cross, sin
from ..arm import Arm, Z
from ..direction_cosines import dh_transform, homogeneous, joint_axes, position_of, rotation_of, twist_cosines
from ..link_rates import LinkRates
from ..links import columns


def dh_derivative(theta: Any, alpha: Any, c: Any) -> Array:
    """dA/dtheta, (4, 4). (84 corrected: + c cos(theta) in row 2)"""
    ct, st = cos(theta), sin(theta)
    ca, sa = twist_cosines(alpha)
    zeros = [0.0, 0.0, 0.0, 0.0]
    return np.array([[-st, -ct * ca, ct * sa, -c * st], [ct, -st * ca, st * sa, c * ct], zeros, zeros])


def joint_transform_derivatives(arm: Arm, T_J: list[Array], q: Array, k: int) -> list[Array]:
    """dT_J[0..N+1] / dq_k: zero up to J_k; `T_Jk dA_k`; then carried outwards by the other A. (83), (85), (86), (87)"""
    dT_J: list[Array] = [np.zeros((4, 4))] * (k + 1)  # (85)
    dT_J.append(T_J[k] @ dh_derivative(q[k - 1], arm.alpha[k - 1], arm.c[k - 1]))  # (86)
    for i in range(k + 1, arm.n + 1):
        dT_J.append(dT_J[-1] @ dh_transform(q[i - 1], arm.d[i - 1], arm.alpha[i - 1], arm.c[i - 1]))  # (87)
    return dT_J


def link_transform_derivatives(arm: Arm, T_J: list[Array], dT_J: list[Array], q: Array, k: int) -> list[Array]:
    """dT_L[0..N] / dq_k. (88), (89), (90), (91)"""
    dT_L: list[Array] = [np.zeros((4, 4))] * k  # (89)
    for i in range(k, arm.n + 1):
        d, alpha, a = arm.d[i - 1], arm.alpha[i - 1], arm.a[i - 1]
        if i == k:
            dT = T_J[i] @ dh_derivative(q[i - 1], alpha, a)  # (90)
        else:
            dT = dT_J[i] @ dh_transform(q[i - 1], d, alpha, a)  # (91)
        dT_L.append(dT @ homogeneous(np.eye(3), arm.offset[i - 1]))
    return dT_L


def arm_link_derivatives(arm: Arm, T_J: list[Array], T_L: list[Array], q: Array, k: int) -> LinkRates:
    """d/dq_k of `arm_links`.

    Identical to turning everything outboard about axis k: dr_i = k_k x (r_i - p_k), dI_i = [k_k]x I_i - I_i [k_k]x, and
    so on.
    """
    dT_J = joint_transform_derivatives(arm, T_J, q, k)
    dT_L = link_transform_derivatives(arm, T_J, dT_J, q, k)
    axis, p = joint_axes(T_J), [position_of(T) for T in T_J]
    daxis, dp = [rotation_of(dT) @ Z for dT in dT_J], [position_of(dT) for dT in dT_J]
    I, r, J_T, J_R = [], [], [], []
    for i in range(arm.n + 1):
        r_i, dr_i = position_of(T_L[i]), position_of(dT_L[i])
        half = rotation_of(dT_L[i]) @ arm.inertia[i] @ rotation_of(T_L[i]).T
        I.append(half + half.T)  # (102)
        r.append(dr_i)  # (98)
        J_R.append(columns(arm.n, daxis[1 : i + 1]))  # (92)
        J_T.append(
            columns(arm.n, [cross(daxis[j], r_i - p[j]) + cross(axis[j], dr_i - dp[j]) for j in range(1, i + 1)])
        )  # (93), (94)
    return LinkRates(I, r, J_T, J_R)
