"""Zonal harmonics J2, J3, ... of the planet: what its flattening adds to two-body gravity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..algebra import Array, norm
from .gravity import Environment
from .orbit import reference_of
from .planets import Planet
from .point_forces import at_centers_of_mass


def zonal_acceleration(planet: Planet, zonals: Mapping[int, float], r: Array) -> Array:
    """Besides -mu r/|r|^3 (3,), for zonals {n: J_n}:

        U = mu/R sum J_n (R_e/R)^n P_n(s),  s = z/R                    (potential energy per mass)
        a = mu/R^2 sum J_n (R_e/R)^n (P'_{n+1}(s) u - P'_n(s) e_z),  u = r/R

    with P'_{n+1} = P'_{n-1} + (2n + 1) P_n. For n = 2 this is the well-known
    -3/2 J2 mu R_e^2/R^5 (x (1 - 5 s^2), y (1 - 5 s^2), z (3 - 5 s^2)).
    """
    R = norm(r)
    u, ratio = r / R, planet.radius / R
    s = u[2]
    highest = max(zonals, default=1)
    P: list[Any] = [1.0, s]
    slope: list[Any] = [0.0, 1.0]
    for n in range(1, highest + 1):
        P.append(((2 * n + 1) * s * P[n] - n * P[n - 1]) / (n + 1))
        slope.append(slope[n - 1] + (2 * n + 1) * P[n])
    e_z = np.array([0.0, 0.0, 1.0])
    total, power = np.zeros(3), ratio
    for n in range(2, highest + 1):
        power = power * ratio
        if zonals.get(n):
            total = total + zonals[n] * power * (slope[n + 1] * u - slope[n] * e_z)
    return planet.mu / (R * R) * total


def zonal_gravity(orbit: Any, degree: int = 6, *, gradient_torque: bool = False) -> Environment:
    """J2 up to J_degree of the orbit's planet, at the centre of mass of every body. Add it to `two_body_gravity`.

    N's origin keeps to its ellipse, so these pulls act whole, not as differences: members move away from it together.
    gradient_torque: of what these pulls change over each body (some 1e-3 of the two-body one).

    Raises ValueError for a degree below 2, and for one that the planet has not.
    """
    place = reference_of(orbit, "zonal gravity")
    planet = place.planet
    if degree < 2:
        raise ValueError(f"zonal gravity: degree is {degree}; expected 2 at least (J2).")
    missing = [n for n in range(2, degree + 1) if n not in planet.zonals]
    if missing:
        raise ValueError(
            f"zonal gravity: planet '{planet.name}' has no J{missing[0]}; it has "
            f"{', '.join(f'J{n}' for n in planet.zonals) or 'none'}. Ask for a lower degree, or give zonals= to the "
            "planet."
        )
    zonals = {n: planet.zonals[n] for n in range(2, degree + 1)}

    def acceleration(t: Any, r: Array) -> Array:
        if planet.orientation is None:  # the pole is N's z axis
            return zonal_acceleration(planet, zonals, r)
        R_FN = planet.fixed_axes(t)
        return R_FN.T @ zonal_acceleration(planet, zonals, R_FN @ r)

    return at_centers_of_mass(place, acceleration, torque=gradient_torque)
