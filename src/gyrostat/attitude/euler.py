"""Euler angles in all twelve sequences: turns by q1, q2, q3 about the axes i, j, k of the body, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.elementary import Array, atan2, cos, sin, sqrt, where
from ..algebra.so3 import cross, rotation_about
from .abstract import AbstractParameterisation

AXES = np.eye(3)
# Axes of the twelve sequences of Euler angles
SEQUENCES = ("123", "132", "213", "231", "312", "321", "121", "131", "212", "232", "313", "323")


class Euler(AbstractParameterisation):
    """C = C_k(q3) C_j(q2) C_i(q1),  C_i(f) = exp(-f e_i^),   S = [C_k C_j e_i, C_k e_j, e_k],   Gamma = S^-1."""

    labels = ("first", "second", "third")

    def __init__(self, sequence: str) -> None:
        if sequence not in SEQUENCES:
            raise ValueError(f"Euler sequence '{sequence}' does not exist; expected one of {', '.join(SEQUENCES)}.")
        self.sequence = sequence
        self.name = f"euler_{sequence}"  # type: ignore[misc]
        self.i, self.j, self.k = (int(axis) - 1 for axis in sequence)
        self.proper = self.i == self.k
        third = 3 - self.i - self.j
        self.third = third if self.proper else self.k
        self.sign = 1.0 if (self.j - self.i) % 3 == 1 else -1.0  # of the permutation (i, j, third)
        self.singular = "second angle 0 or pi" if self.proper else "second angle +-pi/2"  # type: ignore[misc]

    def C(self, q: Array) -> Array:
        C_i, C_j, C_k = (rotation_about(AXES[a], -f) for a, f in zip((self.i, self.j, self.k), q, strict=True))
        return C_k @ C_j @ C_i

    def S(self, q: Array) -> Array:
        C_j, C_k = rotation_about(AXES[self.j], -q[1]), rotation_about(AXES[self.k], -q[2])
        return np.column_stack([C_k @ C_j @ AXES[self.i], C_k @ AXES[self.j], AXES[self.k]])

    def Gamma(self, q: Array) -> Array:
        a, b, c = self.S(q).T
        bc = cross(b, c)
        return np.array([bc, cross(c, a), cross(a, b)]) / (a @ bc)

    def margin(self, q: Array) -> Any:
        return sin(q[1]) if self.proper else cos(q[1])

    def from_C(self, C: Array) -> Array:
        """Second angle in [0, pi] (proper) or [-pi/2, pi/2]; at the singularity the first is zero.

        The second and third are read from what is left once the first is undone, so that C comes back to round-off
        however near the singularity is.
        """
        i, j, t, s, R = self.i, self.j, self.third, self.sign, C.T
        y, x = (R[j, i], -s * R[t, i]) if self.proper else (-s * R[j, t], R[t, t])
        size = sqrt(x * x + y * y)
        first = where(size > 1e-12, atan2(y, where(size > 1e-12, x, 1.0)), 0.0)
        M = rotation_about(AXES[i], -first) @ R  # R_j(q2) R_k(q3)
        if self.proper:
            return np.array([first, atan2(-s * M[t, i], M[i, i]), atan2(-s * M[j, t], M[j, j])])
        return np.array([first, atan2(s * M[i, t], M[t, t]), atan2(s * M[j, i], M[j, j])])
