"""Poses X_AB = (R_AB, p_AB), twists, and the exponential map of SE(3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .elementary import Array
from .so3 import cross, exp_so3, left_jacobian, left_jacobian_inverse, log_so3, skew


class Pose(NamedTuple):
    """X_AB: rotation R_AB (3, 3) and position p_AB (3,) of B's origin from A's, in A."""

    R: Array
    p: Array


IDENTITY = Pose(np.eye(3), np.zeros(3))  # neither turned nor moved


def compose(X_AB: Pose, X_BC: Pose) -> Pose:
    """X_AC = X_AB X_BC: C seen from B, B seen from A."""
    return Pose(X_AB.R @ X_BC.R, X_AB.p + X_AB.R @ X_BC.p)


def inverse(X_AB: Pose) -> Pose:
    """X_BA: the pose of A in B."""
    return Pose(X_AB.R.T, -(X_AB.R.T @ X_AB.p))


def transform_point(X_AB: Pose, p_BQ: Array) -> Array:
    """p_AQ of the point Q, (3,)."""
    return X_AB.p + X_AB.R @ p_BQ


def adjoint(X_AB: Pose) -> Array:
    """Ad_AB: takes twists about Bo in B to twists about Ao in A, (6, 6). Its transpose takes wrenches from A to B."""
    R, p = X_AB
    return np.block([[R, np.zeros((3, 3))], [skew(p) @ R, R]])


def exp_se3(V: Array) -> Pose:
    """Pose reached from the identity after one second of constant body twist V = [w; v]."""
    w, v = V[:3], V[3:]
    return Pose(exp_so3(w), left_jacobian(w) @ v)


def log_se3(X: Pose) -> Array:
    """Constant body twist that reaches X in one second, rotating by pi at most, (6,)."""
    w = log_so3(X.R)
    return np.concatenate([w, left_jacobian_inverse(w) @ X.p])


def cross_motion(V: Array, U: Array) -> Array:
    """V x U: rate of change of a twist U that is fixed in a frame moving with twist V, (6,)."""
    return np.concatenate([cross(V[:3], U[:3]), cross(V[:3], U[3:]) + cross(V[3:], U[:3])])


def cross_force(V: Array, F: Array) -> Array:
    """V x* F: rate of change of a wrench F that is fixed in a frame moving with twist V, (6,).

    Dual of `cross_motion`.
    """
    return np.concatenate([cross(V[:3], F[:3]) + cross(V[3:], F[3:]), cross(V[:3], F[3:])])


def cross_motion_matrix(V: Array) -> Array:
    """V x as a matrix, (6, 6); V x* is minus its transpose."""
    return np.block([[skew(V[:3]), np.zeros((3, 3))], [skew(V[3:]), skew(V[:3])]])


def twist_to_child(X_PB: Pose, V: Array) -> Array:
    """Ad_BP V: the twist of the frame B if it were fixed to P, about Bo in B. V is (6,) or columns (6, k)."""
    R_BP, p = X_PB.R.T, X_PB.p
    return np.concatenate([R_BP @ V[:3], R_BP @ (V[3:] - cross(p, V[:3]))])


def wrench_to_parent(X_PB: Pose, F: Array) -> Array:
    """Ad_BP^T F: the wrench F about Bo in B, taken about Po in P. F is (6,) or columns (6, k)."""
    force = X_PB.R @ F[3:]
    return np.concatenate([X_PB.R @ F[:3] + cross(X_PB.p, force), force])
