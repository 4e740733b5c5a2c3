"""Dual quaternions: poses, twists and wrenches as 8-vectors `[real (4), dual (4)]`, Hamilton, scalar first, eps^2 = 0.

Valverde & Tsiotras, Spacecraft-mounted robotic systems in dual quaternion algebra (2018), section 2; equation numbers
are theirs. `dq_XY` is the pose of Y relative to X: `dq = quat_XY + eps 1/2 p_XY quat_XY`, so that `dq_XZ = dq_XY dq_YZ`
(they write q_Y/X).

    twist    w + eps v      real angular, dual linear
    wrench   f + eps tau    real FORCE, dual torque: the swap of one makes its slots match the other's
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .elementary import Array, sqrt, where
from .se3 import Pose, exp_se3, log_se3
from .so3 import (
    cross,
    quat_conjugate,
    quat_exp,
    quat_from_rotation,
    quat_log,
    quat_multiply,
    rotation,
    skew,
)

DQ_ONE = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # neither turned nor moved
DQ_SWAP = np.block([[np.zeros((4, 4)), np.eye(4)], [np.eye(4), np.zeros((4, 4))]])  # X: a^s = X a


# ---- quaternions, table 1


def quat_dot(a: Array, b: Array) -> Array:
    """a . b = 1/2 (a* b + b* a) = (a0 b0 + a.b, 0), (4,)."""
    return np.concatenate([[a @ b], np.zeros(3)])


def quat_cross(a: Array, b: Array) -> Array:
    """a x b = 1/2 (a b - b* a*) = (0, a0 b + b0 a + a x b): the vector part of the product, (4,)."""
    return np.concatenate([[0.0], a[0] * b[1:] + b[0] * a[1:] + cross(a[1:], b[1:])])


def quat_left(a: Array) -> Array:
    """[[a]]_L with `a b = [[a]]_L b` (3), (4, 4)."""
    return np.block([[a[:1, None], -a[None, 1:]], [a[1:, None], a[0] * np.eye(3) + skew(a[1:])]])


def quat_right(b: Array) -> Array:
    """[[b]]_R with `a b = [[b]]_R a` (4), (4, 4)."""
    return np.block([[b[:1, None], -b[None, 1:]], [b[1:, None], b[0] * np.eye(3) - skew(b[1:])]])


def quat_skew(s: Array) -> Array:
    """[s]^x = diag(0, s^) of a vector quaternion (1), (4, 4)."""
    return np.block([[np.zeros((1, 1)), np.zeros((1, 3))], [np.zeros((3, 1)), skew(s[1:])]])


# ---- dual quaternions, table 2


def dq_multiply(a: Array, b: Array) -> Array:
    """a b = a_r b_r + eps (a_d b_r + a_r b_d), (8,)."""
    dual = quat_multiply(a[4:], b[:4]) + quat_multiply(a[:4], b[4:])
    return np.concatenate([quat_multiply(a[:4], b[:4]), dual])


def dq_conjugate(a: Array) -> Array:
    """a* = a_r* + eps a_d*: the inverse of a pose, (8,)."""
    return np.concatenate([quat_conjugate(a[:4]), quat_conjugate(a[4:])])


def dq_dot(a: Array, b: Array) -> Array:
    """a . b = 1/2 (a* b + b* a), a dual number: `q . q = 1` for poses, (8,)."""
    return np.concatenate([quat_dot(a[:4], b[:4]), quat_dot(a[4:], b[:4]) + quat_dot(a[:4], b[4:])])


def dq_cross(a: Array, b: Array) -> Array:
    """a x b = 1/2 (a b - b* a*), (8,)."""
    return np.concatenate([quat_cross(a[:4], b[:4]), quat_cross(a[4:], b[:4]) + quat_cross(a[:4], b[4:])])


def dq_circle(a: Array, b: Array) -> Any:
    """a o b: the plain scalar product of the eight numbers. `W o w^s` is power."""
    return a @ b


def dq_swap(a: Array) -> Array:
    """a^s = a_d + eps a_r, (8,)."""
    return np.concatenate([a[4:], a[:4]])


def dq_norm(a: Array) -> Any:
    """sqrt(a o a). Not one for poses: those are unit in the dot product (`dq_dot`)."""
    return sqrt(a @ a)


def dq_vector_part(a: Array) -> Array:
    """(0, a_r) + eps (0, a_d), (8,)."""
    return np.concatenate([[0.0], a[1:4], [0.0], a[5:]])


def dq_left(a: Array) -> Array:
    """[[a]]_L with `a b = [[a]]_L b` (8), (9): (8, 8)."""
    real, dual = quat_left(a[:4]), quat_left(a[4:])
    return np.block([[real, np.zeros((4, 4))], [dual, real]])


def dq_right(b: Array) -> Array:
    """[[b]]_R with `a b = [[b]]_R a` (8), (9): (8, 8)."""
    real, dual = quat_right(b[:4]), quat_right(b[4:])
    return np.block([[real, np.zeros((4, 4))], [dual, real]])


def dq_skew(s: Array) -> Array:
    """[s]^x with `s x b = [s]^x b` for vector dual quaternions (7), (8, 8)."""
    real, dual = quat_skew(s[:4]), quat_skew(s[4:])
    return np.block([[real, np.zeros((4, 4))], [dual, real]])


# ---- poses


def dq_from_pose(X_AB: Pose) -> Array:
    """dq_AB = quat_AB + eps 1/2 p_AB quat_AB, scalar part not negative, (8,)."""
    quat = quat_from_rotation(X_AB.R)
    return dq_from_parts(quat, X_AB.p)


def dq_from_parts(quat_AB: Array, p_AB: Array) -> Array:
    """dq_AB of a unit quaternion and a position in A, (8,)."""
    return np.concatenate([quat_AB, 0.5 * quat_multiply(_pure(p_AB), quat_AB)])


def pose_from_dq(dq_AB: Array) -> Pose:
    """(R_AB, p_AB) with p_AB = 2 q_d q_r*; the norm of the real part does not matter."""
    real, dual = dq_AB[:4], dq_AB[4:]
    return Pose(rotation(real), 2.0 * quat_multiply(dual, quat_conjugate(real))[1:] / (real @ real))


def dq_normalize(a: Array) -> Array:
    """The nearest pose: q_r / |q_r|, and q_d less its part along q_r, (8,)."""
    n = sqrt(a[:4] @ a[:4])
    real, dual = a[:4] / n, a[4:] / n
    return np.concatenate([real, dual - (real @ dual) * real])


def dq_adjoint(dq_AB: Array) -> Array:
    """Ad = [[q]]_L [[q*]]_R: takes s in B to `q s q*` in A, twists and wrenches alike (14), (19), (21): (8, 8)."""
    return dq_left(dq_AB) @ dq_right(dq_conjugate(dq_AB))


def dq_adjoint_inverse(dq_AB: Array) -> Array:
    """Ad^- = [[q*]]_L [[q]]_R: takes s in A to `q* s q` in B (12), (18), (20): (8, 8)."""
    return dq_left(dq_conjugate(dq_AB)) @ dq_right(dq_AB)


def pose_adjoint(X_AB: Pose) -> Array:
    """`dq_adjoint(dq_from_pose(X_AB))` without the quaternion: [R 0; p^ R R] between the scalar rows, (8, 8)."""
    R, p = X_AB
    return _between_scalars(R, np.zeros((3, 3)), skew(p) @ R, R, one=1.0)


def pose_adjoint_inverse(X_AB: Pose) -> Array:
    """`dq_adjoint_inverse(dq_from_pose(X_AB))` without the quaternion, (8, 8)."""
    R, p = X_AB
    return _between_scalars(R.T, np.zeros((3, 3)), -(R.T @ skew(p)), R.T, one=1.0)


def dq_to_parent(X_AB: Pose, s_B: Array) -> Array:
    """q s q* of the pose X_AB: a twist or wrench about Bo in B, taken about Ao in A (19), (21):
    (8,) or columns (8, k).
    """
    real = X_AB.R @ s_B[1:4]
    return _with_scalars(real, X_AB.R @ s_B[5:] + cross(X_AB.p, real))


def dq_to_child(X_AB: Pose, s_A: Array) -> Array:
    """q* s q of the pose X_AB: a twist or wrench about Ao in A, taken about Bo in B (18), (20):
    (8,) or columns (8, k).
    """
    R_BA = X_AB.R.T
    return _with_scalars(R_BA @ s_A[1:4], R_BA @ (s_A[5:] - cross(X_AB.p, s_A[1:4])))


# ---- exponential, logarithm, interpolation


def dq_exp(twist: Array) -> Array:
    """Pose reached after one second of the constant body twist w + eps v, (8,)."""
    w, v = twist[1:4], twist[5:]
    return dq_from_parts(quat_exp(w), exp_se3(np.concatenate([w, v])).p)


def dq_log(dq: Array) -> Array:
    """Constant body twist w + eps v that reaches the pose in one second, turning by pi at most, (8,)."""
    w = quat_log(dq[:4])
    V = log_se3(Pose(rotation(dq[:4]), pose_from_dq(dq).p))
    return np.concatenate([[0.0], w, [0.0], V[3:]])


def dq_interpolate(dq_A: Array, dq_B: Array, s: Any) -> Array:
    """A screw motion from pose A (s = 0) to B (s = 1), the short way: dq_A exp(s log(dq_A* dq_B)) (ScLERP), (8,)."""
    step = dq_multiply(dq_conjugate(dq_A), dq_B)
    return dq_multiply(dq_A, dq_exp(s * dq_log(where(step[0] < 0.0, -step, step))))


# ---- twists, wrenches and dual inertia


def dual_twist(V: Array) -> Array:
    """w + eps v of V = [w; v], (8,); columns (6, k) to (8, k)."""
    return _with_scalars(V[:3], V[3:])


def twist_from_dual(twist: Array) -> Array:
    """[w; v] of w + eps v, (6,)."""
    return np.concatenate([twist[1:4], twist[5:]])


def dual_wrench(F: Array) -> Array:
    """f + eps tau of F = [tau; f], (8,); columns (6, k) to (8, k)."""
    return _with_scalars(F[3:], F[:3])


def wrench_from_dual(wrench: Array) -> Array:
    """[tau; f] of f + eps tau, (6,)."""
    return np.concatenate([wrench[5:], wrench[1:4]])


def dual_inertia(mass: Any, inertia: Array) -> Array:
    """M = diag(1, m 1, 1, I) about the centre of mass, with momentum `M w^s` (22), (23): (8, 8)."""
    return _between_scalars(mass * np.eye(3), np.zeros((3, 3)), np.zeros((3, 3)), inertia, one=1.0)


def unswapped(M: Array) -> Array:
    """H(M) = H([M1 M2]) = [M2 M1], so that `M w^s = H(M) w` (25)-(28): (8, 8)."""
    return np.concatenate([M[:, 4:], M[:, :4]], axis=1)


def _pure(p: Array) -> Array:
    return np.concatenate([[0.0], p])


def _with_scalars(real: Array, dual: Array) -> Array:
    zero = np.zeros((1, *real.shape[1:]))
    return np.concatenate([zero, real, zero, dual])


def _between_scalars(A: Array, B: Array, C: Array, D: Array, *, one: float) -> Array:
    """[A B; C D] of 3x3 blocks with the two scalar rows and columns put in, `one` on their diagonal."""
    s, row, col = np.full((1, 1), one), np.zeros((1, 3)), np.zeros((3, 1))
    return np.block([[s, row, 0 * s, row], [col, A, col, B], [0 * s, row, s, row], [col, C, col, D]])
