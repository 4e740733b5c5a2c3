"""Joint kinds. A kind owns its pose, motion map, bias, rates and steps; nothing else in gyrostat knows kinds.

With J the joint frame on the parent and B the moved body:

    X_JB = pose(q),   V_JB_B = H(q) v,   map_rate(q, v) = Hdot,   qdot(q, v) = d/dt q,
    step(q, dv): the configuration after one second at constant dv,   difference(q0, q1): its inverse,
    spring_energy(q, q0), spring_load(q, q0): of a spring of stiffness one that is at ease at q0.

`q` and `v` here are the joint's own coordinates and rates. Axes are unit vectors in J.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import comb
from typing import Any, ClassVar

import numpy as np

from ..algebra import (
    Array,
    Pose,
    RigidInertia,
    absolute,
    compose,
    cos,
    cross,
    exp_se3,
    inverse,
    log_se3,
    quat_conjugate,
    quat_exp,
    quat_log,
    quat_multiply,
    rotation,
    rotation_about,
    sin,
    sqrt,
    stumpff,
    where,
)


@dataclass(frozen=True, eq=False)
class AbstractKind(ABC):
    """What every kind offers. `axes` says how many axes it needs; units and labels are those of q and of v.

    quaternion: where in q one stands, if any. rates_are_derivatives: v is d/dt q, entry by entry. motorised: motors may
    turn it; nothing inside moves a free joint.
    spins: its rate has no coordinate in q (wheels). unbound: it holds nothing, in any direction.
    """

    axis: Array
    axis2: Array

    name: ClassVar[str]
    axes: ClassVar[int] = 0
    q_units: ClassVar[tuple[str, ...]] = ()
    v_units: ClassVar[tuple[str, ...]] = ()
    q_labels: ClassVar[tuple[str, ...]] = ()
    v_labels: ClassVar[tuple[str, ...]] = ()
    quaternion: ClassVar[slice | None] = None
    rates_are_derivatives: ClassVar[bool] = False
    motorised: ClassVar[bool] = True
    spins: ClassVar[bool] = False
    unbound: ClassVar[bool] = False

    @property
    def constant_map(self) -> bool:
        """H does not depend on q."""
        return type(self).map_rate is AbstractKind.map_rate

    @property
    def single(self) -> bool:
        """One coordinate, whose rate is the one rate."""
        return len(self.q_units) == 1 == len(self.v_units)

    @property
    def hinge(self) -> bool:
        """One angle about one axis."""
        return self.single and self.v_units == ("rad/s",)

    @abstractmethod
    def pose(self, q: Array) -> Pose: ...

    @abstractmethod
    def H(self, q: Array) -> Array: ...

    def map_rate(self, q: Array, v: Array) -> Array:
        """Zero, unless the kind says otherwise."""
        return np.zeros((6, len(self.v_units)))

    @abstractmethod
    def qdot(self, q: Array, v: Array) -> Array: ...

    @abstractmethod
    def step(self, q: Array, dv: Array) -> Array: ...

    @abstractmethod
    def difference(self, q0: Array, q1: Array) -> Array: ...

    @abstractmethod
    def neutral(self) -> Array: ...

    @abstractmethod
    def spring_energy(self, q: Array, q0: Array) -> Any:
        """Potential energy of a spring of stiffness one that is at ease at q0: half the squares of how far q is from
        there.
        """

    @abstractmethod
    def spring_load(self, q: Array, q0: Array) -> Array:
        """What that spring does, (nv,): minus the derivative of its energy along each rate."""

    def unfelt(self, M: RigidInertia) -> RigidInertia:
        """Of a body's inertia in B, what may as well sit on the parent, in J: it looks the same from there at every q,
        and no rate of the joint moves it (M H = 0). Nothing, unless the kind says otherwise.
        """
        return RigidInertia(0.0, np.zeros(3), np.zeros((3, 3)))


@dataclass(frozen=True, eq=False)
class AbstractLinear(AbstractKind):
    """Kinds whose rates are the derivatives of their coordinates."""

    rates_are_derivatives = True

    def qdot(self, q: Array, v: Array) -> Array:
        return v

    def step(self, q: Array, dv: Array) -> Array:
        return q + dv

    def difference(self, q0: Array, q1: Array) -> Array:
        return q1 - q0

    def neutral(self) -> Array:
        return np.zeros(len(self.q_units))

    def spring_energy(self, q: Array, q0: Array) -> Any:
        return 0.5 * ((q - q0) @ (q - q0))

    def spring_load(self, q: Array, q0: Array) -> Array:
        return q0 - q


def _turn(axis: Array) -> Array:
    return np.concatenate([axis, np.zeros(3)])


def _slide(axis: Array) -> Array:
    return np.concatenate([np.zeros(3), axis])


def _plane(axis: Array) -> Array:
    """Columns: two unit vectors normal to the axis, the first as near to x as can be (to y, if the axis is near x)."""
    near = where(absolute(axis[0]) > 0.9, np.eye(3)[1], np.eye(3)[0])
    first = near - (near @ axis) * axis
    first = first / sqrt(first @ first)
    return np.column_stack([first, cross(axis, first)])


def _rod(axis: Array, M: RigidInertia) -> Array:
    """Inertia of a thin rod along the axis, (3, 3), as large as M's about one normal to it."""
    across = _plane(axis)[:, 1]
    return (across @ M.I_o @ across) * (np.eye(3) - np.outer(axis, axis))


def _point(M: RigidInertia) -> RigidInertia:
    """Its mass, all at the origin."""
    return RigidInertia(M.m, np.zeros(3), np.zeros((3, 3)))


class Revolute(AbstractLinear):
    name, axes, q_units, v_units = "revolute", 1, ("rad",), ("rad/s",)
    q_labels, v_labels = ("",), ("",)

    def pose(self, q: Array) -> Pose:
        return Pose(rotation_about(self.axis, q[0]), np.zeros(3))

    def H(self, q: Array) -> Array:
        return np.column_stack([_turn(self.axis)])

    def unfelt(self, M: RigidInertia) -> RigidInertia:
        return RigidInertia(M.m, (M.h @ self.axis) * self.axis, _rod(self.axis, M))


class Prismatic(AbstractLinear):
    name, axes, q_units, v_units = "prismatic", 1, ("m",), ("m/s",)
    q_labels, v_labels = ("",), ("",)

    def pose(self, q: Array) -> Pose:
        return Pose(np.eye(3), self.axis * q[0])

    def H(self, q: Array) -> Array:
        return np.column_stack([_slide(self.axis)])

    def unfelt(self, M: RigidInertia) -> RigidInertia:
        return RigidInertia(0.0, np.zeros(3), M.I_o)


class Cylindrical(AbstractLinear):
    name, axes, q_units, v_units = "cylindrical", 1, ("rad", "m"), ("rad/s", "m/s")
    q_labels, v_labels = ("angle", "displacement"), ("rate", "speed")

    def pose(self, q: Array) -> Pose:
        return Pose(rotation_about(self.axis, q[0]), self.axis * q[1])

    def H(self, q: Array) -> Array:
        return np.column_stack([_turn(self.axis), _slide(self.axis)])

    def unfelt(self, M: RigidInertia) -> RigidInertia:
        return RigidInertia(0.0, np.zeros(3), _rod(self.axis, M))


class Cartesian(AbstractLinear):
    name, q_units, v_units = "cartesian", ("m",) * 3, ("m/s",) * 3
    q_labels, v_labels = ("x", "y", "z"), ("vx", "vy", "vz")

    def pose(self, q: Array) -> Pose:
        return Pose(np.eye(3), q)

    def H(self, q: Array) -> Array:
        return np.vstack([np.zeros((3, 3)), np.eye(3)])

    def unfelt(self, M: RigidInertia) -> RigidInertia:
        return RigidInertia(0.0, np.zeros(3), M.I_o)


class Universal(AbstractLinear):
    """Turns about `axis` (fixed on the parent), then about `axis2` (fixed on the body)."""

    name, axes, q_units, v_units = "universal", 2, ("rad",) * 2, ("rad/s",) * 2
    q_labels, v_labels = ("angle 1", "angle 2"), ("rate 1", "rate 2")

    def pose(self, q: Array) -> Pose:
        return Pose(rotation_about(self.axis, q[0]) @ rotation_about(self.axis2, q[1]), np.zeros(3))

    def _first_axis_in_B(self, q: Array) -> Array:
        return rotation_about(self.axis2, q[1]).T @ self.axis

    def H(self, q: Array) -> Array:
        return np.column_stack([_turn(self._first_axis_in_B(q)), _turn(self.axis2)])

    def map_rate(self, q: Array, v: Array) -> Array:
        return np.column_stack([_turn(cross(self._first_axis_in_B(q), self.axis2) * v[1]), np.zeros(6)])

    def unfelt(self, M: RigidInertia) -> RigidInertia:
        return _point(M)


class Spherical(AbstractKind):
    name, q_units, v_units = "spherical", ("",) * 4, ("rad/s",) * 3
    q_labels, v_labels = ("qw", "qx", "qy", "qz"), ("wx", "wy", "wz")
    quaternion = slice(0, 4)

    def pose(self, q: Array) -> Pose:
        return Pose(rotation(q), np.zeros(3))

    def H(self, q: Array) -> Array:
        return np.vstack([np.eye(3), np.zeros((3, 3))])

    def qdot(self, q: Array, v: Array) -> Array:
        return quat_rate(q, v)

    def step(self, q: Array, dv: Array) -> Array:
        return quat_multiply(q, quat_exp(dv))

    def difference(self, q0: Array, q1: Array) -> Array:
        return quat_log(quat_multiply(quat_conjugate(q0), q1))

    def neutral(self) -> Array:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def spring_energy(self, q: Array, q0: Array) -> Any:
        return _ball_spring_energy(q, q0)

    def spring_load(self, q: Array, q0: Array) -> Array:
        return _ball_spring_torque(q, q0)

    def unfelt(self, M: RigidInertia) -> RigidInertia:
        return _point(M)


class Planar(AbstractKind):
    """q = (x, y, theta) in the plane normal to `axis`; v = (theta rate, velocity in B)."""

    name, axes, q_units, v_units = "planar", 1, ("m", "m", "rad"), ("rad/s", "m/s", "m/s")
    q_labels, v_labels = ("x", "y", "angle"), ("rate", "vx", "vy")

    def pose(self, q: Array) -> Pose:
        return Pose(rotation_about(self.axis, q[2]), _plane(self.axis) @ q[:2])

    def H(self, q: Array) -> Array:
        plane = _plane(self.axis)
        return np.column_stack([_turn(self.axis), _slide(plane[:, 0]), _slide(plane[:, 1])])

    def qdot(self, q: Array, v: Array) -> Array:
        return np.concatenate([_turn2(q[2]) @ v[1:], v[:1]])

    def step(self, q: Array, dv: Array) -> Array:
        return np.concatenate([q[:2] + _turn2(q[2]) @ (_arc(dv[0]) @ dv[1:]), q[2:] + dv[:1]])

    def difference(self, q0: Array, q1: Array) -> Array:
        angle = q1[2] - q0[2]
        a, b = _arc(angle)[:, 0]
        straight = np.array([[a, b], [-b, a]]) / (a * a + b * b)  # inverse of _arc; singular at 2 pi
        return np.concatenate([[angle], straight @ (_turn2(q0[2]).T @ (q1[:2] - q0[:2]))])

    def neutral(self) -> Array:
        return np.zeros(3)

    def spring_energy(self, q: Array, q0: Array) -> Any:
        return 0.5 * ((q - q0) @ (q - q0))

    def spring_load(self, q: Array, q0: Array) -> Array:
        return np.concatenate([q0[2:] - q[2:], _turn2(q[2]).T @ (q0[:2] - q[:2])])


class Free(AbstractKind):
    name, q_units, v_units = "free", ("",) * 4 + ("m",) * 3, ("rad/s",) * 3 + ("m/s",) * 3
    q_labels, v_labels = ("qw", "qx", "qy", "qz", "x", "y", "z"), ("wx", "wy", "wz", "vx", "vy", "vz")
    quaternion = slice(0, 4)
    motorised = False
    unbound = True

    def pose(self, q: Array) -> Pose:
        return Pose(rotation(q[:4]), q[4:])

    def H(self, q: Array) -> Array:
        return np.eye(6)

    def qdot(self, q: Array, v: Array) -> Array:
        return np.concatenate([quat_rate(q[:4], v[:3]), rotation(q[:4]) @ v[3:]])

    def step(self, q: Array, dv: Array) -> Array:
        moved = compose(self.pose(q), Pose(np.eye(3), exp_se3(dv).p))
        return np.concatenate([quat_multiply(q[:4], quat_exp(dv[:3])), moved.p])

    def difference(self, q0: Array, q1: Array) -> Array:
        return log_se3(compose(inverse(self.pose(q0)), self.pose(q1)))

    def neutral(self) -> Array:
        return np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def spring_energy(self, q: Array, q0: Array) -> Any:
        return _ball_spring_energy(q[:4], q0[:4]) + 0.5 * ((q[4:] - q0[4:]) @ (q[4:] - q0[4:]))

    def spring_load(self, q: Array, q0: Array) -> Array:
        return np.concatenate([_ball_spring_torque(q[:4], q0[:4]), rotation(q[:4]).T @ (q0[4:] - q[4:])])


class Fixed(AbstractLinear):
    name = "fixed"
    motorised = False

    def pose(self, q: Array) -> Pose:
        return Pose(np.eye(3), np.zeros(3))

    def H(self, q: Array) -> Array:
        return np.zeros((6, 0))


class Wheel(AbstractLinear):
    """Spins about `axis`; axisymmetric, so its frame may stay with the carrier and its angle is no coordinate."""

    name, axes, v_units = "wheel", 1, ("rad/s",)
    v_labels = ("",)
    rates_are_derivatives, spins = False, True

    def pose(self, q: Array) -> Pose:
        return Pose(np.eye(3), np.zeros(3))

    def H(self, q: Array) -> Array:
        return np.column_stack([_turn(self.axis)])

    def qdot(self, q: Array, v: Array) -> Array:
        return np.zeros(0)

    def step(self, q: Array, dv: Array) -> Array:
        return q

    def difference(self, q0: Array, q1: Array) -> Array:
        return np.zeros(1)

    def spring_load(self, q: Array, q0: Array) -> Array:
        return np.zeros(1)  # its angle is no coordinate: validation refuses a spring

    def unfelt(self, M: RigidInertia) -> RigidInertia:
        a = self.axis
        spin = np.outer(M.I_o @ a, a)
        felt = spin + spin.T - (a @ M.I_o @ a) * np.outer(a, a)  # turns about the axis as M does
        return RigidInertia(M.m, (M.h @ a) * a, M.I_o - felt)


class Modal(AbstractLinear):
    """The shape of a flexible body: it moves the nodes, never the body's own frame. No kind of joint that can be given:
    a flexible body brings it.
    """

    name = "modal"
    motorised = False

    def __init__(self, count: int) -> None:
        super().__init__(np.zeros(3), np.zeros(3))
        labels = tuple(f"mode_{k + 1}" for k in range(count))
        own = {"q_units": ("",) * count, "v_units": ("1/s",) * count, "q_labels": labels, "v_labels": labels}
        for name, value in own.items():
            object.__setattr__(self, name, value)

    @property
    def single(self) -> bool:
        return False

    def pose(self, q: Array) -> Pose:
        return Pose(np.eye(3), np.zeros(3))

    def H(self, q: Array) -> Array:
        return np.zeros((6, len(self.v_units)))


def quat_rate(quat_AB: Array, w_AB_B: Array) -> Array:
    """d/dt quat_AB = 1/2 quat_AB (0, w_AB_B), (4,)."""
    s, u = quat_AB[0], quat_AB[1:]
    return 0.5 * np.concatenate([[-(u @ w_AB_B)], s * w_AB_B + cross(u, w_AB_B)])


# Half the square of an angle as a series in x = 1 - cos(angle): sum of 2^n x^n / (n^2 (2n over n)). Cut off after
# sixteen terms it is
# smooth on all of SO(3), half a turn included, where the angle itself has a ridge; its slope is the angle within 1e-10
# at 60, 5e-6
# at 90 and 0.4 % at 120 degrees, and zero at half a turn, from where both ways back are as long.
BALL_SPRING = tuple(2**n / (n * n * comb(2 * n, n)) for n in range(1, 17))


def _ball_spring_energy(quat: Array, quat0: Array) -> Any:
    """sum a_n x^n, at the attitude quat relative to quat0, whatever their norms and signs."""
    s, u = _from(quat0, quat)
    x, total = 2.0 * (u @ u) / (s * s + u @ u), 0.0
    for a in reversed(BALL_SPRING):
        total = (total + a) * x
    return total


def _ball_spring_torque(quat: Array, quat0: Array) -> Array:
    """Minus the gradient, in B: -(sum n a_n x^(n-1)) sin(angle) axis."""
    s, u = _from(quat0, quat)
    norm2 = s * s + u @ u
    x, slope = 2.0 * (u @ u) / norm2, 0.0
    for n, a in reversed(list(enumerate(BALL_SPRING, 1))):
        slope = slope * x + n * a
    return -slope * 2.0 * s / norm2 * u


def _from(quat0: Array, quat: Array) -> tuple[Any, Array]:
    """Scalar and vector part of the rotation from quat0 to quat."""
    turn = quat_multiply(quat_conjugate(quat0), quat)
    return turn[0], turn[1:]


def _turn2(angle: object) -> Array:
    c, s = cos(angle), sin(angle)
    return np.array([[c, -s], [s, c]])


def _arc(angle: object) -> Array:
    """Displacement after turning by `angle` while moving at constant velocity in B, as a matrix (2, 2)."""
    x = angle * angle  # type: ignore[operator]
    a, b = stumpff(1, x), stumpff(2, x) * angle
    return np.array([[a, -b], [b, a]])


# Joint kinds by name
KINDS: dict[str, type[AbstractKind]] = {
    kind.name: kind
    for kind in (Revolute, Prismatic, Cylindrical, Universal, Spherical, Cartesian, Planar, Free, Fixed, Wheel)
}
