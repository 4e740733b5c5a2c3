"""Liquid in a tank as a part that goes with it and pendulums, or masses on springs, one for each mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from ..algebra import Array
from ..model import Body, Joint
from ..model.findings import nearest
from .slosh_modes import DEGREES, Slosh, slosh_modes

KINDS = ("pendulum", "spring")
MOST_MODES = 3
RESOLVED = 1e-2  # relative: by how much a frequency may move when harmonics are left out


@dataclass(frozen=True, eq=False)
class TankShape:
    """A tank of revolution. wall: the square of its radius (m^2) at a height z (m) between bottom and top."""

    name: str
    wall: Callable[[Array], Array]
    bottom: float
    top: float

    def volume(self, surface: float | None = None) -> float:
        """Below a surface; all of it by default. m^3."""
        top = self.top if surface is None else surface
        x, w = np.polynomial.legendre.leggauss(200)
        z = self.bottom + 0.5 * (top - self.bottom) * (1.0 + x)
        return float(np.pi * 0.5 * (top - self.bottom) * (w @ self.wall(z)))

    def surface(self, fill: float) -> float:
        """The height of the liquid that fills this share of the volume."""
        whole = self.volume()
        return float(brentq(lambda z: self.volume(z) - fill * whole, self.bottom, self.top, xtol=1e-14))


def spherical_tank(radius: float) -> TankShape:
    """Its origin is the centre."""
    _above_zero("spherical_tank", radius=radius)
    return TankShape("sphere", lambda z: radius * radius - z * z, -radius, radius)


def cylindrical_tank(radius: float, length: float) -> TankShape:
    """With flat ends, along z; its origin is the middle."""
    _above_zero("cylindrical_tank", radius=radius, length=length)
    return TankShape("cylinder", lambda z: radius * radius + 0.0 * z, -0.5 * length, 0.5 * length)


def slosh(
    name: str,
    parent: str,
    tank: TankShape,
    fill: float,
    density: float,
    *,
    position: Any = (0.0, 0.0, 0.0),
    up: Any = (0.0, 0.0, 1.0),
    kind: str = "pendulum",
    modes: int = 1,
    acceleration: float | None = None,
    damping_ratio: float = 0.0,
) -> list[Body]:
    """Bodies of the liquid in a tank on `parent`, to build a spacecraft with.

    fill: share of the tank's volume, 0 to 1. density: kg/m^3. position: of the tank's origin on the parent. up: where
    the liquid's surface looks, against the acceleration that holds it; the tank's own axis.
    kind: "pendulum": spherical pendulums, whose frequencies follow the acceleration that the craft really has;
    "spring": masses on springs across `up`, tuned to `acceleration` (m/s^2). damping_ratio: of each, at `acceleration`.

    Raises ValueError for a fill, kind, number of modes or damping that cannot be, and for springs without
    acceleration=.
    """
    what = f"slosh '{name}'"
    if not 0.0 < fill < 1.0:
        raise ValueError(f"{what}: fill is {fill}; expected a share of the volume between 0 and 1.")
    _above_zero(what, density=density)
    if kind not in KINDS:
        raise ValueError(f"{what}: kind is '{kind}'. {nearest(kind, KINDS)}")
    if modes not in range(1, MOST_MODES + 1):
        raise ValueError(f"{what}: modes is {modes}; expected 1 to {MOST_MODES}.")
    if not damping_ratio >= 0.0:
        raise ValueError(f"{what}: damping_ratio is {damping_ratio}; expected zero or more.")
    if acceleration is None and (kind == "spring" or damping_ratio):
        raise ValueError(f"{what}: springs and damping are tuned to an acceleration; give acceleration= in m/s^2.")
    if acceleration is not None:
        _above_zero(what, acceleration=acceleration)
    found = _resolved(what, tank, fill, modes)
    R, at = _along(np.asarray(up, dtype=float), what), np.asarray(position, dtype=float)
    across = max(found.fixed_inertia, 0.0) * density
    held = Joint(name, "fixed", parent, at + R[:, 2] * found.fixed_height, R)
    bodies = [Body(name, found.fixed * density, inertia=(across, across, 0.0), joint=held)]
    for k in range(modes):
        swing = _Swing(f"{name} {k + 1}", parent, at, R, found.masses[k] * density, float(found.squares[k]))
        make = swing.pendulum if kind == "pendulum" else swing.springs
        bodies += make(float(found.heights[k]), acceleration or 0.0, damping_ratio)
    return bodies


@dataclass(frozen=True, eq=False)
class _Swing:
    """One mode. square: w^2 under an acceleration of one, 1/m."""

    name: str
    parent: str
    position: Array
    R: Array
    mass: float
    square: float

    def pendulum(self, height: float, acceleration: float, zeta: float) -> list[Body]:
        """As long as it swings that fast; its mass hangs where that of the spring would be."""
        length = 1.0 / self.square
        damping = 2.0 * zeta * np.sqrt(acceleration * self.square) * self.mass * length**2
        hinge = self.position + self.R[:, 2] * (height + length)
        x, y = (1, 0, 0), (0, 1, 0)
        joint = Joint(
            self.name, "universal", self.parent, hinge, self.R, axis=x, axis2=y, damping=damping, driven=False
        )
        return [Body(self.name, self.mass, (0.0, 0.0, -length), joint=joint)]

    def springs(self, height: float, acceleration: float, zeta: float) -> list[Body]:
        w = np.sqrt(acceleration * self.square)
        own: dict[str, Any] = {"stiffness": self.mass * w * w, "damping": 2.0 * zeta * w * self.mass}
        at = self.position + self.R[:, 2] * height
        first = Joint(f"{self.name} x", "prismatic", self.parent, at, self.R, axis=(1, 0, 0), **own)
        second = Joint(f"{self.name} y", "prismatic", f"{self.name} x", axis=(0, 1, 0), **own)
        return [Body(f"{self.name} x", joint=first), Body(self.name, self.mass, joint=second)]


def _resolved(what: str, tank: TankShape, fill: float, modes: int) -> Slosh:
    surface = tank.surface(fill)
    found, fewer = (slosh_modes(tank.wall, tank.bottom, surface, modes, degrees=n) for n in (DEGREES, DEGREES - 4))
    off = np.abs(fewer.squares / found.squares - 1.0).max()
    if not off < 2 * RESOLVED:
        raise ValueError(
            f"{what}: mode {modes} of the liquid in this {tank.name} at fill {fill} is not resolved (its frequency is "
            f"uncertain by {0.5 * off:.1g}). Ask for fewer modes, or another fill: a "
            "slender column swings at its top alone."
        )
    return found


def _along(up: Array, what: str) -> Array:
    """A rotation whose z column is `up`."""
    length = float(np.sqrt(up @ up)) if up.shape == (3,) else 0.0
    if not length > 0:
        raise ValueError(f"{what}: up is {up.tolist()}; expected a direction.")
    z = up / length
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.sqrt(x @ x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _above_zero(what: str, **given: float) -> None:
    for name, value in given.items():
        if not value > 0:
            raise ValueError(f"{what}: {name} is {value}; expected a number above zero.")
