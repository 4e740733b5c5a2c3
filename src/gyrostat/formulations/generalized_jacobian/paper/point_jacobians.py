"""Equations (103)-(111): Jacobians of any point of the paper's arm, and their rates; [linear; angular] as in the
paper.
"""

from __future__ import annotations

import numpy as np

from ....algebra import Array, cross, skew, solve_spd
from ..arm import Arm
from ..direction_cosines import joint_axes, position_of
from ..inertia_blocks import Blocks
from ..link_rates import frame_rotation_rates, point_rate
from ..links import columns


def manipulator_jacobian(arm: Arm, T_J: list[Array], link: int, x: Array) -> Array:
    """J_m of the point at x (in N) on a link: columns [k_j x (x - p_j); k_j] for j <= link, (6, n). (104)"""
    k, p = joint_axes(T_J), [position_of(T) for T in T_J]
    inner = range(1, link + 1)
    return np.vstack([columns(arm.n, [cross(k[j], x - p[j]) for j in inner]), columns(arm.n, k[1 : link + 1])])


def base_jacobian(T_J: list[Array], x: Array) -> Array:
    """J_0 = [[1, -[x - p_0]x], [0, 1]], (6, 6). (105), (106)"""
    return np.block([[np.eye(3), -skew(x - position_of(T_J[0]))], [np.zeros((3, 3)), np.eye(3)]])


def point_twist(J_0: Array, J_m: Array, xdot_0: Array, qdot: Array) -> Array:
    """[v_X; w_i] = J_0 xdot_0 + J_m qdot, (6,). (103)"""
    return J_0 @ xdot_0 + J_m @ qdot


def generalized_jacobian(J_0: Array, J_m: Array, H: Blocks, H_0_inverse: Array) -> Array:
    """J* = J_m - J_0 H_0^-1 H_0m, (6, n); [v_X; w_i] = J* qdot + J_0 H_0^-1 M. (107), (108 with momentum), (110)"""
    return J_m - J_0 @ H_0_inverse @ H.H_0m


def manipulator_jacobian_rate(arm: Arm, T_J: list[Array], link: int, x: Array, w_0: Array, qdot: Array) -> Array:
    """d/dt J_m of a point fixed on the link, (6, n)."""
    k, w_J = joint_axes(T_J), frame_rotation_rates(arm, T_J, w_0, qdot)
    xdot = point_rate(T_J, link, x, w_0, qdot)
    linear, angular = [], []
    for j in range(1, link + 1):
        p = position_of(T_J[j])
        kdot = cross(w_J[j], k[j])
        linear.append(cross(kdot, x - p) + cross(k[j], xdot - point_rate(T_J, j - 1, p, w_0, qdot)))
        angular.append(kdot)
    return np.vstack([columns(arm.n, linear), columns(arm.n, angular)])


def generalized_jacobian_rate(
    J_0: Array, Jdot_m: Array, H: Blocks, H_0_inverse: Array, Hdot: Blocks, xdot_0i: Array
) -> Array:
    """dJ*/dt = J_m' - J_0' X - J_0 H_0^-1 (H_0m' - H_0' X), X = H_0^-1 H_0m, (6, n).

    xdot_0i: velocity of the point relative to the base's centre of mass (`point_rate`).
    """
    X = H_0_inverse @ H.H_0m
    Jdot_0 = np.block([[np.zeros((3, 3)), -skew(xdot_0i)], [np.zeros((3, 6))]])
    return Jdot_m - Jdot_0 @ X - J_0 @ H_0_inverse @ (Hdot.H_0m - Hdot.H_0 @ X)


def joint_rates_for(J_star: Array, twist: Array, damping: float = 0.0) -> Array:
    """qdot of least norm with J* qdot nearest to [v_E; w_E], (n,). (111)

    (111) inverts J*: that needs six joints, zero momentum and no dynamic singularity. Here J*^T (J* J*^T +
    damping^2)^-1 or, with at most six joints, (J*^T J* + damping^2)^-1 J*^T: the same where the inverse exists. Give a
    damping near singularities.
    """
    rows, n = J_star.shape
    if n >= rows:
        return J_star.T @ solve_spd(J_star @ J_star.T + damping * damping * np.eye(rows), twist)
    return solve_spd(J_star.T @ J_star + damping * damping * np.eye(n), J_star.T @ twist)
