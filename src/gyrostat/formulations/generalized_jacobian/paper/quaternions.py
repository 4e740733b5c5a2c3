"""Equations (18)-(25): the same kinematics by unit quaternions, in the paper's order: vector part first, scalar
last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....algebra import Array, cos, cross, sin
from ..arm import Arm


def axis_angle_quaternion(axis: Array, angle: Any) -> Array:
    """[axis sin(angle/2); cos(angle/2)], (4,). (18)"""
    return np.concatenate([np.asarray(axis) * sin(0.5 * angle), [cos(0.5 * angle)]])


def quaternion_rotation(quat: Array) -> Array:
    """The rotation matrix of a unit quaternion, (3, 3). (19)"""
    e1, e2, e3, n = quat
    return np.array(
        [
            [1.0 - 2.0 * (e2 * e2 + e3 * e3), 2.0 * (e1 * e2 - e3 * n), 2.0 * (e1 * e3 + e2 * n)],
            [2.0 * (e1 * e2 + e3 * n), 1.0 - 2.0 * (e1 * e1 + e3 * e3), 2.0 * (e2 * e3 - e1 * n)],
            [2.0 * (e1 * e3 - e2 * n), 2.0 * (e2 * e3 + e1 * n), 1.0 - 2.0 * (e1 * e1 + e2 * e2)],
        ]
    )


def product(q1: Array, q2: Array) -> Array:
    """q1 (x) q2, so that R(q1 (x) q2) = R(q1) R(q2), (4,). (20)"""
    u, s, w, t = q1[:3], q1[3], q2[:3], q2[3]
    return np.concatenate([s * w + t * u + cross(u, w), [s * t - u @ w]])


def conjugate(quat: Array) -> Array:
    """The inverse rotation, (4,)."""
    return np.concatenate([-quat[:3], quat[3:]])


def rotate(quat: Array, a: Array) -> Array:
    """quat (x) a (x) quat^*, with a four-vector a = (a1, a2, a3, 0), (4,). (21)"""
    return product(product(quat, a), conjugate(quat))


def dh_quaternion(theta: Any, alpha: Any) -> Array:
    """Rotation of the Denavit-Hartenberg step, (4,). (22 corrected: the second of four components is missing in
    print)
    """
    ct, st, ca, sa = cos(0.5 * theta), sin(0.5 * theta), np.cos(0.5 * alpha), np.sin(0.5 * alpha)
    return np.array([ct * sa, st * sa, st * ca, ct * ca])


def dh_translation(theta: Any, d: Any, c: Any) -> Array:
    """Translation of the Denavit-Hartenberg step as a four-vector, (4,). (23)"""
    return np.array([c * cos(theta), c * sin(theta), d, 0.0])


def joint_quaternions(arm: Arm, Q_J1: Array, q: Array) -> list[Array]:
    """Q[0..N], the rotations of J_1 .. J_{N+1}, from that of J_1 outwards. (24)"""
    Q = [Q_J1]
    for i in range(arm.n):
        Q.append(product(Q[-1], dh_quaternion(q[i], arm.alpha[i])))
    return Q


def joint_positions(arm: Arm, p_1: Array, Q: list[Array], q: Array) -> list[Array]:
    """p[0..N], the positions of J_1 .. J_{N+1}, as three-vectors. (25)"""
    p = [p_1]
    for i in range(arm.n):
        p.append(p[-1] + rotate(Q[i], dh_translation(q[i], arm.d[i], arm.c[i]))[:3])
    return p
