"""Spatial inertias: rigid bodies by their ten parameters, and general symmetric 6x6 ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .elementary import Array, unboxed
from .linear import mirror
from .se3 import Pose
from .so3 import cross, skew


class RigidInertia(NamedTuple):
    """Mass m, first moment h = m c (3,), and inertia I_o (3, 3) about the frame's origin:
    linear in the ten parameters.
    """

    m: Any
    h: Array
    I_o: Array

    def __matmul__(self, V: Array) -> Array:
        """Spatial momentum `[I_o w + h x v; m v - h x w]` of the twist V: (6,) or columns (6, k)."""
        w, v = V[:3], V[3:]
        return np.concatenate([self.I_o @ w + cross(self.h, v), self.m * v - cross(self.h, w)])

    def __add__(self, other: RigidInertia) -> RigidInertia:  # type: ignore[override]
        return RigidInertia(self.m + other.m, self.h + other.h, self.I_o + other.I_o)

    def velocity_product(self, V: Array) -> Array:
        """V x* (M V) of the twist V, (6,): `[w x I_o w + h x (w x v); w x (m v - h x w)]`.

        Without the term v x m v, which is zero, but in floats leaves some 1e-16 m v^2: much at orbital speeds.
        """
        w, v = V[:3], V[3:]
        carried = cross(w, v)
        torque = cross(w, self.I_o @ w) + cross(self.h, carried)
        return np.concatenate([torque, self.m * carried - cross(w, cross(self.h, w))])

    @property
    def matrix(self) -> Array:
        """M = [[I_o, h^], [-h^, m 1]], (6, 6)."""
        H = skew(self.h)
        return np.block([[self.I_o, H], [-H, self.m * np.eye(3)]])


def rigid_inertia(mass: Any, com: Array, inertia: Array) -> RigidInertia:
    """From mass, centre of mass and inertia about it: I_o = I_c - m c^ c^."""
    com = np.asarray(com)
    C = skew(com)
    return RigidInertia(mass, mass * com, mirror(inertia - mass * (C @ C)))


def rigid_inertia_to_parent(X_PB: Pose, M: RigidInertia) -> RigidInertia:
    """The same body's inertia about Po in P."""
    R, p = X_PB
    h, P = R @ M.h, skew(p)  # I_P = R I R^T - h^ p^ - p^ h^ - m p^ p^
    H = skew(h)
    I_P = turned(R, M.I_o) - H @ P - P @ (H + M.m * P)
    return RigidInertia(M.m, h + M.m * p, mirror(I_P))


def inertia_to_parent(X_PB: Pose, M: Array) -> Array:
    """`Ad_BP^T M Ad_BP` for a symmetric M = [[A, B], [B^T, C]], (6, 6): turned block by block, then shifted by p."""
    R, p = X_PB
    A, B, C = (turned(R, block) for block in (M[:3, :3], M[:3, 3:], M[3:, 3:]))
    P, C = skew(p), mirror(C)
    B_P = B + P @ C
    A_P = mirror(A + P @ B_P.T - B @ P)
    return np.block([[A_P, B_P], [B_P.T, C]])


def turned(R: Array, A: Array) -> Array:
    """`R A R^T`, (3, 3). About a coordinate axis by the squares and the product of sine and cosine: two thirds of the
    operations, and as exact.
    """
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if all(type(x) is float for x in (*R[k], *R[:, k])) and list(R[k]) == list(R[:, k]) == list(np.eye(3)[k]):
            return _turned_about(k, i, j, R[i, i], R[j, i], A)
    return R @ A @ R.T


def _turned_about(k: int, i: int, j: int, c: Any, s: Any, A: Array) -> Array:
    T = np.empty((3, 3), dtype=object)
    apart = A[i, i] - A[j, j]
    if A[i, j] is A[j, i]:
        g = s * apart + (2.0 * c) * A[i, j]
        T[i, j] = T[j, i] = c * g - A[i, j]
    else:
        both = A[i, j] + A[j, i]
        g = s * apart + c * both
        w = s * (c * apart - s * both)
        T[i, j], T[j, i] = A[i, j] + w, A[j, i] + w
    T[i, i], T[j, j] = A[i, i] - s * g, A[j, j] + s * g
    T[i, k], T[j, k] = c * A[i, k] - s * A[j, k], s * A[i, k] + c * A[j, k]
    T[k, i], T[k, j] = c * A[k, i] - s * A[k, j], s * A[k, i] + c * A[k, j]
    T[k, k] = A[k, k]
    return unboxed(T)


def inertia_matrix(components: Array) -> Array:
    """Symmetric (3, 3) from (xx, xy, xz, yy, yz, zz)."""
    xx, xy, xz, yy, yz, zz = components
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def inertia_components(matrix: Array) -> Array:
    """(xx, xy, xz, yy, yz, zz) of a symmetric (3, 3)."""
    return np.asarray(matrix)[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
