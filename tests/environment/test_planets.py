"""Earth, Moon and Mars: constants against values published in other units and by other means;
heights above the ellipsoid.
"""

from __future__ import annotations

import numpy as np
import pytest

from gyrostat.environment import EARTH, MARS, MOON

EVERY = (EARTH, MOON, MARS)


@pytest.mark.parametrize(
    ("planet", "surface_gravity", "radius_km", "sidereal_day_h", "polar_radius_km"),
    [
        # mu / R^2 in m/s^2, mean equatorial radius, sidereal rotation, polar radius: NASA's planetary fact sheets
        (EARTH, 9.798, 6378.137, 23.9345, 6356.752),
        (MOON, 1.623, 1738.1, 655.720, 1738.0),
        (MARS, 3.713, 3396.2, 24.6229, 3376.2),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_size_pull_turn_and_shape(planet, surface_gravity, radius_km, sidereal_day_h, polar_radius_km):
    assert planet.mu / planet.radius**2 == pytest.approx(surface_gravity, rel=1e-3)
    assert planet.radius / 1e3 == pytest.approx(radius_km, rel=1e-4)
    assert 2 * np.pi / planet.spin / 3600 == pytest.approx(sidereal_day_h, rel=1e-5)
    if planet.flattening:
        assert planet.radius * (1 - planet.flattening) / 1e3 == pytest.approx(polar_radius_km, rel=1e-4)


@pytest.mark.parametrize(
    ("planet", "degree", "normalised"),
    [
        # fully normalised C_n0 of EGM96, LP150Q and GMM-3 (MRO): J_n = -C_n0 sqrt(2n + 1)
        (EARTH, 2, -4.841653717e-4),
        (EARTH, 3, 9.57254174e-7),
        (EARTH, 4, 5.39873864e-7),
        (EARTH, 5, 6.8532348e-8),
        (EARTH, 6, -1.49957995e-7),
        (MOON, 2, -9.0910e-5),
        (MARS, 2, -8.7450e-4),
    ],
)
def test_zonals_against_normalised_coefficients(planet, degree, normalised):
    assert planet.zonals[degree] == pytest.approx(-normalised * np.sqrt(2 * degree + 1), rel=3e-4)


@pytest.mark.parametrize(
    ("planet", "low_km", "high_km", "year_days", "inclination_deg"),
    [
        (EARTH, 705.0, 705.0, 365.2422, 98.2),
        (MARS, 255.0, 320.0, 686.980, 92.65),
    ],  # Landsat, Mars Reconnaissance Orbiter
)
def test_j2_turns_sun_synchronous_orbits_once_a_year(planet, low_km, high_km, year_days, inclination_deg):
    a = planet.radius + 500.0 * (low_km + high_km)
    e = 500.0 * (high_km - low_km) / a
    rate = -1.5 * np.sqrt(planet.mu / a**3) * planet.zonals[2] * (planet.radius / (a * (1 - e * e))) ** 2
    turns = rate * np.cos(np.radians(inclination_deg)) * year_days * 86400 / (2 * np.pi)
    assert turns == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(("planet", "error"), [(EARTH, 40.0), (MARS, 160.0)], ids=lambda p: getattr(p, "name", ""))
@pytest.mark.parametrize("latitude", [0.0, 25.0, -45.0, 70.0, 90.0, -90.0])
@pytest.mark.parametrize("height", [0.0, 400e3])
def test_height_above_the_ellipsoid(planet, error, latitude, height):
    """Against the exact point at a geodetic latitude and height; the formula is of first order in the flattening."""
    phi, lam = np.radians(latitude), 0.7
    e2 = planet.flattening * (2 - planet.flattening)
    N = planet.radius / np.sqrt(1 - e2 * np.sin(phi) ** 2)
    across = (N + height) * np.cos(phi)
    r = np.array([across * np.cos(lam), across * np.sin(lam), (N * (1 - e2) + height) * np.sin(phi)])
    assert planet.height(r) == pytest.approx(height, abs=error)


def test_a_sphere_has_its_height_everywhere():
    r = 2e6 * np.array([0.6, 0.0, 0.8])
    assert MOON.height(r) == pytest.approx(2e6 - MOON.radius, rel=1e-15)


def test_planets_turn_eastward():
    for planet in EVERY:
        assert planet.spin_N() @ [0, 0, 1] == planet.spin > 0
        quarter = 0.5 * np.pi / planet.spin
        np.testing.assert_allclose(planet.fixed_axes(quarter) @ [0, 1, 0], [1, 0, 0], atol=1e-12)
