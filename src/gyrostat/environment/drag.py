"""Air drag, and lift, on plates and spheres."""

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
from .shade import named, suits, wanted
from .surfaces import Plate, Surface, facing
from .two_body import outside

TINY = 1e-12  # (m/s)^2: keeps the root's derivative finite in still air


def air_drag(
    orbit: Any, surfaces: Sequence[Surface], density: Callable[..., Any] | None = None, *, shade: Any = None
) -> Environment:
    """-1/2 rho C_d A |v| v at each surface's centre, v its velocity in the air, which turns with the planet;
    A projected area. A plate with `accommodation` (s_n, s_t) and c = v.n/|v| instead, as in free-molecular flow much
    faster than the air's heat (Schaaf & Chambre 1961):

        -rho A c |v|^2 [s_t v/|v| + ((2 - s_n - s_t) c + s_n leaving) n]

    density(planet, t, r_N) -> kg/m^3: `Exponential()` by default, or `HarrisPriester(sun(epoch))`.
    shade: names of bodies whose shapes keep the stream from surfaces, or a `Shade`.
    """
    place, before = reference_of(orbit, "air drag"), named(shade)
    planet, rho = place.planet, density or Exponential()

    def wrenches(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        wanted(before, craft, surfaces)
        at, X_NB = place.state(t), inertial_poses(craft, q)
        V = body_twists(craft, q, v, joint_poses(craft, q))
        totals: dict[str, Any] = {body.name: np.zeros(6) for body in craft.bodies}
        for surface in surfaces:
            X, twist = X_NB[surface.body], V[surface.body]
            r_N = at.r + transform_point(X, surface.center)
            air_N = cross(planet.spin_N(t), r_N) - at.v
            v_B = twist[3:] + cross(twist[:3], surface.center) - X.R.T @ air_N
            speed = sqrt(v_B @ v_B + TINY)
            u_B = v_B / speed
            push, n_B = _push(surface, u_B)
            if before is not None:
                push = push * before.reached(craft, q, X, surface, u_B, n_B)
            force = -rho(planet, t, r_N) * surface.area * (v_B @ v_B) * push
            totals[surface.body] = totals[surface.body] + np.concatenate([cross(surface.center, force), force])
        return np.array([totals[body.name] for body in craft.bodies])

    return Environment(wrenches, check=suits(before, surfaces, outside(place)), span=common_span(place, planet, rho))


def _push(surface: Surface, u_B: Array) -> tuple[Array, Array]:
    """Force over rho A v^2, turned round, of a surface that moves along u through the air; the normal of that side."""
    if not isinstance(surface, Plate):
        return 0.5 * surface.drag * u_B, u_B
    cosine, n_B = facing(surface, u_B)
    if surface.accommodation is None:
        return 0.5 * surface.drag * cosine * u_B, n_B
    normal, tangential = surface.accommodation
    return cosine * (tangential * u_B + ((2.0 - normal - tangential) * cosine + normal * surface.leaving) * n_B), n_B


def ballistic_coefficient(mass: float, surface: Surface) -> float:
    """m / (C_d A) in kg/m^2."""
    return mass / (surface.drag * surface.area)


def dynamic_pressure(rho: Any, v_N: Array) -> Any:
    """1/2 rho v^2 in Pa."""
    return 0.5 * rho * norm(v_N) ** 2
