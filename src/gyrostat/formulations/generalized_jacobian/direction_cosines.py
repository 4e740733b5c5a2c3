"""Equations (1)-(10): Denavit-Hartenberg kinematics by homogeneous transformations.

Lists of transforms run over the paper's own indices: T_J[0..N+1] with J_0 the base and J_{N+1} the end effector,
T_L[0..N].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import Array, cos, sin
from .arm import Arm, Z


def twist_cosines(alpha: float) -> tuple[float, float]:
    """cos and sin of a constant twist, exact at right angles: structural zeros then vanish from traced code."""
    c, s = (0.0 if abs(x) < 1e-15 else float(x) for x in (np.cos(alpha), np.sin(alpha)))
    return c, s


def dh_transform(theta: Any, d: Any, alpha: Any, c: Any) -> Array:
    """A (4, 4) from J_{i+1} to J_i components: `Rz(theta) Tz(d) Tx(c) Rx(alpha)`. (1), (2)"""
    ct, st = cos(theta), sin(theta)
    ca, sa = twist_cosines(alpha)
    return np.array(
        [[ct, -st * ca, st * sa, c * ct], [st, ct * ca, -ct * sa, c * st], [0.0, sa, ca, d], [0.0, 0.0, 0.0, 1.0]]
    )


def homogeneous(R: Array, p: Array) -> Array:
    """T = [[R, p], [0, 1]], (4, 4). (3)"""
    return np.vstack([np.hstack([R, np.asarray(p)[:, None]]), np.array([[0.0, 0.0, 0.0, 1.0]])])


def euler_rotation(phi: Any, theta: Any, psi: Any) -> Array:
    """R_0 = Rz(psi) Ry(theta) Rx(phi), element by element. (6), (7 corrected: phi where psi is printed in columns 2, 3)

    The paper calls it "1-2-3": about fixed axes x, y, z in turn; yaw-pitch-roll about moving ones.
    """
    cf, sf, ct, st, cp, sp = cos(phi), sin(phi), cos(theta), sin(theta), cos(psi), sin(psi)
    return np.array(
        [
            [cp * ct, cp * st * sf - sp * cf, cp * st * cf + sp * sf],
            [sp * ct, sp * st * sf + cp * cf, sp * st * cf - cp * sf],
            [-st, ct * sf, ct * cf],
        ]
    )


def euler_rate_matrix(theta: Any, psi: Any) -> Array:
    """E_I with `w_0 = E_I (phi', theta', psi')` in inertial components; singular at theta = +-90 degrees.

    (The nomenclature prints the matrix that gives body components.)
    """
    ct, st, cp, sp = cos(theta), sin(theta), cos(psi), sin(psi)
    return np.array([[ct * cp, -sp, 0.0], [ct * sp, cp, 0.0], [-st, 0.0, 1.0]])


def joint_transforms(arm: Arm, T_J0: Array, q: Array) -> list[Array]:
    """T_J[0..N+1], the end effector last. (8), (9: up to N + 1)"""
    T_J = [T_J0, T_J0 @ homogeneous(arm.R01, arm.b0)]  # (8)
    for i in range(arm.n):
        T_J.append(T_J[-1] @ dh_transform(q[i], arm.d[i], arm.alpha[i], arm.c[i]))  # (9)
    return T_J


def link_transforms(arm: Arm, T_J: list[Array], q: Array) -> list[Array]:
    """T_L[0..N]; R_L[i] = R_J[i + 1] (4). The centre of mass: `T_J[i] A(q_i, d_i, alpha_i, a_i)`. (10 corrected)"""
    T_L = [T_J[0]]
    for i in range(arm.n):
        T = T_J[i + 1] @ dh_transform(q[i], arm.d[i], arm.alpha[i], arm.a[i])  # (10)
        T_L.append(T @ homogeneous(np.eye(3), arm.offset[i]))
    return T_L


def rotation_of(T: Array) -> Array:
    """R of T, (3, 3). (3)"""
    return T[:3, :3]


def position_of(T: Array) -> Array:
    """Translation of T, (3,). (3)"""
    return T[:3, 3]


def joint_axes(T_J: list[Array]) -> list[Array]:
    """k[i] = R_J[i] z, the axis of joint i, i = 1..N; k[0] is unused (zero). (5)"""
    return [np.zeros(3)] + [rotation_of(T) @ Z for T in T_J[1:-1]]
