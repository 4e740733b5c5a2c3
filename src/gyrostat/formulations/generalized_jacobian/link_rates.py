"""Equations (67)-(73), (75): time derivatives of the links' inertias, positions and Jacobians."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...algebra import Array, cross, skew
from .arm import Arm, Z
from .direction_cosines import joint_axes, position_of, rotation_of
from .links import columns


class LinkRates(NamedTuple):
    """Derivatives of `Links`, by time or by a joint angle, entry by entry."""

    I: list[Array]  # (3, 3)
    r: list[Array]  # (3,)
    J_T: list[Array]  # (3, n)
    J_R: list[Array]  # (3, n)


def frame_rotation_rates(arm: Arm, T_J: list[Array], w_0: Array, qdot: Array) -> list[Array]:
    """w_J[0..N+1], the angular velocity of each joint frame: w_J0 = w_J1 = w_0, w_J{i+1} = w_Ji + k_i qdot_i. (68
    corrected)

    J_1 is fixed on the base; the printed range would need a joint 0.
    """
    k = joint_axes(T_J)
    w_J = [w_0, w_0]
    for i in range(1, arm.n + 1):
        w_J.append(w_J[i] + k[i] * qdot[i - 1])
    return w_J


def point_rate(T_J: list[Array], link: int, x: Array, w_0: Array, qdot: Array) -> Array:
    """Velocity of a point at x on a link relative to the base's centre of mass, in inertial components, (3,). (75)"""
    rate = cross(w_0, x - position_of(T_J[0]))
    for j in range(1, link + 1):
        rate = rate + cross(rotation_of(T_J[j]) @ Z, x - position_of(T_J[j])) * qdot[j - 1]
    return rate


def arm_link_rates(arm: Arm, T_J: list[Array], T_L: list[Array], w_0: Array, qdot: Array) -> LinkRates:
    """d/dt of `arm_links`. The base's angular velocity enters, its linear velocity never does.

    p_k counts as a point of link k - 1.
    """
    w_J = frame_rotation_rates(arm, T_J, w_0, qdot)
    Rdot_J = [skew(w) @ rotation_of(T) for w, T in zip(w_J, T_J, strict=True)]  # (67)
    k, kdot = joint_axes(T_J), [Rdot @ Z for Rdot in Rdot_J]
    p = [position_of(T) for T in T_J]
    pdot = [np.zeros(3)] + [point_rate(T_J, j - 1, p[j], w_0, qdot) for j in range(1, arm.n + 1)]
    I, r, J_T, J_R = [], [], [], []
    for i in range(arm.n + 1):
        R, r_i = rotation_of(T_L[i]), position_of(T_L[i])
        Rdot = Rdot_J[i + 1] if i else Rdot_J[0]  # (69)
        half = Rdot @ arm.inertia[i] @ R.T
        I.append(half + half.T)  # (70), also for the base
        rdot = point_rate(T_J, i, r_i, w_0, qdot) if i else np.zeros(3)
        r.append(rdot)
        J_R.append(columns(arm.n, kdot[1 : i + 1]))  # (71 corrected: 3 x (N - i) zeros)
        J_T.append(
            columns(arm.n, [cross(kdot[j], r_i - p[j]) + cross(k[j], rdot - pdot[j]) for j in range(1, i + 1)])
        )  # (72 corrected), (73)
    return LinkRates(I, r, J_T, J_R)
