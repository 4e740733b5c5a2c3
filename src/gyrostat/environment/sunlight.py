"""Pressure of sunlight on plates and spheres, with the planet's shadow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra import Array, acos, asin, clip, cross, norm, sqrt, where
from ..kinematics import inertial_poses
from ..model import Spacecraft
from .ephemeris import ASTRONOMICAL_UNIT, Celestial
from .gravity import Environment, common_span
from .orbit import reference_of
from .shade import named, suits, wanted
from .surfaces import Plate, Surface, facing

PRESSURE = 4.56e-6  # N/m^2, on a black surface at one astronomical unit


def sunlit_fraction(r: Array, sun: Array, planet_radius: float, sun_radius: float) -> Any:
    """Part of the Sun's disc that a point at r sees past the planet, both from the planet's centre: 1 in light,
    0 in umbra.

    Overlap of two discs of apparent radii a (Sun) and b (planet), c apart (Montenbruck & Gill, 3.4.2):

        A = a^2 acos(x/a) + b^2 acos((c - x)/b) - c y,   x = (c^2 + a^2 - b^2)/(2c),  y = sqrt(a^2 - x^2)
    """
    to_sun = sun - r
    distance, R = norm(to_sun), norm(r)
    a, b = asin(sun_radius / distance), asin(clip(planet_radius / R, 0.0, 1.0))
    c = acos(clip(-(r @ to_sun) / (R * distance), -1.0, 1.0))
    partial = where(c < a + b, 1.0, 0.0) * where(c > absolute_difference(a, b), 1.0, 0.0)
    safe = where(partial > 0.5, c, a + b - 0.5 * a)  # somewhere inside, where nothing is used
    x = (safe * safe + a * a - b * b) / (2.0 * safe)
    y = sqrt(where(a * a - x * x > 0.0, a * a - x * x, 0.0) + 1e-300)
    covered = a * a * acos(clip(x / a, -1.0, 1.0)) + b * b * acos(clip((safe - x) / b, -1.0, 1.0)) - safe * y
    part = 1.0 - covered / (np.pi * a * a)
    inside = where(b > a, 0.0, 1.0 - b * b / (a * a))  # umbra, or a ring of light around a small planet
    return where(partial > 0.5, part, where(c < a + b, inside, 1.0))


def absolute_difference(a: Any, b: Any) -> Any:
    return where(a > b, a - b, b - a)


def pushed(surface: Surface, s_B: Array) -> tuple[Array, Array]:
    """Force by light from a direction s over its pressure, (3,), and the normal of the side that is lit."""
    if not isinstance(surface, Plate):
        return -surface.area * surface.reflection * s_B, s_B
    cosine, n = facing(surface, s_B)
    push = (1.0 - surface.specular) * s_B + 2.0 * (surface.specular * cosine + surface.diffuse / 3.0) * n
    return -surface.area * cosine * push, n


def solar_pressure(
    orbit: Any,
    surfaces: Sequence[Surface],
    sun: Celestial,
    *,
    eclipse: bool = True,
    moon: Celestial | None = None,
    shade: Any = None,
) -> Environment:
    """Sunlight: on a plate -P A cos(theta) [(1 - specular) s + 2 (specular cos(theta) + diffuse/3) n], s towards the
    Sun; on a sphere -P A reflection s. P falls with the square of the distance to the Sun and in the planet's shadow;
    in that of a moon, too, if it is given. shade: names of bodies whose shapes keep it from surfaces, or a `Shade`.
    """
    place, before = reference_of(orbit, "solar pressure"), named(shade)

    def light(t: Any, r_N: Array, where_sun: Array) -> tuple[Any, Array]:
        """Pressure at r from the planet's centre, and the direction to the Sun."""
        to_sun = where_sun - r_N
        distance = norm(to_sun)
        pressure = PRESSURE * (ASTRONOMICAL_UNIT / distance) ** 2
        if eclipse:
            pressure = pressure * sunlit_fraction(r_N, where_sun, place.planet.radius, sun.radius)
        if moon is not None:
            m_N = moon.position(t)
            pressure = pressure * sunlit_fraction(r_N - m_N, where_sun - m_N, moon.radius, sun.radius)
        return pressure, to_sun / distance

    def wrenches(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        wanted(before, craft, surfaces)
        r1, X_NB, where_sun = place.state(t).r, inertial_poses(craft, q), sun.position(t)
        totals: dict[str, Any] = {body.name: np.zeros(6) for body in craft.bodies}
        # the same for a whole spacecraft
        lit = {root.name: light(t, r1 + X_NB[root.name].p, where_sun) for root in craft.roots}
        for surface in surfaces:
            pressure, towards_N = lit[craft.base_of(surface.body)]
            s_B = X_NB[surface.body].R.T @ towards_N
            push, n_B = pushed(surface, s_B)
            if before is not None:
                push = push * before.reached(craft, q, X_NB[surface.body], surface, s_B, n_B)
            force = pressure * push
            totals[surface.body] = totals[surface.body] + np.concatenate([cross(surface.center, force), force])
        return np.array([totals[body.name] for body in craft.bodies])

    return Environment(wrenches, check=suits(before, surfaces), span=common_span(place, sun, moon))
