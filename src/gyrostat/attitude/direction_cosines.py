"""Attitude by the axes of the body: all three, or two of them. No singularity, six or three constraints."""

from __future__ import annotations

import numpy as np

from ..algebra.elementary import Array
from ..algebra.so3 import cross, norm, skew
from .abstract import AbstractParameterisation

o = np.zeros(3)


class DirectionCosines(AbstractParameterisation):
    """q = (c1; c2; c3), the rows of C = the axes of B in N.

    S     = [0 c3^T 0; 0 0 c1^T; c2^T 0 0]
    Gamma = [0 -c3 c2; c3 0 -c1; -c2 c1 0]
    Phi   = (c1.c1 - 1, c2.c2 - 1, c2.c1, c1 x c2 - c3)
    """

    name = "direction_cosines"
    labels = tuple(f"c{i}{axis}" for i in (1, 2, 3) for axis in "xyz")

    def C(self, q: Array) -> Array:
        return q.reshape(3, 3)

    def S(self, q: Array) -> Array:
        c1, c2, c3 = self.C(q)
        return np.array([np.concatenate(row) for row in ((o, c3, o), (o, o, c1), (c2, o, o))])

    def Gamma(self, q: Array) -> Array:
        c1, c2, c3 = self.C(q)
        columns = ((o, c3, -c2), (-c3, o, c1), (c2, -c1, o))
        return np.column_stack([np.concatenate(column) for column in columns])

    def Phi(self, q: Array) -> Array:
        c1, c2, c3 = self.C(q)
        return np.concatenate([[c1 @ c1 - 1.0, c2 @ c2 - 1.0, c2 @ c1], cross(c1, c2) - c3])

    def Xi(self, q: Array) -> Array:
        c1, c2, _ = self.C(q)
        rows = ((2.0 * c1, o, o), (o, 2.0 * c2, o), (c2, c1, o))
        return np.vstack([*(np.concatenate(row) for row in rows), np.hstack([-skew(c2), skew(c1), -np.eye(3)])])

    def from_C(self, C: Array) -> Array:
        return C.reshape(9)

    def project(self, q: Array) -> Array:
        """Gram-Schmidt on c1, c2; c3 = c1 x c2."""
        return np.concatenate(_orthonormal(q[:3], q[3:6]))


class TwoVectors(AbstractParameterisation):
    """q = (c1; c2), with c3 = c1 x c2."""

    name = "two_vectors"
    labels = DirectionCosines.labels[:6]

    def C(self, q: Array) -> Array:
        c1, c2 = q[:3], q[3:]
        return np.array([c1, c2, cross(c1, c2)])

    def S(self, q: Array) -> Array:
        _, c2, c3 = self.C(q)
        return np.array([np.concatenate(row) for row in ((o, c3), (-c3, o), (c2, o))])

    def Gamma(self, q: Array) -> Array:
        c1, c2, c3 = self.C(q)
        return np.column_stack([np.concatenate(column) for column in ((o, c3), (-c3, o), (c2, -c1))])

    def Phi(self, q: Array) -> Array:
        c1, c2 = q[:3], q[3:]
        return np.array([c1 @ c1 - 1.0, c2 @ c2 - 1.0, c2 @ c1])

    def Xi(self, q: Array) -> Array:
        c1, c2 = q[:3], q[3:]
        return np.array([np.concatenate(row) for row in ((2.0 * c1, o), (o, 2.0 * c2), (c2, c1))])

    def from_C(self, C: Array) -> Array:
        return C[:2].reshape(6)

    def project(self, q: Array) -> Array:
        return np.concatenate(_orthonormal(q[:3], q[3:])[:2])


def _orthonormal(c1: Array, c2: Array) -> tuple[Array, Array, Array]:
    c1 = c1 / norm(c1)
    c2 = c2 - (c1 @ c2) * c1
    c2 = c2 / norm(c2)
    return c1, c2, cross(c1, c2)
