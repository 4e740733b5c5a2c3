"""Sunlight: its pressure on plates and spheres, and the planet's shadow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import box
from gyrostat.environment import (
    EARTH,
    Orbit,
    Plate,
    Sphere,
    solar_pressure,
    sun,
)
from gyrostat.environment.ephemeris import ASTRONOMICAL_UNIT, Celestial
from gyrostat.environment.sunlight import PRESSURE, sunlit_fraction


def test_pressure_on_plates_and_spheres():
    """Black: along the light. Mirror: twice, along the normal. Edge-on, and from behind: nothing."""
    orbit = Orbit.circular(500e3)
    craft = box()
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    r = orbit.state(0.0).r
    s = np.array([0.6, 0.64, 0.48])
    source = Celestial("Sun", 1.3e20, 7e8, lambda t: r + ASTRONOMICAL_UNIT * s)

    def push(surface):
        return solar_pressure(orbit, [surface], source, eclipse=False).wrenches(craft, 0.0, q, v)[0, 3:]

    n = np.array([0.0, 0.0, 1.0])
    black, mirror = Plate("hull", 2.0, n, specular=0.0, diffuse=0.0), Plate("hull", 2.0, n, specular=1.0, diffuse=0.0)
    np.testing.assert_allclose(push(black), -PRESSURE * 2.0 * 0.48 * s, rtol=1e-9)
    np.testing.assert_allclose(push(mirror), -PRESSURE * 2.0 * 2 * 0.48**2 * n, rtol=1e-9, atol=1e-20)
    white = Plate("hull", 2.0, n, specular=0.0, diffuse=1.0)
    np.testing.assert_allclose(push(white), -PRESSURE * 2.0 * 0.48 * (s + 2 / 3 * n), rtol=1e-9)
    assert not push(Plate("hull", 2.0, -n)).any()
    np.testing.assert_allclose(push(replace(black, normal=-n, both_sides=True)), push(black), rtol=1e-12)
    np.testing.assert_allclose(push(Sphere("hull", 2.0, reflection=1.5)), -PRESSURE * 3.0 * s, rtol=1e-9)


@pytest.mark.parametrize("distance", [0.7233, 1.0, 1.5237, 5.2])
def test_sunlight_falls_with_the_square_of_the_distance(distance):
    """At Venus, Earth, Mars and Jupiter: the same power through every sphere about the Sun;
    the force acts at the surface's centre.
    """
    orbit, craft = Orbit.circular(500e3), box()
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    s, center = np.array([0.6, 0.64, 0.48]), np.array([0.3, -0.2, 0.5])
    source = Celestial("Sun", 1.3e20, 7e8, lambda t: orbit.state(0.0).r + distance * ASTRONOMICAL_UNIT * s)
    wrench = solar_pressure(orbit, [Sphere("hull", 2.0, center, reflection=1.0)], source, eclipse=False).wrenches(
        craft, 0.0, q, v
    )[0]
    power = 1361.0 / 299792458.0  # W/m^2 over the speed of light: the pressure at one astronomical unit
    np.testing.assert_allclose(wrench[3:], -2.0 * power / distance**2 * s, rtol=6e-3)
    np.testing.assert_allclose(wrench[3:], -2.0 * PRESSURE / distance**2 * s, rtol=1e-12)
    np.testing.assert_allclose(wrench[:3], np.cross(center, wrench[3:]), rtol=1e-12)


def test_shadow():
    """Full light, full shadow, and half of the disc where the Sun's centre sets; smooth and monotonic between."""
    sun_at = np.array([ASTRONOMICAL_UNIT, 0.0, 0.0])
    Re, Rs, R = EARTH.radius, 6.957e8, EARTH.radius + 500e3
    assert sunlit_fraction(np.array([R, 0, 0]), sun_at, Re, Rs) == 1.0
    assert sunlit_fraction(np.array([0, R, 0]), sun_at, Re, Rs) == 1.0
    assert sunlit_fraction(np.array([-R, 0, 0]), sun_at, Re, Rs) == 0.0
    edge = np.pi - np.arcsin(Re / R)
    angles = edge + np.linspace(-0.006, 0.006, 61)
    light = np.array([sunlit_fraction(R * np.array([np.cos(a), np.sin(a), 0.0]), sun_at, Re, Rs) for a in angles])
    assert light[0] == 1.0
    assert light[-1] == 0.0
    assert (np.diff(light) <= 1e-12).all()
    assert light[30] == pytest.approx(0.5, abs=0.03)
    assert np.abs(np.diff(light)).max() < 0.06


def test_share_of_an_orbit_in_shadow():
    """In a plane that holds the Sun: asin(R_e/R)/pi of the orbit, for a Sun so far that its rays are parallel."""
    orbit = Orbit.circular(500e3)
    far = np.array([1e14, 0.0, 0.0])
    times = np.linspace(0, orbit.period, 4001)[:-1]
    lit = np.mean([sunlit_fraction(orbit.state(t).r, far, EARTH.radius, 1.0e8) for t in times])
    assert 1 - lit == pytest.approx(np.arcsin(EARTH.radius / orbit.a) / np.pi, abs=1e-3)


def test_sunlight_needs_an_orbit():
    with pytest.raises(ValueError, match="solar pressure needs .* got 'low orbit'"):
        solar_pressure("low orbit", [], sun("2030-01-01"))


def test_a_moon_takes_its_part_of_the_light():
    """Far from the line to the Sun none; on it, the share of the Sun's disc that its own disc covers."""
    import gyrostat as gs
    from formation_crafts import box
    from gyrostat.environment import Celestial, PlanetCentered, Sphere, solar_pressure

    craft, r = box(), np.array([1.0e7, 2.0e6, -3.0e6])
    q = gs.neutral(craft)
    q[4:7] = r
    sun_N = np.array([1.4e11, 3.0e10, 2.0e10])
    light = Celestial("Sun", 1.3e20, 6.957e8, lambda t: sun_N)
    u = (sun_N - r) / np.linalg.norm(sun_N - r)
    side = np.cross(u, [0.0, 0.0, 1.0])

    def push(moon_N, radius):
        moon = None if moon_N is None else Celestial("Moon", 4.9e12, radius, lambda t: moon_N)
        environment = solar_pressure(PlanetCentered(), [Sphere("hull", 2.0)], light, moon=moon)
        return np.linalg.norm(environment.wrenches(craft, 0.0, q, np.zeros(6)))

    whole = push(None, 0.0)
    assert push(r + 3.8e8 * side, 1.7e6) == whole
    radius = 1.0e6  # apparent radii: 2.6 and 4.8 mrad, a ring of light
    share = (np.arcsin(radius / 3.8e8) / np.arcsin(6.957e8 / np.linalg.norm(sun_N - r))) ** 2
    np.testing.assert_allclose(push(r + 3.8e8 * u, radius), whole * (1.0 - share), rtol=1e-9)
    assert push(r + 3.8e8 * u, 3.0e6) == 0.0
