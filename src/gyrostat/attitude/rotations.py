"""Attitude by Euler's axis a and angle f, directly or through the quaternion (cos f/2, a sin f/2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.elementary import Array, atan2, cos, sin, sqrt, where
from ..algebra.so3 import (
    exp_so3,
    left_jacobian,
    left_jacobian_inverse,
    log_so3,
    norm,
    quat_from_rotation,
    quat_normalize,
    skew,
)
from .abstract import AbstractParameterisation

ONE = np.eye(3)


class Quaternion(AbstractParameterisation):
    """q = quat_NB = (n; e), scalar first. Forbes writes (e; n).

    C = (n^2 - e.e) 1 + 2 e e^T - 2 n e^,   S = 2 [-e, n 1 - e^],   Gamma = 1/2 [-e^T; n 1 + e^],   Phi = q.q - 1
    """

    name, labels = "quaternion", ("w", "x", "y", "z")

    def C(self, q: Array) -> Array:
        n, e = q[0], q[1:]
        return (n * n - e @ e) * ONE + 2.0 * np.outer(e, e) - 2.0 * n * skew(e)

    def S(self, q: Array) -> Array:
        n, e = q[0], q[1:]
        return 2.0 * np.column_stack([-e, n * ONE - skew(e)])

    def Gamma(self, q: Array) -> Array:
        n, e = q[0], q[1:]
        return 0.5 * np.vstack([-e, n * ONE + skew(e)])

    def Phi(self, q: Array) -> Array:
        return np.array([q @ q - 1.0])

    def Xi(self, q: Array) -> Array:
        return np.array([2.0 * q])

    def from_C(self, C: Array) -> Array:
        return quat_from_rotation(C.T)

    def project(self, q: Array) -> Array:
        return quat_normalize(q)


class AxisAngle(AbstractParameterisation):
    """q = (a; f), a of length one.

    C = cos f 1 + (1 - cos f) a a^T - sin f a^,   S = [sin f 1 - (1 - cos f) a^, a],
    Gamma = [1/2 (a^ - cot(f/2) a^ a^); a^T],     Phi = a.a - 1
    """

    name, labels, singular = "axis_angle", ("ax", "ay", "az", "angle"), "angle 0 and 2 pi: the axis is not defined"

    def C(self, q: Array) -> Array:
        a, c, s = q[:3], cos(q[3]), sin(q[3])
        return c * ONE + (1.0 - c) * np.outer(a, a) - s * skew(a)

    def S(self, q: Array) -> Array:
        a, c, s = q[:3], cos(q[3]), sin(q[3])
        return np.column_stack([s * ONE - (1.0 - c) * skew(a), a])

    def Gamma(self, q: Array) -> Array:
        a, half = q[:3], 0.5 * q[3]
        A = skew(a)
        return np.vstack([0.5 * (A - cos(half) / sin(half) * (A @ A)), a])

    def Phi(self, q: Array) -> Array:
        return np.array([q[:3] @ q[:3] - 1.0])

    def Xi(self, q: Array) -> Array:
        return np.array([np.concatenate([2.0 * q[:3], [0.0]])])

    def margin(self, q: Array) -> Any:
        return sin(0.5 * q[3])

    def from_C(self, C: Array) -> Array:
        """Angle from 0 to pi; the axis is x where the angle is zero."""
        quat = quat_from_rotation(C.T)
        e2 = quat[1:] @ quat[1:]
        turned = e2 > 0.0
        size = sqrt(where(turned, e2, 1.0))
        axis = where(turned, quat[1:] / size, ONE[0])
        return np.concatenate([axis, [2.0 * atan2(where(turned, size, 0.0), quat[0])]])

    def project(self, q: Array) -> Array:
        return np.concatenate([q[:3] / norm(q[:3]), q[3:]])


class RotationVector(AbstractParameterisation):
    """q = f a.

    C = exp(-q^),   S = 1 - (1 - cos f)/f^2 q^ + (f - sin f)/f^3 q^ q^,
    Gamma = 1 + 1/2 q^ + (1 - f/2 cot(f/2))/f^2 q^ q^
    """

    name, labels, singular = "rotation_vector", ("x", "y", "z"), "angle 2 pi"

    def C(self, q: Array) -> Array:
        return exp_so3(-q)

    def S(self, q: Array) -> Array:
        return left_jacobian(-q)

    def Gamma(self, q: Array) -> Array:
        return left_jacobian_inverse(-q)

    def margin(self, q: Array) -> Any:
        return 1.0 - sqrt(q @ q) / (2.0 * np.pi)

    def from_C(self, C: Array) -> Array:
        return log_so3(C.T)

    def project(self, q: Array) -> Array:
        """The shorter way round, once the vector is longer than pi."""
        f2 = q @ q
        long = f2 > np.pi**2
        f = sqrt(where(long, f2, 1.0))
        return where(long, q * (1.0 - 2.0 * np.pi / f), q)


class Rodrigues(AbstractParameterisation):
    """q = a tan(f/2), Gibbs' vector.

    C = ((1 - q.q) 1 + 2 q q^T - 2 q^)/(1 + q.q),   S = 2/(1 + q.q) (1 - q^),   Gamma = 1/2 (1 + q q^T + q^)
    """

    name, labels, singular = "rodrigues", ("x", "y", "z"), "angle pi"

    def C(self, q: Array) -> Array:
        q2 = q @ q
        return ((1.0 - q2) * ONE + 2.0 * np.outer(q, q) - 2.0 * skew(q)) / (1.0 + q2)

    def S(self, q: Array) -> Array:
        return 2.0 / (1.0 + q @ q) * (ONE - skew(q))

    def Gamma(self, q: Array) -> Array:
        return 0.5 * (ONE + np.outer(q, q) + skew(q))

    def margin(self, q: Array) -> Any:
        return 1.0 / (1.0 + q @ q)

    def from_C(self, C: Array) -> Array:
        quat = quat_from_rotation(C.T)
        return quat[1:] / quat[0]


class ModifiedRodrigues(AbstractParameterisation):
    """q = a tan(f/4). `project` switches to the shadow set -q/q.q, the same attitude, once q is longer than one.

    C = 1 + (8 q^ q^ - 4 (1 - q.q) q^)/(1 + q.q)^2,   S = 4/(1 + q.q)^2 ((1 - q.q) 1 - 2 q^ + 2 q q^T),
    Gamma = 1/4 ((1 - q.q) 1 + 2 q^ + 2 q q^T)
    """

    name, labels, singular = "modified_rodrigues", ("x", "y", "z"), "angle 2 pi"

    def C(self, q: Array) -> Array:
        q2, Q = q @ q, skew(q)
        return ONE + (8.0 * (Q @ Q) - 4.0 * (1.0 - q2) * Q) / ((1.0 + q2) * (1.0 + q2))

    def S(self, q: Array) -> Array:
        q2 = q @ q
        return 4.0 / ((1.0 + q2) * (1.0 + q2)) * ((1.0 - q2) * ONE - 2.0 * skew(q) + 2.0 * np.outer(q, q))

    def Gamma(self, q: Array) -> Array:
        return 0.25 * ((1.0 - q @ q) * ONE + 2.0 * skew(q) + 2.0 * np.outer(q, q))

    def margin(self, q: Array) -> Any:
        return 1.0 / (1.0 + q @ q)

    def from_C(self, C: Array) -> Array:
        """Of length one at most."""
        quat = quat_from_rotation(C.T)
        return quat[1:] / (1.0 + quat[0])

    def project(self, q: Array) -> Array:
        q2 = q @ q
        long = q2 > 1.0
        return where(long, -q / where(long, q2, 1.0), q)
