"""Light of the planet on surfaces: closed forms, and sums over the planet's ground."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import box
from gyrostat.algebra import quat_from_rotation, rotation
from gyrostat.environment import EARTH, Orbit, Plate, Sphere, knocke_albedo, knocke_emission, planet_light
from gyrostat.environment.ephemeris import ASTRONOMICAL_UNIT, Celestial
from gyrostat.environment.sunlight import PRESSURE

ORBIT = Orbit.from_elements(7.2e6, 0.02, 1.1, 0.4, 2.0, 1.0)
SUN_N = ASTRONOMICAL_UNIT * np.array([0.6, 0.64, 0.48])
SUN = Celestial("Sun", 1.3e20, 6.957e8, lambda t: SUN_N)
CRAFT = box()
R0 = ORBIT.state(0.0).r


def force(surface, R=None, orbit=ORBIT, **options):
    R = np.eye(3) if R is None else R
    q = gs.neutral(CRAFT)
    q[:4] = quat_from_rotation(R)
    return R @ planet_light(orbit, [surface], SUN, **options).wrenches(CRAFT, 0.0, q, np.zeros(6))[0, 3:]


def by_ground(albedo, emission, plate=None, count=500):
    """The same as a sum over the ground's surface elements: dP = M dA cos(there) / (pi d^2), Lambert's law."""
    z = (np.arange(count) + 0.5) / count * 2 - 1
    phi = (np.arange(2 * count) + 0.5) / count * np.pi
    z, phi = (x.ravel() for x in np.meshgrid(z, phi, indexing="ij"))
    g = np.stack([np.sqrt(1 - z * z) * np.cos(phi), np.sqrt(1 - z * z) * np.sin(phi), z], axis=1)
    dA = 4 * np.pi * EARTH.radius**2 / len(z)
    to = R0 - EARTH.radius * g
    d = np.linalg.norm(to, axis=1)
    cosine = np.maximum((g * to).sum(1) / d, 0.0)
    s = SUN_N / ASTRONOMICAL_UNIT
    M = PRESSURE * (albedo(z) * np.maximum(g @ s, 0.0) + 0.25 * emission(z))
    P = M * dA * cosine / (np.pi * d * d)
    u = -to / d[:, None]
    if plate is None:
        return -(P[:, None] * u).sum(0)
    facing = np.maximum(u @ plate, 0.0)
    return -(P[:, None] * facing[:, None] * u).sum(0)


def test_even_heat_falls_with_the_square_of_the_distance():
    """On a black sphere P/4 (R_e/r)^2, away from the planet; a nadir plate takes up the same, exactly."""
    up, distance = R0 / np.linalg.norm(R0), np.linalg.norm(R0)
    scale = (ASTRONOMICAL_UNIT / np.linalg.norm(SUN_N - R0)) ** 2
    whole = PRESSURE * scale * 0.25 * (EARTH.radius / distance) ** 2
    found = force(Sphere("hull", 2.0, reflection=1.0), albedo=0.0, emission=1.0)
    np.testing.assert_allclose(found, 2.0 * whole * up, atol=1e-13 * whole)
    # absorbed: P/pi int c^2 dO = 2/3 (1 - least^3) P/4 for a plate towards the nadir
    least = np.sqrt(1 - (EARTH.radius / distance) ** 2)
    black = Plate("hull", 2.0, -up, specular=0.0, diffuse=0.0)
    expected = 2.0 * PRESSURE * scale * 0.25 * 2 / 3 * (1 - least**3)
    np.testing.assert_allclose(force(black, albedo=0.0, emission=1.0), expected * up, atol=1e-13 * whole)
    assert np.linalg.norm(force(Plate("hull", 2.0, up), albedo=0.0, emission=1.0)) == 0.0


def test_day_and_night_against_a_sum_over_the_ground():
    found = force(Sphere("hull", 1.0, reflection=1.0), rings=12, around=48)
    expected = by_ground(knocke_albedo, knocke_emission)
    np.testing.assert_allclose(found, expected, atol=2e-3 * np.linalg.norm(expected))
    coarse = force(Sphere("hull", 1.0, reflection=1.0))
    assert np.linalg.norm(coarse - expected) < 0.03 * np.linalg.norm(expected)
    normal = rotation(np.array([0.3, -0.5, 0.6, 0.2])) @ np.array([0.0, 0.6, 0.8])
    tilted = force(Plate("hull", 1.0, normal, specular=0.0, diffuse=0.0), rings=12, around=48)
    expected = by_ground(knocke_albedo, knocke_emission, normal)
    np.testing.assert_allclose(tilted, expected, atol=5e-3 * np.linalg.norm(expected))
    assert np.linalg.norm(expected) > 1e-7


def test_it_does_not_matter_how_the_body_is_turned():
    R = rotation(np.array([0.5, 0.4, -0.3, 0.2]))
    plate = Plate("hull", 1.3, R.T @ -R0, (0.2, -0.1, 0.4), specular=0.3, diffuse=0.2)
    straight = Plate("hull", 1.3, -R0, (0.2, -0.1, 0.4), specular=0.3, diffuse=0.2)
    np.testing.assert_allclose(force(plate, R), force(straight), rtol=1e-12)


def test_compiled_it_is_what_it_is_in_numpy_over_the_pole_too():
    for orbit in (ORBIT, Orbit.from_elements(7.2e6, 0.0, np.pi / 2, 0.4, 0.0, 1.5)):
        light = planet_light(orbit, [Sphere("hull", 2.0), Plate("hull", 0.4, (0.1, -0.7, 0.3))], SUN)
        q, v = gs.neutral(CRAFT), np.zeros(6)
        kernel = gs.compile(lambda craft, t, q, v, light=light: light.wrenches(craft, t, q, v), CRAFT)
        expected = light.wrenches(CRAFT, 50.0, q, v)
        np.testing.assert_allclose(kernel(50.0, q, v), expected, rtol=1e-11, atol=1e-22)


def test_what_cannot_be_is_said():
    with pytest.raises(ValueError, match="albedo is 1.2"):
        planet_light(ORBIT, [], SUN, albedo=1.2)
    with pytest.raises(ValueError, match="rings is 0"):
        planet_light(ORBIT, [], SUN, rings=0)
