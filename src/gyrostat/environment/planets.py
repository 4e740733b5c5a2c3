"""Celestial bodies that are orbited: gravity, shape, spin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from ..algebra import Array, cos, norm, sin


@dataclass(frozen=True)
class Planet:
    """mu in m^3/s^2, equatorial radius in m; its pole is the z axis of N.

    zonals: {degree: J_degree}. spin: rate of rotation in rad/s; None if it is not known or not wanted. flattening: of
    its surface.
    prime_meridian: angle from N's x axis to the prime meridian at t = 0, in rad. dense_air: height in m below which
    nothing stays in orbit for a turn.
    orientation: how it really turns (`Sky.earth` has one): axes(t) -> R_FN, spin(t) -> (3,) in N; takes the place of
    pole, spin and prime meridian.
    """

    name: str
    mu: float
    radius: float
    zonals: Mapping[int, float] = field(default_factory=lambda: MappingProxyType({}))
    spin: float | None = None
    flattening: float = 0.0
    prime_meridian: float = 0.0
    dense_air: float = 0.0
    orientation: Any = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mu) and self.mu > 0 and np.isfinite(self.radius) and self.radius > 0):
            raise ValueError(
                f"planet '{self.name}': mu {self.mu} m^3/s^2 and radius {self.radius} m must be positive, in SI units."
            )

    @property
    def span(self) -> tuple[float, float] | None:
        """Times between which its orientation is known; None: all."""
        return None if self.orientation is None else self.orientation.span

    def spin_N(self, t: Any = 0.0) -> Array:
        """Angular velocity in N, (3,); zero if no spin is given."""
        if self.orientation is not None:
            return np.asarray(self.orientation.spin(t))
        return np.array([0.0, 0.0, self.spin or 0.0])

    def fixed_axes(self, t: Any) -> Array:
        """R_FN (3, 3): takes components from N to the axes that turn with the planet."""
        if self.orientation is not None:
            return np.asarray(self.orientation.axes(t))
        if self.spin is None:
            raise ValueError(
                f"planet '{self.name}' has no rotation: what turns with it (tesseral terms, its atmosphere's "
                "longitude) is not defined. Give spin= in rad/s (0.0 if it shall not turn)."
            )
        angle = self.prime_meridian + self.spin * t
        c, s = cos(angle), sin(angle)
        return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])

    def height(self, r_N: Array, t: Any = 0.0) -> Any:
        """Height above the flattened surface, in m: |r| - R (1 - f sin^2 latitude), good to some 20 m for Earth."""
        distance = norm(r_N)
        along = r_N[2] if self.orientation is None else self.fixed_axes(t)[2] @ r_N
        sine = along / distance
        return distance - self.radius * (1.0 - self.flattening * sine * sine)


# Earth; mu and zonals: EGM96 (zero-tide J2), JGM-3's successor; radius and flattening: WGS 84
EARTH = Planet(
    "Earth",
    3.986004415e14,
    6378136.3,
    MappingProxyType(
        {
            2: 1.08262668355e-3,
            3: -2.53265648533e-6,
            4: -1.61962159137e-6,
            5: -2.27296082869e-7,
            6: 5.40681239107e-7,
        }
    ),
    spin=7.292115e-5,
    flattening=1 / 298.257223563,
    dense_air=100e3,
)
# The Moon, with its own J2
MOON = Planet("Moon", 4.9028e12, 1738.0e3, MappingProxyType({2: 2.0330530e-4}), spin=2.6616995e-6)
# Mars; radii 3396.19 and 3376.20 km (IAU 2015)
MARS = Planet(
    "Mars",
    4.282837e13,
    3396.0e3,
    MappingProxyType({2: 1.95545e-3}),
    spin=7.088218e-5,
    flattening=1 / 169.894,
    dense_air=80e3,
)
