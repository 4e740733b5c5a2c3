"""Light of the planet: sunlight that its day side throws back (albedo), and the heat of all of it (infrared)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra import Array, cross, maximum, norm, sqrt, where
from ..kinematics import inertial_poses
from ..model import Spacecraft
from .ephemeris import ASTRONOMICAL_UNIT, Celestial
from .gravity import Environment, common_span
from .orbit import reference_of
from .shade import named, suits, wanted
from .sunlight import PRESSURE, pushed
from .surfaces import Surface

Part = float | Callable[[Any], Any]  # a number, or of the sine of latitude


def knocke_albedo(sine: Any) -> Any:
    """Of a ring of latitude, a year's mean: 0.34 + 0.29 P_2. Knocke, Ries & Tapley, AIAA 88-4292 (1988)."""
    return 0.34 + 0.29 * (1.5 * sine * sine - 0.5)


def knocke_emission(sine: Any) -> Any:
    """Of a ring of latitude, a year's mean: 0.68 - 0.18 P_2, of a quarter of the Sun's light. Likewise."""
    return 0.68 - 0.18 * (1.5 * sine * sine - 0.5)


def planet_light(
    orbit: Any,
    surfaces: Sequence[Surface],
    sun: Celestial,
    *,
    albedo: Part = knocke_albedo,
    emission: Part = knocke_emission,
    rings: int = 3,
    around: int = 8,
    shade: Any = None,
) -> Environment:
    """Pressure of the planet's light on surfaces, which meet it as they meet the Sun's.

    The disc of the planet is cut into rings x around parts, seen from the craft's base. A part of solid angle dO at
    the ground's unit normal g, s towards the Sun, presses with

        dP = P_sun [albedo max(g.s, 0) + emission/4] dO/pi             (both radiate as Lambert's law says)

    albedo, emission: parts of the Sun's light, numbers or functions of the sine of latitude. Rings are Gauss's in the
    cosine of the nadir angle: the sum over a plate that sees the whole disc is exact for light that is the same
    everywhere.

    Raises ValueError for fewer rings than one, and for parts that are not within 0 and 1.
    """
    place, before = reference_of(orbit, "the planet's light"), named(shade)
    if rings < 1 or around < 3:
        raise ValueError(f"planet light: rings is {rings}, around {around}; expected 1 and 3 at least.")
    for name, part in (("albedo", albedo), ("emission", emission)):
        if not callable(part) and not 0 <= part <= 1:
            raise ValueError(f"planet light: {name} is {part}; expected a part of the Sun's light, from 0 to 1.")
    nodes, weights = np.polynomial.legendre.leggauss(rings)
    angles = 2.0 * np.pi * (np.arange(around) + 0.5) / around

    def parts(t: Any, r_N: Array) -> list[tuple[Any, Array]]:
        """Pressure of each part of the disc, and the direction to it, in N."""
        planet, R = place.planet, norm(r_N)
        down = -r_N / R
        to_sun = sun.position(t) - r_N
        s = sun.position(t) / norm(sun.position(t))
        least = sqrt(maximum(1.0 - (planet.radius / R) ** 2, 0.0))  # cosine of the limb's nadir angle
        low = where(down[2] * down[2] < 0.5, 1.0, 0.0)
        x = cross(down, np.array([1.0 - low, 0.0, low]))
        x = x / norm(x)
        y = cross(down, x)
        pole = planet.fixed_axes(t)[2] if planet.orientation is not None else np.array([0.0, 0.0, 1.0])
        whole = PRESSURE * (ASTRONOMICAL_UNIT / norm(to_sun)) ** 2
        found = []
        for node, weight in zip(nodes, weights, strict=True):
            c = least + (1.0 - least) * 0.5 * (node + 1.0)
            solid = (1.0 - least) * 0.5 * weight * 2.0 * np.pi / around
            tilt = sqrt(1.0 - c * c)
            far = R * c - sqrt(maximum(planet.radius**2 - R * R * (1.0 - c * c), 0.0))  # to the ground
            for angle in angles:
                towards = c * down + tilt * (np.cos(angle) * x + np.sin(angle) * y)
                g = (r_N + far * towards) / planet.radius
                sine = pole @ g
                light = _of(albedo, sine) * maximum(g @ s, 0.0) + 0.25 * _of(emission, sine)
                found.append((whole * light * solid / np.pi, towards))
        return found

    def wrenches(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        wanted(before, craft, surfaces)
        r1, X_NB = place.state(t).r, inertial_poses(craft, q)
        totals: dict[str, Any] = {body.name: np.zeros(6) for body in craft.bodies}
        seen = {root.name: parts(t, r1 + X_NB[root.name].p) for root in craft.roots}
        for surface in surfaces:
            X, force = X_NB[surface.body], np.zeros(3)
            for pressure, towards_N in seen[craft.base_of(surface.body)]:
                s_B = X.R.T @ towards_N
                push, n_B = pushed(surface, s_B)
                if before is not None:
                    push = push * before.reached(craft, q, X, surface, s_B, n_B)
                force = force + pressure * push
            totals[surface.body] = totals[surface.body] + np.concatenate([cross(surface.center, force), force])
        return np.array([totals[body.name] for body in craft.bodies])

    return Environment(wrenches, check=suits(before, surfaces), span=common_span(place, place.planet, sun))


def _of(part: Part, sine: Any) -> Any:
    return part(sine) if callable(part) else part
