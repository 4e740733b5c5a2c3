"""Joint references: straight lines in joint space, and polynomials between states of motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, clip, where
from .references import JointPath, JointReference
from .timing import Timing


@dataclass(frozen=True, eq=False)
class Quintic:
    """Joints from (q, qdot, qddot) at `start` to (q, qdot, qddot) at the end: polynomials of fifth degree; after it, on
    at constant rate.

    begin, end: `JointReference`s, or triples of them.
    """

    begin: tuple[Any, Any, Any]
    end: tuple[Any, Any, Any]
    duration: float
    start: float = 0.0

    def coefficients(self) -> Array:
        """c (6, n) of q = sum c_k u^k, u = (t - start) / T."""
        T = self.duration
        (q0, v0, a0), (q1, v1, a1) = (tuple(map(np.asarray, x)) for x in (self.begin, self.end))
        v0, v1, a0, a1 = v0 * T, v1 * T, a0 * T * T, a1 * T * T
        d, dv = q1 - q0 - v0 - 0.5 * a0, v1 - v0 - a0
        da = a1 - a0
        return np.array(
            [q0, v0, 0.5 * a0, 10 * d - 4 * dv + 0.5 * da, -15 * d + 7 * dv - da, 6 * d - 3 * dv + 0.5 * da]
        )

    def __call__(self, t: Any) -> JointReference:
        T, c = self.duration, self.coefficients()
        u = clip((t - self.start) / T, 0.0, 1.0)
        beyond = (t - self.start) - u * T
        q: Array = c[5]
        for k in reversed(range(5)):
            q = q * u + c[k]
        rate: Array = 5.0 * c[5]
        for k in reversed(range(1, 5)):
            rate = rate * u + k * c[k]
        acceleration: Array = 20.0 * c[5]
        for k in reversed(range(2, 5)):
            acceleration = acceleration * u + k * (k - 1) * c[k]
        moving = where(t > self.start + T, 0.0, where(t < self.start, 0.0, 1.0))
        return JointReference(q + beyond * rate / T, rate / T, moving * acceleration / (T * T))

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return (self.start, self.start + self.duration)


def joint_path(begin: Any, end: Any, timing: Callable[[Any], Timing]) -> JointPath:
    """A straight line in joint space, for joints whose rates are derivatives of their coordinates."""
    q0 = np.asarray(begin, dtype=float)
    step = np.asarray(end, dtype=float) - q0

    def reference(t: Any) -> JointReference:
        s = timing(t)
        return JointReference(q0 + step * s.s, step * s.rate, step * s.acceleration)

    return reference
