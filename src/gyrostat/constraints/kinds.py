"""Constraints between two frames, as functions of their relative pose X_12 = (R_12, p_12): where frame 2 stands in frame 1.

With V_12 = [w; v] the motion of frame 2 relative to frame 1, in the axes of frame 1 (d/dt p_12 = v, d/dt R_12 = w^ R_12):

    psi(X_12) = f(t)  (holonomic rows),     G(X_12) V_12 = fdot(t)  (all rows)                                        (1)
    G d/dt V_12 + gamma = 0,                gamma = Gdot V_12 - fddot                                                 (2)

A kind gives psi and G; Gdot follows exactly, by dual numbers. The load on frame 2 is G^T lambda = [torque; force] about the origin of
frame 2 in the axes of frame 1, that on frame 1 its opposite about the same point: momentum is kept whatever the drift.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..algebra import IDENTITY, Array, Pose, cross, log_so3, norm, skew
from ..algebra.directional import derivative_along

NONE3 = np.zeros((0, 3))


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractConstraint(ABC):
    """Between frames or bodies `first` and `second` of one spacecraft; "N" is the inertial frame.

    offset: the pose, fixed in `first`, that plays frame 1; by default the frame `first` itself.
    """

    first: str
    second: str
    name: str = ""
    offset: Pose = field(default=IDENTITY, repr=False)

    @property
    def title(self) -> str:
        return self.name or f"{type(self).__name__.lower()} of {self.first} and {self.second}"

    @property
    @abstractmethod
    def holonomic(self) -> tuple[bool, ...]:
        """For each row whether it constrains the pose, and not the velocity alone."""

    @property
    def size(self) -> int:
        return len(self.holonomic)

    @abstractmethod
    def psi(self, X_12: Pose, t: Any) -> Array:
        """(r,): zero where the constraint holds; zero in rows that are not holonomic."""

    @abstractmethod
    def G(self, X_12: Pose) -> Array:
        """(r, 6)."""

    def speed(self, t: Any) -> Array:
        """fdot(t), (r,): what G V_12 shall be."""
        return np.zeros(self.size)

    def acceleration(self, t: Any) -> Array:
        """fddot(t), (r,)."""
        return np.zeros(self.size)

    def G_rate(self, X_12: Pose, V_12: Array) -> Array:
        """Gdot along the motion V_12, (r, 6)."""
        R, p = X_12
        motion = (skew(V_12[:3]) @ R, V_12[3:])
        return np.asarray(derivative_along(lambda R, p: self.G(Pose(R, p)), (R, p), motion))


@dataclass(frozen=True, eq=False, kw_only=True)
class Coincidence(AbstractConstraint):
    """The origin of frame 2 stays at that of frame 1, along the given axes of frame 1 (k, 3); all three by default."""

    along: Array = field(default_factory=lambda: np.eye(3))

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (True,) * len(self.along)

    def psi(self, X_12: Pose, t: Any) -> Array:
        return self.along @ X_12.p

    def G(self, X_12: Pose) -> Array:
        return np.hstack([np.zeros_like(self.along), self.along])


@dataclass(frozen=True, eq=False, kw_only=True)
class Perpendicular(AbstractConstraint):
    """Axes t of frame 1 (k, 3) stay at right angles to axes a of frame 2 (k, 3), pair by pair: psi = t . R_12 a."""

    t: Array
    a: Array

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (True,) * len(self.t)

    def psi(self, X_12: Pose, t: Any) -> Array:
        return np.array([axis @ (X_12.R @ a) for axis, a in zip(self.t, self.a, strict=True)])

    def G(self, X_12: Pose) -> Array:
        rows = [cross(X_12.R @ a, axis) for axis, a in zip(self.t, self.a, strict=True)]
        return np.array([np.concatenate([row, np.zeros(3)]) for row in rows])


@dataclass(frozen=True, eq=False, kw_only=True)
class Aligned(AbstractConstraint):
    """Frame 2 does not turn in frame 1: psi is the rotation vector of R_12."""

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (True,) * 3

    def psi(self, X_12: Pose, t: Any) -> Array:
        return log_so3(X_12.R)

    def G(self, X_12: Pose) -> Array:
        return np.hstack([np.eye(3), np.zeros((3, 3))])


@dataclass(frozen=True, eq=False, kw_only=True)
class Distance(AbstractConstraint):
    """The origins stay `length` apart: a massless rod. psi = (p.p - length^2) / (2 length)."""

    length: Any

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (True,)

    def psi(self, X_12: Pose, t: Any) -> Array:
        return np.array([(X_12.p @ X_12.p - self.length * self.length) / (2.0 * self.length)])

    def G(self, X_12: Pose) -> Array:
        return np.concatenate([np.zeros(3), X_12.p / self.length])[None]


@dataclass(frozen=True, eq=False, kw_only=True)
class Rolling(AbstractConstraint):
    """Frame 2, the centre of a sphere or of a thin disc about `axis` (in frame 2), rolls without slip on the plane z = 0 of frame 1.

    With r(R_12) from the centre to the contact, in frame 1:  v + w x r = 0, three rows along x, y, z; the last is holonomic, the
    height of the contact. Gdot contains how the contact wanders over the body.
    """

    radius: Any
    axis: Array | None = None

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (False, False, True)

    def contact(self, R_12: Array) -> Array:
        """r, (3,)."""
        down = np.array([0.0, 0.0, -1.0])
        if self.axis is None:
            return self.radius * down
        a = R_12 @ self.axis
        in_plane = down - (down @ a) * a
        return self.radius * in_plane / norm(in_plane)

    def psi(self, X_12: Pose, t: Any) -> Array:
        return np.array([0.0, 0.0, X_12.p[2] + self.contact(X_12.R)[2]])

    def G(self, X_12: Pose) -> Array:
        return np.hstack([-skew(self.contact(X_12.R)), np.eye(3)])


@dataclass(frozen=True, eq=False, kw_only=True)
class KnifeEdge(AbstractConstraint):
    """The origin of frame 2 has no velocity along axes a (k, 3) of frame 2: a skate, a wheel on the ground."""

    a: Array

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (False,) * len(self.a)

    def psi(self, X_12: Pose, t: Any) -> Array:
        return np.zeros(len(self.a))

    def G(self, X_12: Pose) -> Array:
        return np.array([np.concatenate([np.zeros(3), X_12.R @ a]) for a in self.a])


@dataclass(frozen=True, eq=False, kw_only=True)
class Holonomic(AbstractConstraint):
    """Any function of the relative pose: function(R_12, p_12) -> (rows,). G follows by dual numbers."""

    function: Callable[[Array, Array], Any]
    rows: int

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (True,) * self.rows

    def psi(self, X_12: Pose, t: Any) -> Array:
        return np.asarray(self.function(X_12.R, X_12.p)).reshape(self.rows)

    def G(self, X_12: Pose) -> Array:
        R, p = X_12

        def along(w: Array, v: Array) -> Array:
            return np.reshape(derivative_along(self.function, (R, p), (skew(w) @ R, v)), self.rows)

        turns = [along(e, np.zeros(3)) for e in np.eye(3)]
        return np.stack([*turns, *(along(np.zeros(3), e) for e in np.eye(3))], axis=1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Combined(AbstractConstraint):
    """Several constraints between the same two frames, as one."""

    parts: tuple[AbstractConstraint, ...]

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return tuple(h for part in self.parts for h in part.holonomic)

    def psi(self, X_12: Pose, t: Any) -> Array:
        return np.concatenate([part.psi(X_12, t) for part in self.parts])

    def G(self, X_12: Pose) -> Array:
        return np.vstack([part.G(X_12) for part in self.parts])

    def speed(self, t: Any) -> Array:
        return np.concatenate([part.speed(t) for part in self.parts])

    def acceleration(self, t: Any) -> Array:
        return np.concatenate([part.acceleration(t) for part in self.parts])


@dataclass(frozen=True, eq=False, kw_only=True)
class Driven(AbstractConstraint):
    """Another constraint whose psi follows motion(t) -> (rows,) or a number, instead of staying zero."""

    part: AbstractConstraint
    motion: Callable[[Any], Any]

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return self.part.holonomic

    def _motion(self, t: Any) -> Array:
        return np.reshape(self.motion(t), self.size)

    def psi(self, X_12: Pose, t: Any) -> Array:
        return self.part.psi(X_12, t) - self._motion(t)

    def G(self, X_12: Pose) -> Array:
        return self.part.G(X_12)

    def speed(self, t: Any) -> Array:
        return self.part.speed(t) + derivative_along(self._motion, t, 1.0)

    def acceleration(self, t: Any) -> Array:
        return self.part.acceleration(t) + derivative_along(lambda s: _speed(self._motion, s), t, 1.0)


def _speed(motion: Callable[[Any], Array], t: Any) -> Array:
    return np.asarray(derivative_along(motion, t, 1.0), dtype=object)
