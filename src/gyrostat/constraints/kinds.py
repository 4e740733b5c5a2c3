"""Constraints between two frames, as functions of their relative pose X_12 = (R_12, p_12): where frame 2 stands in
frame 1.

With V_12 = [w; v] the motion of frame 2 relative to frame 1, in the axes of frame 1 (d/dt p_12 = v, d/dt R_12 = w^
R_12), and f(t) what the constraint is driven by, zero unless it is:

    error(X_12, f) = 0  (holonomic rows),   G(X_12) V_12 = d/dt target(f)  (all rows)                                (1)
    G d/dt V_12 + gamma = 0,                gamma = Gdot V_12 - d2/dt2 target(f)                                     (2)

A holonomic row is one coordinate of the relative pose, in m or rad, that stays at its reference plus f. A row that is
not is a velocity, which stays at df/dt: there f is the way gone. A kind gives error, G and target; Gdot follows
exactly, by dual numbers. The load on frame 2 is G^T lambda = [torque; force] about the origin of frame 2 in the axes of
frame 1, that on frame 1 its opposite about the same point: momentum is kept whatever the drift.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from ..algebra import (
    Array,
    Pose,
    asin,
    atan2,
    clip,
    cos,
    cross,
    floor,
    frame_along,
    log_so3,
    norm,
    sin,
    skew,
    sqrt,
    where,
)
from ..algebra.directional import derivative_along
from ..algebra.frozen import frozen


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractConstraint(ABC):
    """Between frames or bodies `first` and `second` of one spacecraft, frames 1 and 2; "N" is the inertial frame."""

    first: str
    second: str
    name: str = ""

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
    def error(self, X_12: Pose, f: Array) -> Array:
        """(r,): zero where the constraint, driven by f (r,), holds; any value in rows that are not holonomic."""

    @abstractmethod
    def G(self, X_12: Pose) -> Array:
        """(r, 6)."""

    @abstractmethod
    def as_it_is(self, X_12: Pose, f: Array) -> Self:
        """The same constraint, with the references at which it holds at X_12 when driven by f."""

    def target(self, f: Array) -> Array:
        """(r,): what the rows' quantities, whose rates are G V_12, are to be; f itself, unless a row is no coordinate
        but a function of it.
        """
        return f

    def motion(self, t: Any) -> Array:
        """f(t), (r,)."""
        return np.zeros(self.size)

    def psi(self, X_12: Pose, t: Any) -> Array:
        """(r,): zero where the constraint holds at time t; zero in rows that are not holonomic."""
        error = self.error(X_12, self.motion(t))
        return np.array([e if h else 0.0 for e, h in zip(error, self.holonomic, strict=True)])

    def speed(self, t: Any) -> Array:
        """d/dt target(f), (r,): what G V_12 shall be."""
        return np.asarray(derivative_along(self._target_at, t, 1.0))

    def acceleration(self, t: Any) -> Array:
        """d2/dt2 target(f), (r,)."""

        def speed(s: Any) -> Array:
            return np.asarray(derivative_along(self._target_at, s, 1.0), dtype=object)

        return np.asarray(derivative_along(speed, t, 1.0))

    def _target_at(self, t: Any) -> Array:
        return self.target(self.motion(t))

    def G_rate(self, X_12: Pose, V_12: Array) -> Array:
        """Gdot along the motion V_12, (r, 6)."""
        R, p = X_12
        motion = (skew(V_12[:3]) @ R, V_12[3:])
        return np.asarray(derivative_along(lambda R, p: self.G(Pose(R, p)), (R, p), motion))


@dataclass(frozen=True, eq=False, kw_only=True)
class Coincidence(AbstractConstraint):
    """The origin of frame 2 stays at the point `at` of frame 1, along the given axes of frame 1 (k, 3); all three by
    default.
    """

    along: Array = field(default_factory=lambda: np.eye(3))
    at: Array = field(default_factory=lambda: np.zeros(3))

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (True,) * len(self.along)

    def error(self, X_12: Pose, f: Array) -> Array:
        return self.along @ (X_12.p - self.at) - f

    def G(self, X_12: Pose) -> Array:
        return np.hstack([np.zeros_like(self.along), self.along])

    def as_it_is(self, X_12: Pose, f: Array) -> Self:
        return replace(self, at=X_12.p - self.along.T @ f)


@dataclass(frozen=True, eq=False, kw_only=True)
class Perpendicular(AbstractConstraint):
    """The axis t of frame 1 and the axis a of frame 2 stay at the angle pi/2 - tilt: t . R_12 a = sin(tilt + f)."""

    t: Array
    a: Array
    tilt: Any = 0.0

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (True,)

    def error(self, X_12: Pose, f: Array) -> Array:
        return np.array([self.t @ (X_12.R @ self.a)]) - self.target(f)

    def target(self, f: Array) -> Array:
        return np.array([sin(self.tilt + f[0])])

    def G(self, X_12: Pose) -> Array:
        return np.concatenate([cross(X_12.R @ self.a, self.t), np.zeros(3)])[None]

    def as_it_is(self, X_12: Pose, f: Array) -> Self:
        return replace(self, tilt=asin(clip(self.t @ (X_12.R @ self.a), -1.0, 1.0)) - f[0])


@dataclass(frozen=True, eq=False, kw_only=True)
class Parallel(AbstractConstraint):
    """The axis z of frame 1 stays parallel to the axis a of frame 2: x . R_12 a = y . R_12 a = 0, with x, y normal to
    z.

    Driven by f, the axis a leans towards x and y by the sines of f.
    """

    z: Array
    a: Array

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (True,) * 2

    @property
    def _normal(self) -> Array:
        return np.asarray(frame_along(self.z).T[:2])

    def error(self, X_12: Pose, f: Array) -> Array:
        return self._normal @ (X_12.R @ self.a) - self.target(f)

    def target(self, f: Array) -> Array:
        return sin(f)

    def G(self, X_12: Pose) -> Array:
        a = X_12.R @ self.a
        return np.array([np.concatenate([cross(a, normal), np.zeros(3)]) for normal in self._normal])

    def as_it_is(self, X_12: Pose, f: Array) -> Self:
        x, y = self.target(f)
        leaning = frame_along(self.z) @ np.array([x, y, sqrt(1.0 - x * x - y * y)])
        return replace(self, a=X_12.R.T @ leaning)


@dataclass(frozen=True, eq=False, kw_only=True)
class Angle(AbstractConstraint):
    """The angle by which the axis a of frame 2 has turned about z of frame 1, from x; f may be any number of turns."""

    z: Array
    a: Array

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (True,)

    def _turned(self, X_12: Pose) -> tuple[Array, Array, Array]:
        x, y, _ = frame_along(self.z).T
        return X_12.R @ self.a, x, y

    def error(self, X_12: Pose, f: Array) -> Array:
        """From -pi to pi, of what is left once f is turned back: f never meets the cut of the arc tangent."""
        a, x, y = self._turned(X_12)
        c, s = x @ a, y @ a
        return np.array([atan2(s * cos(f[0]) - c * sin(f[0]), c * cos(f[0]) + s * sin(f[0]))])

    def G(self, X_12: Pose) -> Array:
        a, x, y = self._turned(X_12)
        c, s = x @ a, y @ a
        return np.concatenate([(c * cross(a, y) - s * cross(a, x)) / (c * c + s * s), np.zeros(3)])[None]

    def as_it_is(self, X_12: Pose, f: Array) -> Self:
        x, y, _ = frame_along(self.z).T
        return replace(self, a=X_12.R.T @ (x * cos(f[0]) + y * sin(f[0])))


@dataclass(frozen=True, eq=False, kw_only=True)
class Aligned(AbstractConstraint):
    """Frame 2 keeps the attitude `at` in frame 1: the error is the rotation vector of R_12 at^T. It cannot be
    driven.
    """

    at: Array = field(default_factory=lambda: np.eye(3))

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (True,) * 3

    def error(self, X_12: Pose, f: Array) -> Array:
        return log_so3(X_12.R @ self.at.T)

    def G(self, X_12: Pose) -> Array:
        return np.hstack([np.eye(3), np.zeros((3, 3))])

    def as_it_is(self, X_12: Pose, f: Array) -> Self:
        return replace(self, at=X_12.R)


@dataclass(frozen=True, eq=False, kw_only=True)
class Distance(AbstractConstraint):
    """The origins stay `length` + f apart: a massless rod; its multiplier is the force in it. The origins must not
    meet.
    """

    length: Any

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (True,)

    def error(self, X_12: Pose, f: Array) -> Array:
        return np.array([norm(X_12.p) - self.length]) - f

    def G(self, X_12: Pose) -> Array:
        apart = X_12.p @ X_12.p
        length = sqrt(where(apart > 0.0, apart, 1.0))  # a rod of no length has no direction: its row is then zero
        return np.concatenate([np.zeros(3), X_12.p / length])[None]

    def as_it_is(self, X_12: Pose, f: Array) -> Self:
        length = norm(X_12.p)
        if isinstance(length, float) and not length > 0.0:
            raise ValueError(
                f"the {self.title}: the origins coincide, so a rod between them has no direction. Use `point`."
            )
        return replace(self, length=length - f[0])


@dataclass(frozen=True, eq=False, kw_only=True)
class Rolling(AbstractConstraint):
    """Frame 2, the centre of a sphere or of a thin disc about `axis` (in frame 2), rolls without slip on the plane z =
    height of frame 1.

    With r(R_12) from the centre to the contact, in frame 1:  v + w x r = 0, three rows along x, y, z; the last is
    holonomic, the height of the contact. Gdot contains how the contact wanders over the body.
    """

    radius: Any
    axis: Array | None = None
    height: Any = 0.0

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

    def error(self, X_12: Pose, f: Array) -> Array:
        return np.array([0.0, 0.0, X_12.p[2] + self.contact(X_12.R)[2] - self.height - f[2]])

    def G(self, X_12: Pose) -> Array:
        return np.hstack([-skew(self.contact(X_12.R)), np.eye(3)])

    def as_it_is(self, X_12: Pose, f: Array) -> Self:
        return replace(self, height=X_12.p[2] + self.contact(X_12.R)[2] - f[2])


@dataclass(frozen=True, eq=False, kw_only=True)
class KnifeEdge(AbstractConstraint):
    """The origin of frame 2 has no velocity along the axis a of frame 2, or the velocity df/dt: a skate, a wheel on the
    ground.
    """

    a: Array

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (False,)

    def error(self, X_12: Pose, f: Array) -> Array:
        return np.zeros(1)

    def G(self, X_12: Pose) -> Array:
        return np.concatenate([np.zeros(3), X_12.R @ self.a])[None]

    def as_it_is(self, X_12: Pose, f: Array) -> Self:
        return self


@dataclass(frozen=True, eq=False, kw_only=True)
class Holonomic(AbstractConstraint):
    """Any function of the relative pose: function(R_12, p_12) -> (rows,) stays at `at` + f. G follows by dual numbers.

    period: of the values, for functions that jump by it (2 pi for angles by atan2); none by default.
    """

    function: Callable[[Array, Array], Any]
    rows: int
    period: float | None = None
    at: Any = 0.0

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (True,) * self.rows

    def _called(self, R: Array, p: Array) -> Any:
        return self.function(frozen(R), frozen(p))

    def _value(self, X_12: Pose) -> Array:
        return np.asarray(self._called(*X_12)).reshape(self.rows)

    def error(self, X_12: Pose, f: Array) -> Array:
        error = self._value(X_12) - self.at - f
        return error if self.period is None else error - self.period * floor(error / self.period + 0.5)

    def G(self, X_12: Pose) -> Array:
        R, p = X_12

        def along(w: Array, v: Array) -> Array:
            return np.reshape(derivative_along(self._called, (R, p), (skew(w) @ R, v)), self.rows)

        turns = [along(e, np.zeros(3)) for e in np.eye(3)]
        return np.stack([*turns, *(along(np.zeros(3), e) for e in np.eye(3))], axis=1)

    def as_it_is(self, X_12: Pose, f: Array) -> Self:
        return replace(self, at=self._value(X_12) - f)


@dataclass(frozen=True, eq=False, kw_only=True)
class Combined(AbstractConstraint):
    """Several constraints between the same two frames, as one."""

    parts: tuple[AbstractConstraint, ...]

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return tuple(h for part in self.parts for h in part.holonomic)

    def motion(self, t: Any) -> Array:
        return np.concatenate([part.motion(t) for part in self.parts])

    def _each(self, f: Array) -> list[tuple[AbstractConstraint, Array]]:
        """Each part with its own rows of f."""
        ends = np.cumsum([part.size for part in self.parts])
        return list(zip(self.parts, np.split(f, ends[:-1]), strict=True))

    def error(self, X_12: Pose, f: Array) -> Array:
        return np.concatenate([part.error(X_12, own) for part, own in self._each(f)])

    def target(self, f: Array) -> Array:
        return np.concatenate([part.target(own) for part, own in self._each(f)])

    def G(self, X_12: Pose) -> Array:
        return np.vstack([part.G(X_12) for part in self.parts])

    def as_it_is(self, X_12: Pose, f: Array) -> Self:
        return replace(self, parts=tuple(part.as_it_is(X_12, own) for part, own in self._each(f)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Driven(AbstractConstraint):
    """Another constraint, driven by follows(t) -> (rows,), or a number if it has one row."""

    part: AbstractConstraint
    follows: Callable[[Any], Any]

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return self.part.holonomic

    def motion(self, t: Any) -> Array:
        given = np.asarray(self.follows(t))
        if given.size != self.size or given.ndim > 1:
            what = "one number" if given.size == 1 else f"an array of shape {given.shape}"
            raise ValueError(
                f"the {self.title}: its function of time gives {what}; expected {self.size}, one for each row of the "
                f"{self.part.title}. To turn a hinge or move a slide, drive gs.constraints.angle or "
                "gs.constraints.plane beside it."
            )
        return self.part.motion(t) + given.reshape(self.size)

    def error(self, X_12: Pose, f: Array) -> Array:
        return self.part.error(X_12, f)

    def target(self, f: Array) -> Array:
        return self.part.target(f)

    def G(self, X_12: Pose) -> Array:
        return self.part.G(X_12)

    def as_it_is(self, X_12: Pose, f: Array) -> Self:
        return replace(self, part=self.part.as_it_is(X_12, f))


def given_constraints(given: Any, what: str = "constraints") -> tuple[AbstractConstraint, ...]:
    """Those of a list, None for none. Raises a TypeError for anything else; what: how the user calls it."""
    if given is None:
        return ()
    found = tuple(given) if isinstance(given, Iterable) else (given,)
    if found == (given,) or not all(isinstance(one, AbstractConstraint) for one in found):
        raise TypeError(f"{what} is {given!r:.80}; expected a list of constraints, such as [gs.constraints.weld(...)].")
    return found
