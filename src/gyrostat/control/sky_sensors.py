"""Sensors of what is around: Sun, horizon, magnetic field, and the place of satellite navigation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, Pose, cross, exp_so3, maximum, norm, where
from ..environment import Celestial
from ..environment.orbit import reference_of
from ..environment.sunlight import sunlit_fraction
from ..kinematics import frame_pose, jacobian
from ..model import Spacecraft
from .imperfection import PERFECT, Imperfection
from .sensor import AbstractSensor


class _InOrbit(AbstractSensor):
    """frame: the sensor's, on a body; its z axis looks out. orbit: where N is."""

    frame: str
    orbit: Any

    def __post_init__(self) -> None:
        reference_of(self.orbit, f"sensor '{self.name}'")
        view = getattr(self, "field_of_view", 1.0)
        if not 0.0 < view <= np.pi:
            raise ValueError(
                f"sensor '{self.name}': field_of_view is {view} rad from its axis; expected radians, above 0 and at "
                "most pi."
            )

    def at(self, craft: Spacecraft, t: Any, q: Array) -> tuple[Pose, Array]:
        """X_NF, and where it is from the planet's centre, in N."""
        X = frame_pose(craft, q, self.frame)
        return X, self.orbit.state(t).r + X.p


@dataclass(frozen=True, eq=False)
class Magnetometer(_InOrbit):
    """The magnetic field in the frame's axes, (3,), in T. field(t, r_N): `Sky.magnetic_field`. What the craft's own
    torquers add is left out: it is read while they rest.
    """

    frame: str
    orbit: Any
    field: Callable[[Any, Array], Array]
    imperfection: Imperfection = PERFECT
    name: str = "magnetometer"

    def truth(self, craft: Spacecraft, t: Any, q: Array, v: Array, *before: Any) -> Array:
        X, r_N = self.at(craft, t, q)
        return X.R.T @ self.field(t, r_N)


@dataclass(frozen=True, eq=False)
class FineSunSensor(_InOrbit):
    """Unit vector to the Sun in the frame's axes, (3,), turned by a small random rotation (noise in rad). It sees the
    Sun within field_of_view (half angle, rad) of the frame's z axis, where at least half of its disc is lit.
    """

    frame: str
    orbit: Any
    sun: Celestial
    field_of_view: float = np.pi
    imperfection: Imperfection = PERFECT
    name: str = "sun_sensor"

    def truth(self, craft: Spacecraft, t: Any, q: Array, v: Array, *before: Any) -> Array:
        return np.zeros(3)

    def value(self, craft: Spacecraft, t: Any, q: Array, v: Array, read: Array) -> Array:
        X, r_N = self.at(craft, t, q)
        to_sun = self.sun.position(t) - r_N
        return exp_so3(read) @ (X.R.T @ to_sun) / norm(to_sun)

    def sees(self, craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        X, r_N = self.at(craft, t, q)
        to_sun = self.sun.position(t) - r_N
        inside = where(X.R[:, 2] @ to_sun >= np.cos(self.field_of_view) * norm(to_sun), 1.0, 0.0)
        return inside * where(_lit(self, t, r_N) >= 0.5, 1.0, 0.0)


@dataclass(frozen=True, eq=False)
class CoarseSunSensors(_InOrbit):
    """Currents of photocells, 1 with the Sun overhead: max(0, n . s) times the part of the Sun's disc that is lit, one
    per normal (n, 3) in the frame's axes. Light from Earth is left out.
    """

    frame: str
    orbit: Any
    sun: Celestial
    normals: Any
    imperfection: Imperfection = PERFECT
    name: str = "sun_cells"

    def __post_init__(self) -> None:
        super().__post_init__()
        n = np.asarray(self.normals, dtype=float)
        if n.ndim != 2 or n.shape[1] != 3 or not np.linalg.norm(n, axis=1).all():
            raise ValueError(f"sensor '{self.name}': normals have shape {n.shape}; expected directions (n, 3).")
        object.__setattr__(self, "normals", n / np.linalg.norm(n, axis=1)[:, None])

    def truth(self, craft: Spacecraft, t: Any, q: Array, v: Array, *before: Any) -> Array:
        X, r_N = self.at(craft, t, q)
        to_sun = self.sun.position(t) - r_N
        s_F = (X.R.T @ to_sun) / norm(to_sun)
        return _lit(self, t, r_N) * np.array([maximum(n @ s_F, 0.0) for n in self.normals])


@dataclass(frozen=True, eq=False)
class HorizonSensor(_InOrbit):
    """Unit vector to the planet's centre in the frame's axes, (3,), as from its limb, turned by a small random rotation
    (noise in rad); within field_of_view (half angle, rad) of the frame's z axis.
    """

    frame: str
    orbit: Any
    field_of_view: float = np.pi
    imperfection: Imperfection = PERFECT
    name: str = "horizon"

    def truth(self, craft: Spacecraft, t: Any, q: Array, v: Array, *before: Any) -> Array:
        return np.zeros(3)

    def value(self, craft: Spacecraft, t: Any, q: Array, v: Array, read: Array) -> Array:
        X, r_N = self.at(craft, t, q)
        return -exp_so3(read) @ (X.R.T @ r_N) / norm(r_N)

    def sees(self, craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        X, r_N = self.at(craft, t, q)
        return where(-(X.R[:, 2] @ r_N) >= np.cos(self.field_of_view) * norm(r_N), 1.0, 0.0)


@dataclass(frozen=True, eq=False)
class SatelliteNavigation(_InOrbit):
    """Position and velocity of the frame's origin from the planet's centre, (6,), m and m/s: in N, or in the axes that
    turn with the planet and relative to it (fixed=True). noise and bias: six, or one for each.
    """

    frame: str
    orbit: Any
    imperfection: Imperfection = PERFECT
    fixed: bool = False
    name: str = "navigation"

    def truth(self, craft: Spacecraft, t: Any, q: Array, v: Array, *before: Any) -> Array:
        _, r_N = self.at(craft, t, q)
        v_N = self.orbit.state(t).v + jacobian(craft, q, self.frame)[3:] @ v
        if not self.fixed:
            return np.concatenate([r_N, v_N])
        planet = self.orbit.planet
        R_FN = planet.fixed_axes(t)
        return np.concatenate([R_FN @ r_N, R_FN @ (v_N - cross(planet.spin_N(t), r_N))])


def _lit(sensor: Any, t: Any, r_N: Array) -> Any:
    return sunlit_fraction(r_N, sensor.sun.position(t), sensor.orbit.planet.radius, sensor.sun.radius)
