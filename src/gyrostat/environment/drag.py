"""Air drag on plates and spheres."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra import Array, cross, norm, sqrt, transform_point
from ..kinematics import body_twists, inertial_poses, joint_poses
from ..model import Spacecraft
from .atmosphere import Exponential
from .gravity import Environment, common_span
from .orbit import reference_of
from .surfaces import Plate, Surface, checked, facing
from .two_body import outside

TINY = 1e-12  # (m/s)^2: keeps the root's derivative finite in still air


def air_drag(orbit: Any, surfaces: Sequence[Surface], density: Callable[..., Any] | None = None) -> Environment:
    """-1/2 rho C_d A |v| v at each surface's centre, v its velocity in the air, which turns with the planet;
    A projected area.

    density(planet, t, r_N) -> kg/m^3: `Exponential()` by default, or `HarrisPriester(sun(epoch))`.
    """
    place = reference_of(orbit, "air drag")
    planet, rho = place.planet, density or Exponential()

    def wrenches(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        checked(craft, surfaces)
        at, X_NB = place.state(t), inertial_poses(craft, q)
        V = body_twists(craft, q, v, joint_poses(craft, q))
        totals: dict[str, Any] = {body.name: np.zeros(6) for body in craft.bodies}
        for surface in surfaces:
            X, twist = X_NB[surface.body], V[surface.body]
            r_N = at.r + transform_point(X, surface.center)
            air_N = cross(planet.spin_N(t), r_N) - at.v
            v_B = twist[3:] + cross(twist[:3], surface.center) - X.R.T @ air_N
            speed = sqrt(v_B @ v_B + TINY)
            area: Any = surface.area
            if isinstance(surface, Plate):
                area = area * facing(surface, v_B / speed)[0]
            force = -0.5 * rho(planet, t, r_N) * surface.drag * area * speed * v_B
            totals[surface.body] = totals[surface.body] + np.concatenate([cross(surface.center, force), force])
        return np.array([totals[body.name] for body in craft.bodies])

    return Environment(wrenches, check=outside(place), span=common_span(place, planet, rho))


def ballistic_coefficient(mass: float, surface: Surface) -> float:
    """m / (C_d A) in kg/m^2."""
    return mass / (surface.drag * surface.area)


def dynamic_pressure(rho: Any, v_N: Array) -> Any:
    """1/2 rho v^2 in Pa."""
    return 0.5 * rho * norm(v_N) ** 2
