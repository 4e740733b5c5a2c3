"""Rotations: matrices, unit quaternions (Hamilton, scalar first), rotation vectors, roll-pitch-yaw.

`R_AB` and `quat_AB` take B components to A components. Quaternions need not have norm one: `rotation` normalises.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from .elementary import Array, asin, atan2, cos, minimum, sin, snapped, sqrt, where


def cross(a: Array, b: Array) -> Array:
    """a x b, (3,)."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def skew(a: Array) -> Array:
    """The matrix a^ with `a^ b = a x b`, (3, 3)."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def norm(a: Array) -> Any:
    """Euclidean length."""
    return sqrt(a @ a)


def stumpff(k: int, x: Any) -> Any:
    """c_k(x) = sum_j (-x)^j / (2j + k)!, k = 1..5: with x = theta^2,

        c_1 = sin(theta) / theta,  c_2 = (1 - cos(theta)) / theta^2,  c_3 = (theta - sin(theta)) / theta^3,
        c_4 = (theta^2 / 2 - 1 + cos(theta)) / theta^4,  c_5 = (theta^3 / 6 - theta + sin(theta)) / theta^5.

    A series below x = 1, where the closed forms cancel; smooth in x, derivatives included.
    """
    small = x < 1.0
    y = where(small, x, 0.0)
    series: Any = 0.0
    for j in reversed(range(10)):
        series = 1.0 / factorial(2 * j + k) - y * series
    z = where(small, 1.0, x)
    theta = sqrt(z)
    if k == 1:
        closed = sin(theta) / theta
    elif k == 2:
        closed = (1.0 - cos(theta)) / z
    elif k == 3:
        closed = (theta - sin(theta)) / (z * theta)
    elif k == 4:
        closed = (0.5 * z - 1.0 + cos(theta)) / (z * z)
    else:
        closed = (z * theta / 6.0 - theta + sin(theta)) / (z * z * theta)
    return where(small, series, closed)


# ---- rotation matrices


def rotation_about(axis: Array, angle: Any) -> Array:
    """Rotation by `angle` about the unit vector `axis` (Rodrigues), (3, 3).

    Exact zeros stay zero for axes along x, y, z.
    """
    c, s = cos(angle), sin(angle)
    a = np.asarray(axis)
    return c * np.eye(3) + s * skew(a) + (1.0 - c) * np.outer(a, a) if _oblique(a) else _about_coordinate_axis(a, c, s)


def _oblique(a: Array) -> bool:
    return a.dtype == object or np.count_nonzero(a) != 1


def _about_coordinate_axis(a: Array, c: Any, s: Any) -> Array:
    i = int(np.flatnonzero(a)[0])
    j, k = (i + 1) % 3, (i + 2) % 3
    R = np.zeros((3, 3), dtype=object if not isinstance(c, float) else float)
    R[i, i], R[j, j], R[k, k] = 1.0, c, c
    R[k, j], R[j, k] = a[i] * s, -a[i] * s
    return R


def rotation_from_rpy(rpy: Array) -> Array:
    """`Rz(yaw) Ry(pitch) Rx(roll)`: rotations about fixed x, y, z in turn, as URDF's rpy, (3, 3)."""
    x, y, z = np.eye(3)
    return rotation_about(z, rpy[2]) @ rotation_about(y, rpy[1]) @ rotation_about(x, rpy[0])


def rpy_from_rotation(R: Array) -> Array:
    """Roll, pitch, yaw of R, pitch in [-pi/2, pi/2]; at the singularity roll is zero (3,).

    Yaw is read from what is left once roll is undone, R Rx(roll)^T = Rz(yaw) Ry(pitch): so the three give R back to
    round-off however near the singularity is, where roll alone is ill determined.
    """
    sp = -R[2, 0]
    cp = sqrt(R[0, 0] * R[0, 0] + R[1, 0] * R[1, 0])
    roll = where(cp > 1e-12, atan2(R[2, 1], R[2, 2]), 0.0)
    c, s = cos(roll), sin(roll)
    yaw = atan2(R[0, 2] * s - R[0, 1] * c, R[1, 1] * c - R[1, 2] * s)
    return np.array([roll, atan2(sp, cp), yaw])


# ---- quaternions


def quat_multiply(a: Array, b: Array) -> Array:
    """Hamilton product: `quat_AC = quat_multiply(quat_AB, quat_BC)`."""
    s, u, t, w = a[0], a[1:], b[0], b[1:]
    return np.concatenate([[s * t - u @ w], s * w + t * u + cross(u, w)])


def quat_conjugate(a: Array) -> Array:
    """The inverse rotation, for a quaternion of norm one.

    (4,), or (..., 4) of many.
    """
    return np.concatenate([a[:1], -a[1:]])


def quat_normalize(a: Array) -> Array:
    """`a` scaled to norm one.

    (4,), or (..., 4) of many.
    """
    return a / sqrt(a @ a)


def rotation(quat: Array) -> Array:
    """R_AB of quat_AB, (3, 3); the norm of the quaternion does not matter."""
    w, x, y, z = quat
    k = 2.0 / (w * w + x * x + y * y + z * z)
    kx, ky, kz = k * x, k * y, k * z
    return np.array(
        [
            [1.0 - (ky * y + kz * z), kx * y - kz * w, kx * z + ky * w],
            [kx * y + kz * w, 1.0 - (kx * x + kz * z), ky * z - kx * w],
            [kx * z - ky * w, ky * z + kx * w, 1.0 - (kx * x + ky * y)],
        ]
    )


def quat_from_rotation(R: Array) -> Array:
    """quat_AB of R_AB, scalar part not negative, (4,); or (3, 3, ...) to (4, ...).

    4 quat quat^T is linear in R; its row with the largest diagonal, normalised, is the quaternion (Shepperd's choice).
    """
    xx, yy, zz = R[0, 0], R[1, 1], R[2, 2]
    wx, wy, wz = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    xy, xz, yz = R[1, 0] + R[0, 1], R[0, 2] + R[2, 0], R[2, 1] + R[1, 2]
    rows = [
        np.array([1.0 + xx + yy + zz, wx, wy, wz]),
        np.array([wx, 1.0 + xx - yy - zz, xy, xz]),
        np.array([wy, xy, 1.0 - xx + yy - zz, yz]),
        np.array([wz, xz, yz, 1.0 - xx - yy + zz]),
    ]
    best, largest = rows[0], rows[0][0]
    for i in (1, 2, 3):
        better = rows[i][i] > largest
        best, largest = where(better, rows[i], best), where(better, rows[i][i], largest)
    best = best / sqrt(best[0] * best[0] + best[1] * best[1] + best[2] * best[2] + best[3] * best[3])
    return where(best[0] < 0.0, -best, best)


def quat_exp(phi: Array) -> Array:
    """Quaternion of the rotation vector `phi` (axis times angle), (4,)."""
    x = 0.25 * (phi @ phi)
    return np.concatenate([[1.0 - x * stumpff(2, x)], 0.5 * stumpff(1, x) * phi])


def quat_log(quat: Array) -> Array:
    """Rotation vector, shorter than or equal to pi, of a quaternion of any norm and sign, (3,);
    or (4, ...) to (3, ...).
    """
    quat = where(quat[0] < 0.0, -quat, quat)
    s, u = quat[0], quat[1:]
    n2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
    small = n2 < 1e-4 * s * s
    y = where(small, n2 / where(small, s * s, 1.0), 0.0)
    series = (1.0 - y * (1 / 3 - y * (1 / 5 - y * (1 / 7 - y * (1 / 9 - y / 11))))) / where(small, s, 1.0)
    n = sqrt(where(small, 1.0, n2))
    return 2.0 * where(small, series, atan2(n, s) / n) * u


# ---- exponential and logarithm of SO(3)


def exp_so3(phi: Array) -> Array:
    """Rotation matrix of the rotation vector `phi`, (3, 3)."""
    x, S = phi @ phi, skew(phi)
    return np.eye(3) + stumpff(1, x) * S + stumpff(2, x) * (S @ S)


def log_so3(R: Array) -> Array:
    """Rotation vector of `R`, shorter than or equal to pi, (3,)."""
    return quat_log(quat_from_rotation(R))


def left_jacobian(phi: Array) -> Array:
    """J with `d/dt exp_so3(phi) = (J phidot)^ exp_so3(phi)`, (3, 3)."""
    x, S = phi @ phi, skew(phi)
    return np.eye(3) + stumpff(2, x) * S + stumpff(3, x) * (S @ S)


def left_jacobian_inverse(phi: Array) -> Array:
    """Inverse of `left_jacobian`; singular at |phi| = 2 pi, (3, 3)."""
    x, S = phi @ phi, skew(phi)
    return np.eye(3) - 0.5 * S + (0.5 * stumpff(3, x) - stumpff(4, x)) / stumpff(2, x) * (S @ S)


def angle_between(a: Array, b: Array) -> Any:
    """Angle between two rotations (matrices), accurate near zero: 2 asin(|R_a - R_b|_F / sqrt(8))."""
    D = (a - b).ravel()
    return 2.0 * asin(minimum(sqrt(D @ D) / np.sqrt(8.0), 1.0))


def frame_along(z: Array) -> Array:
    """A rotation whose third column is the unit vector z; the identity for z = (0, 0, 1). Duff et al. (2017)."""
    sign = where(z[2] < 0.0, -1.0, 1.0)
    a = -1.0 / (sign + z[2])
    b = z[0] * z[1] * a
    x = np.array([1.0 + sign * z[0] * z[0] * a, sign * b, -sign * z[0]])
    y = np.array([b, sign + z[1] * z[1] * a, -z[1]])
    return snapped(np.column_stack([x, y, z]))
