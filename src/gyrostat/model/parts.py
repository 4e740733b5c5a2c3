"""The parts of a spacecraft: bodies, joints, frames, thrusters, wheels and shapes. Immutable values.

Building a part settles shapes and units only, so that parts may hold symbols; `Spacecraft.build` judges their values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array, Pose, compose, inertia_matrix, snapped
from ..algebra.reals import REAL
from .findings import nearest
from .kinds import KINDS, AbstractKind

if TYPE_CHECKING:
    from .nodes import Mount

INFINITY = float("inf")
Given = Any  # numbers in any nesting, or symbols; an array once the part is built


def array(value: Any, shape: tuple[int, ...], what: str) -> Array:
    """`value` as a read-only array of that shape, of floats or of symbols."""
    try:
        result = np.array(value)
        if result.dtype.kind not in REAL:
            raise TypeError
        if result.dtype != object:
            result = result.astype(float)
    except (TypeError, ValueError):
        raise ValueError(f"{what} is {value!r}; expected {_shape_in_words(shape)}.") from None
    if result.shape != shape:
        raise ValueError(f"{what} has shape {result.shape}; expected {_shape_in_words(shape)}.")
    result.flags.writeable = False
    return result


def _shape_in_words(shape: tuple[int, ...]) -> str:
    return "one number" if shape == () else f"numbers of shape {shape}"


def scalar(value: Any, what: str) -> Any:
    """`value` as a float, or the symbol that it is."""
    result = array(value, (), what)
    return result.item()


def inertia_of(value: Any, what: str) -> Array:
    """(3, 3) from a matrix, from (xx, xy, xz, yy, yz, zz), or from a diagonal of three."""
    given = np.array(value)
    if given.shape == (3,):
        return array(np.diag(given), (3, 3), what)
    if given.shape == (6,):
        return array(inertia_matrix(given), (3, 3), what)
    if given.shape != (3, 3):
        raise ValueError(
            f"{what} has shape {given.shape}; expected a (3, 3) matrix, (xx, xy, xz, yy, yz, zz), or three diagonal "
            "elements."
        )
    return array(given, (3, 3), what)


def _snapped(R: Array) -> Array:
    R = snapped(R)
    R.flags.writeable = False
    return R


def _unit(a: Array) -> Array:
    """`a` at length one; untouched if zero (refused later, by name) or symbolic."""
    if a.dtype == object or not np.isfinite(a).all() or not a.any():
        return a
    if abs(a @ a - 1.0) > 4.5e-16:  # else it is one already, and stays so to the last bit however often it is copied
        a = a / np.abs(a).max()  # else the squares of very large or small elements are lost
        a = a / np.sqrt(a @ a)
    a = np.where(np.abs(a) < 1e-15, 0.0, a)
    a.flags.writeable = False
    return a


@dataclass(frozen=True, eq=False)
class Limits:
    """Of a joint: range of its coordinate, largest rate, largest effort."""

    lower: float = -INFINITY
    upper: float = INFINITY
    velocity: float = INFINITY
    effort: float = INFINITY


@dataclass(frozen=True, eq=False)
class Joint:
    """Connects a body to its parent: `X_PB = X_PJ * pose(q)`.

    position, rotation: X_PJ, where the body sits on its parent when the coordinates are zero.
    axis, axis2: unit vectors in J, for the kinds that need them.
    stiffness, rest, damping, friction: passive loads, applied by `gs.simulate`.
    backlash: play of a gear that yields: the spring acts where the coordinate is more than half of it from `rest`.
    rotor_inertia, gear_ratio: add `rotor_inertia * gear_ratio**2` to the joint's inertia.
    node: the node of a flexible parent that it sits on; X_PJ is then its place in the node's axes.
    driven: a motor acts here (True) or none does (False); by default a joint with a spring has none, others have.
    "wheel": a motor spins what turns here, and laws take it as a wheel: one out of balance, whose angle counts. See
    `Role`.
    q_at, v_at: where its coordinates and rates stand in q and v; mount: the node, with its shapes. `Spacecraft.build`
    sets them.
    """

    name: str
    kind: str = "revolute"
    parent: str | None = None
    position: Given = (0.0, 0.0, 0.0)
    rotation: Given = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    axis: Given = (0.0, 0.0, 1.0)
    axis2: Given = (0.0, 1.0, 0.0)
    limits: Limits = Limits()
    stiffness: Any = 0.0
    rest: Any = 0.0
    damping: Any = 0.0
    friction: Any = 0.0
    backlash: Any = 0.0
    rotor_inertia: Any = 0.0
    gear_ratio: Any = 1.0
    driven: bool | str | None = None
    node: str = ""
    q_at: slice = field(default_factory=lambda: slice(0, 0), repr=False)
    v_at: slice = field(default_factory=lambda: slice(0, 0), repr=False)
    mount: Mount | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        what = f"joint '{self.name}'"
        if self.kind not in KINDS:
            raise ValueError(f"{what}: unknown kind '{self.kind}'. {nearest(self.kind, KINDS)}")
        _set(self, "position", array(self.position, (3,), f"{what}: position"))
        _set(self, "rotation", _snapped(array(self.rotation, (3, 3), f"{what}: rotation")))
        _set(self, "axis", _unit(array(self.axis, (3,), f"{what}: axis")))
        _set(self, "axis2", _unit(array(self.axis2, (3,), f"{what}: axis2")))
        for name in ("stiffness", "rest", "damping", "friction", "backlash", "rotor_inertia", "gear_ratio"):
            _set(self, name, scalar(getattr(self, name), f"{what}: {name}"))
        if self.driven not in (True, False, None, "wheel"):
            raise ValueError(
                f"{what}: driven is {self.driven!r}; expected True, False, 'wheel', or None for the default."
            )

    @property
    def motion(self) -> AbstractKind:
        """The joint's kind, with its axes."""
        return KINDS[self.kind](self.axis, self.axis2)

    @property
    def nq(self) -> int:
        return len(KINDS[self.kind].q_units)

    @property
    def nv(self) -> int:
        return len(KINDS[self.kind].v_units)

    @property
    def spins(self) -> bool:
        """A wheel's: laws of wheels drive it."""
        return self.motion.spins or self.driven == "wheel"

    @property
    def armature(self) -> Any:
        """Inertia of the geared rotor as felt at the joint, on each of its rates."""
        return self.rotor_inertia * self.gear_ratio * self.gear_ratio

    @property
    def q_names(self) -> tuple[str, ...]:
        """Of its entries in q."""
        return tuple(f"{self.name} {part}".strip() for part in self.motion.q_labels)

    @property
    def v_names(self) -> tuple[str, ...]:
        """Of its entries in v."""
        return tuple(f"{self.name} {part}".strip() for part in self.motion.v_labels)

    def pose(self, q: Array) -> Pose:
        """X_PB at the spacecraft's configuration q."""
        own = self.own_pose(q)
        return own if self.mount is None else compose(self.mount.pose(q), own)

    def own_pose(self, q: Array) -> Pose:
        """The same from the node that it sits on, if it does."""
        return compose(Pose(self.rotation, self.position), self.motion.pose(q[self.q_at]))

    def H(self, q: Array) -> Array:
        """Motion map (6, nv): V_PB_B = H v."""
        return self.motion.H(q[self.q_at])

    def map_rate(self, q: Array, v: Array) -> Array:
        """Hdot (6, nv), in B's components."""
        return self.motion.map_rate(q[self.q_at], v[self.v_at])

    def bias(self, q: Array, v: Array) -> Array:
        """Hdot v, (6,)."""
        return self.map_rate(q, v) @ v[self.v_at]

    def rate(self, v: Array) -> Array:
        """The joint's own part of v, vdot or tau, (nv,)."""
        return v[self.v_at]


@dataclass(frozen=True, eq=False)
class Shape:
    """What a body looks like; never used by the dynamics. size: box edges; radius and length; radius; mesh scale."""

    kind: str  # "box", "cylinder", "sphere", "mesh"
    size: tuple[float, ...]
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    rotation: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    color: tuple[float, ...] | None = None
    file: str = ""


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body. `com` in B; `inertia` about the centre of mass, in B: (3, 3), six components, or a diagonal.

    joint: how it moves on its parent; None for a base that floats freely.
    included: its inertia is counted in its parent's mass properties already (wheels, by default).
    """

    name: str
    mass: Any = 0.0
    com: Given = (0.0, 0.0, 0.0)
    inertia: Given = (0.0, 0.0, 0.0)
    joint: Joint = field(default_factory=lambda: Joint("base", "free"))
    shapes: tuple[Shape, ...] = ()
    included: bool = False

    def __post_init__(self) -> None:
        what = f"body '{self.name}'"
        given: Any = self.joint
        if not isinstance(given, Joint):
            raise TypeError(f"{what}: joint is {given!r}; expected a gs.Joint. Leave it out for a base that is free.")
        _set(self, "mass", scalar(self.mass, f"{what}: mass"))
        _set(self, "com", array(self.com, (3,), f"{what}: com"))
        _set(self, "inertia", inertia_of(self.inertia, f"{what}: inertia"))

    @property
    def parent(self) -> str | None:
        return self.joint.parent


@dataclass(frozen=True, eq=False)
class Frame:
    """A named frame fixed on a body: end effector, sensor, or a link merged into the body. Pose X_BF."""

    name: str
    body: str
    position: Given = (0.0, 0.0, 0.0)
    rotation: Given = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    def __post_init__(self) -> None:
        what = f"frame '{self.name}'"
        _set(self, "position", array(self.position, (3,), f"{what}: position"))
        _set(self, "rotation", _snapped(array(self.rotation, (3, 3), f"{what}: rotation")))

    @property
    def pose(self) -> Pose:
        return Pose(self.rotation, self.position)


@dataclass(frozen=True, eq=False)
class Thruster:
    """A point on a body and the direction of the force on the body, both in B.

    minimum_on_time: shortest pulse in s. specific_impulse: in s; infinite: no propellant is counted.
    rise_time, fall_time: in s, within which thrust comes to 63 % of what it shall be, and falls to 37 %, once the valve
    is open, or shut.
    """

    name: str
    body: str
    position: Given
    direction: Given
    max_thrust: Any = INFINITY
    minimum_on_time: Any = 0.0
    specific_impulse: Any = INFINITY
    rise_time: Any = 0.0
    fall_time: Any = 0.0

    def __post_init__(self) -> None:
        what = f"thruster '{self.name}'"
        _set(self, "position", array(self.position, (3,), f"{what}: position"))
        _set(self, "direction", _unit(array(self.direction, (3,), f"{what}: direction")))
        for name in ("max_thrust", "minimum_on_time", "specific_impulse", "rise_time", "fall_time"):
            _set(self, name, scalar(getattr(self, name), f"{what}: {name}"))


def Wheel(
    name: str,
    parent: str,
    axis: Any,
    spin_inertia: Any,
    *,
    position: Any = (0.0, 0.0, 0.0),
    mass: Any = 0.0,
    transverse_inertia: Any = 0.0,
    included: bool = True,
    max_torque: float = INFINITY,
    max_speed: float = INFINITY,
    damping: Any = 0.0,
    friction: Any = 0.0,
) -> Body:
    """A reaction or momentum wheel on the body `parent`, spinning about `axis` (in the carrier's axes).

    damping (N m s/rad) and friction (N m) of its bearings, between it and its carrier, act in `gs.simulate`.
    By default the carrier's mass properties include it. With `included=False` they do not: give its mass and transverse
    inertia.

    Raises ValueError where mass or transverse inertia are given although the carrier already includes the wheel.
    """
    limits = Limits(velocity=max_speed, effort=max_torque)
    losses = {"damping": damping, "friction": friction}
    joint = Joint(name, "wheel", parent, position, axis=axis, limits=limits, **losses)
    if included and (mass != 0.0 or transverse_inertia != 0.0):
        raise ValueError(
            f"wheel '{name}': mass {mass} and transverse inertia {transverse_inertia} are given, but the carrier "
            f"'{parent}' already includes the wheel. Leave them out, or pass included=False."
        )
    aa = np.outer(joint.axis, joint.axis)
    inertia = transverse_inertia * (np.eye(3) - aa) + scalar(spin_inertia, f"wheel '{name}': spin_inertia") * aa
    return Body(name, mass, inertia=inertia, joint=joint, included=included)


def _set(part: Any, name: str, value: Any) -> None:
    object.__setattr__(part, name, value)
