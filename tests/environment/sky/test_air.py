"""The density of NRLMSIS as a table, against pymsis."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import box
from gyrostat.environment import EARTH, NRLMSIS, Orbit, Sky, Sphere, air_drag
from gyrostat.environment.sky.air import geodetic

SKY = Sky("2025-03-07T09:12:31", 1.5 * 86400.0)
INDICES = {"f107": 150.0, "f107a": 148.0, "ap": 9.0}


@pytest.fixture(scope="module")
def air():
    return NRLMSIS(SKY, heights=(300e3, 480e3), **INDICES)


def places(n, seed=5):
    rng = np.random.default_rng(seed)
    r = rng.normal(size=(n, 3))
    r *= (EARTH.radius + rng.uniform(320e3, 455e3, n))[:, None] / np.linalg.norm(r, axis=1)[:, None]
    return rng.uniform(0.0, 1.5 * 86400.0, n), r


def test_geodetic_coordinates_are_those_of_erfa():
    import erfa

    planet = dataclasses.replace(EARTH, radius=6378137.0)
    for r in places(20)[1]:
        longitude, latitude, height = erfa.gc2gd(1, r)
        found = geodetic(planet, r)
        assert abs(found[0] - latitude) < 1e-9 and abs(found[1] - longitude) < 1e-12 and abs(found[2] - height) < 0.01


def test_the_density_is_that_of_pymsis_within_the_stated_error(air):
    """Asked anew, with dates, longitudes and heights by astropy and ERFA."""
    import erfa
    import pymsis

    t, r_N = places(300)
    off = []
    for time, r in zip(t, r_N, strict=True):
        longitude, latitude, height = erfa.gc2gd(1, SKY.earth.fixed_axes(time) @ r)
        date = np.datetime64(SKY.time(time).utc.to_datetime(), "ms")
        where = (np.degrees(longitude), np.degrees(latitude), height / 1e3)
        expected = pymsis.calculate(date, *where, 150.0, 148.0, np.full((1, 7), 9.0)).ravel()[0]
        off.append(air(SKY.earth, time, r) / expected - 1.0)
    assert np.abs(off).max() <= air.error < 0.03
    assert np.std(off) < 0.25 * air.error


def test_compiled_it_is_what_it_is_in_numpy_and_drags(air):
    craft, orbit = box(), Orbit.circular(400e3, 0.9, planet=SKY.earth)
    drag = air_drag(orbit, [Sphere("hull", 2.0)], air)
    q, v = gs.neutral(craft), np.zeros(6)
    expected = drag.wrenches(craft, 5000.0, q, v)
    kernel = gs.compile(lambda craft, t, q, v: drag.wrenches(craft, t, q, v), craft)
    np.testing.assert_allclose(kernel(5000.0, q, v), expected, rtol=1e-10, atol=1e-20)
    at = orbit.state(5000.0)
    speed = at.v - np.cross(SKY.earth.spin_N(5000.0), at.r)
    rho = air(SKY.earth, 5000.0, at.r)
    np.testing.assert_allclose(expected[0, 3:], -0.5 * rho * 2.2 * 2.0 * np.linalg.norm(speed) * speed, rtol=1e-9)


def test_beyond_its_heights_it_is_held_and_what_cannot_be_is_said(air):
    assert air.at(0.0, 0.3, 0.4, 100e3) == air.at(0.0, 0.3, 0.4, 300e3) > air.at(0.0, 0.3, 0.4, 310e3)
    craft = box()
    drag = air_drag(Orbit.circular(400e3, planet=SKY.earth), [Sphere("hull", 2.0)], air)
    with pytest.raises(ValueError, match="its tables .* are known from"):
        gs.simulate(craft, None, None, (0.0, 2 * 86400.0), environment=drag)
    with pytest.raises(ValueError, match="heights are"):
        NRLMSIS(SKY, heights=(400.0, 500.0), **INDICES)
    with pytest.raises(ValueError, match="indices as they are published"):
        NRLMSIS(SKY, f107=-1.0, f107a=148.0, ap=9.0)
    with pytest.raises(ValueError, match="12.0 days long, its table holds for 10"):
        NRLMSIS(Sky("2025-03-07", 12 * 86400.0), **INDICES)
