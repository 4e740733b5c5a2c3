"""The reference orbit: where the origin of N is. N's axes do not turn;
its origin follows an ellipse or a hyperbola about the planet exactly.

A member's position p_NB is measured from there, so a millimetre stays a millimetre at 7000 km. Environments add what
pulls the member otherwise than the origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, atan2, cos, exp, rotation_about, sin
from .kepler import eccentric_anomaly, hyperbolic_anomaly, hyperbolic_mean
from .planets import EARTH, Planet


class OrbitState(NamedTuple):
    """Of the origin of N from the planet's centre, in N."""

    r: Array  # (3,) m
    v: Array  # (3,) m/s


@dataclass(frozen=True, eq=False)
class Orbit:
    """An ellipse or a hyperbola about `planet`; build it by `from_elements`, `from_state` or `circular`.

    a: semi-major axis, e: eccentricity (a < 0 and e > 1: a hyperbola), R_NP: columns towards pericentre, a quarter turn
    on, and the orbit's normal. M0: mean anomaly at t = 0.
    """

    planet: Planet
    a: float
    e: float
    R_NP: Array
    M0: float = 0.0

    def __post_init__(self) -> None:
        if not (0.0 <= self.e < 1.0 and self.a > 0 or 1.0 < self.e < np.inf and self.a < 0):
            raise ValueError(
                f"orbit: semi-major axis {self.a:.6g} m and eccentricity {self.e:.6g} are no ellipse and no hyperbola; "
                "expected a > 0, 0 <= e < 1, or a < 0, e > 1."
            )
        if self.a * (1.0 - self.e) <= self.planet.radius:
            raise ValueError(
                f"orbit: its pericentre at {self.a * (1 - self.e):.6g} m from the centre of {self.planet.name} lies "
                f"inside the planet (radius {self.planet.radius:.6g} m). Give lengths in metres, from the centre."
            )

    # ---- ways to build it

    @classmethod
    def from_elements(
        cls,
        a: float,
        e: float = 0.0,
        inclination: float = 0.0,
        node: float = 0.0,
        pericenter: float = 0.0,
        true_anomaly: float = 0.0,
        *,
        planet: Planet = EARTH,
    ) -> Orbit:
        """From Kepler's elements at t = 0, in m and rad. node: right ascension of the ascending node. A hyperbola has
        a < 0 and e > 1.
        """
        if not 0.0 <= e < 1.0 and not (e > 1.0 and a < 0):
            return cls(planet, float(a), float(e), np.eye(3))  # which says what is wrong with it
        _ask_about_angles(
            inclination=(inclination, pi),
            node=(node, 2 * pi),
            pericenter=(pericenter, 2 * pi),
            true_anomaly=(true_anomaly, 2 * pi),
        )
        _ask_about_air(planet, a * (1.0 - e) - planet.radius)
        x, _, z = np.eye(3)
        R = rotation_about(z, node) @ rotation_about(x, inclination) @ rotation_about(z, pericenter)
        if e > 1.0:
            half = np.sqrt((e - 1.0) / (e + 1.0)) * np.tan(true_anomaly / 2)
            if not abs(half) < 1.0:
                raise ValueError(
                    f"orbit: true_anomaly is {true_anomaly:.6g}; a hyperbola of eccentricity {e:.6g} stays within "
                    f"{np.arccos(-1.0 / e):.6g} rad of its pericentre."
                )
            return cls(planet, float(a), float(e), R, float(hyperbolic_mean(2.0 * np.arctanh(half), e)))
        E = 2.0 * np.arctan2(np.sqrt(1 - e) * np.sin(true_anomaly / 2), np.sqrt(1 + e) * np.cos(true_anomaly / 2))
        return cls(planet, float(a), float(e), R, float(E - e * np.sin(E)))

    @classmethod
    def circular(
        cls,
        altitude: float,
        inclination: float = 0.0,
        *,
        node: float = 0.0,
        argument: float = 0.0,
        planet: Planet = EARTH,
    ) -> Orbit:
        """A circular orbit `altitude` m above the equatorial radius;
        argument: angle from the ascending node at t = 0.
        """
        _ask_about_angles(argument=(argument, 2 * pi))
        return cls.from_elements(planet.radius + altitude, 0.0, inclination, node, argument, planet=planet)

    @classmethod
    def from_state(cls, r: Any, v: Any, t: float = 0.0, *, planet: Planet = EARTH) -> Orbit:
        """The osculating ellipse or hyperbola through position r (m) and velocity v (m/s) from the
        planet's centre, in N, at time t.
        """
        r, v = np.asarray(r, dtype=float), np.asarray(v, dtype=float)
        for name, x in (("r", r), ("v", v)):
            if x.shape != (3,) or not np.isfinite(x).all():
                raise ValueError(f"orbit: {name} is {x}; expected three finite numbers.")
        distance, h = float(np.linalg.norm(r)), np.cross(r, v)
        if distance <= planet.radius:
            raise ValueError(
                f"orbit: r is {distance:.6g} m from the centre of {planet.name}, inside it (radius {planet.radius:.6g} "
                "m). Give r in metres, from the planet's centre."
            )
        energy = v @ v / 2 - planet.mu / distance
        if abs(energy) * distance < 1e-12 * planet.mu or not h.any():
            raise ValueError(
                f"orbit: at {distance:.6g} m and {np.linalg.norm(v):.6g} m/s the state is on a parabola or falls "
                "straight; expected an ellipse or a hyperbola."
            )
        a = -planet.mu / (2 * energy)
        e_vector = np.cross(v, h) / planet.mu - r / distance
        e = float(np.linalg.norm(e_vector))
        W = h / np.linalg.norm(h)
        P = e_vector / e if e > 1e-14 else r / distance
        e = e if e > 1e-14 else 0.0
        P = P - (P @ W) * W
        P = P / np.linalg.norm(P)
        Q = np.cross(W, P)
        n = np.sqrt(planet.mu / abs(a) ** 3)
        if a < 0:
            H = np.arcsinh(r @ Q / (-a * np.sqrt(e * e - 1)))
            return cls(planet, float(a), e, np.column_stack([P, Q, W]), float(hyperbolic_mean(H, e) - n * t))
        # E from the position itself: what P errs, E errs the other way, so that r stays exact even if e is tiny
        E = np.arctan2(r @ Q / (a * np.sqrt(1 - e * e)), r @ P / a + e)
        return cls(planet, float(a), e, np.column_stack([P, Q, W]), float(E - e * np.sin(E) - n * t))

    # ---- motion

    @property
    def n(self) -> float:
        """Mean motion in rad/s."""
        return float(np.sqrt(self.planet.mu / abs(self.a) ** 3))

    @property
    def period(self) -> float:
        if self.e > 1.0:
            raise ValueError(f"orbit: a hyperbola (eccentricity {self.e:.6g}) has no period.")
        return 2.0 * pi / self.n

    @property
    def h(self) -> float:
        """Specific angular momentum in m^2/s."""
        return float(np.sqrt(self.planet.mu * self.a * (1.0 - self.e * self.e)))

    def state(self, t: Any) -> OrbitState:
        """Position and velocity of N's origin, in N. `t` may be a symbol."""
        a, e, b = self.a, self.e, np.sqrt(abs(1.0 - self.e * self.e))
        P, Q = self.R_NP[:, 0], self.R_NP[:, 1]
        if e > 1.0:
            up = exp(hyperbolic_anomaly(self.M0 + self.n * t, e))
            c, s = 0.5 * (up + 1.0 / up), 0.5 * (up - 1.0 / up)
            rate = self.n / (e * c - 1.0)
            return OrbitState(-a * ((e - c) * P + b * s * Q), -a * rate * (-s * P + b * c * Q))
        E = eccentric_anomaly(self.M0 + self.n * t, e)
        c, s = cos(E), sin(E)
        rate = self.n / (1.0 - e * c)
        return OrbitState(a * ((c - e) * P + b * s * Q), a * rate * (-s * P + b * c * Q))

    def true_anomaly(self, t: Any) -> Any:
        """In rad, growing without jumps."""
        M = self.M0 + self.n * t
        if self.e > 1.0:
            up = exp(hyperbolic_anomaly(M, self.e))
            return 2.0 * atan2(np.sqrt(self.e + 1.0) * (up - 1.0), np.sqrt(self.e - 1.0) * (up + 1.0))
        E = eccentric_anomaly(M, self.e)
        beta = self.e / (1.0 + np.sqrt(1.0 - self.e * self.e))
        return E + 2.0 * atan2(beta * sin(E), 1.0 - beta * cos(E))

    def perturbation(self, t: Any) -> Any:
        """Acceleration of N's origin beyond two-body gravity, (3,): none."""
        return np.zeros(3)


def _ask_about_angles(**angles: tuple[float, float]) -> None:
    """{name: (value, largest)}: what is larger is in degrees, or runs on past a turn."""
    for name, (value, largest) in angles.items():
        if not abs(value) <= largest * (1.0 + 1e-9):
            turns = "pi" if largest == pi else "2 pi"
            rest = "" if largest == pi else " If it runs on past a turn, take it modulo 2 pi."
            raise ValueError(
                f"orbit: {name} is {value:.6g}; expected radians, {turns} at most. If these are degrees, "
                f'write np.radians({value:.6g}); in a file "{value:.6g} deg".{rest}'
            )


def _ask_about_air(planet: Planet, height: float) -> None:
    """An orbit that dips into dense air is none; a height below the surface is refused where the orbit is built."""
    if 0.0 < height < planet.dense_air:
        raise ValueError(
            f"orbit: it comes down to {height:.6g} m above {planet.name}, into air where nothing stays in orbit (below "
            f"{planet.dense_air:.6g} m). Lengths are in metres: {height:.6g} km are {height:.6g}e3; in a file "
            f'"{height:.6g} km". If it is meant, give '
            f"planet=dataclasses.replace({planet.name.upper()}, dense_air=0.0)."
        )


@dataclass(frozen=True, eq=False)
class PlanetCentered:
    """N's origin at the planet's centre, at rest: positions are absolute, and lose what ulps at 7000 km lose (1 nm)."""

    planet: Planet = EARTH

    def state(self, t: Any) -> OrbitState:
        return OrbitState(np.zeros(3), np.zeros(3))

    def perturbation(self, t: Any) -> Any:
        return np.zeros(3)


Reference = Orbit | PlanetCentered


def reference_of(orbit: Any, who: str) -> Reference:
    """`orbit`, or an error that says who needs one."""
    if not hasattr(orbit, "state"):
        raise ValueError(
            f"{who} needs to know where N is: got {orbit!r} for the orbit. Give a gs.Orbit, such as "
            "gs.Orbit.circular(altitude=500e3, inclination=0.9), or PlanetCentered(planet)."
        )
    return orbit
