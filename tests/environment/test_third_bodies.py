"""Third bodies: a tide to fifty digits, and where Sun and Moon are."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from exact import exact, mp
from formation_crafts import box
from gyrostat.environment import (
    Orbit,
    moon,
    sun,
    third_body_gravity,
)
from gyrostat.environment.ephemeris import ASTRONOMICAL_UNIT, Celestial, centuries


def test_third_body_is_a_tide():
    """The difference of two pulls, to fifty digits, though the Sun's is a million times larger."""
    far = Celestial("Sun", 1.3e20, 7e8, lambda t: np.array([1.4e11, 3e10, 2e10]))
    craft = box()
    q = gs.neutral(craft)
    q[4:7] = [3.0, -4.0, 5.0]
    orbit = Orbit.circular(500e3, 0.9)
    found = third_body_gravity(orbit, far).wrenches(craft, 100.0, q, np.zeros(6))[0, 3:] / 10.0
    d, r = exact(far.position(0)), exact(orbit.state(100.0).r + q[4:7])

    def g(x):
        return mp.mpf(1.3e20) * x / mp.sqrt(x @ x) ** 3

    np.testing.assert_allclose(found, (g(d - r) - g(d)).astype(float), rtol=1e-12)


@pytest.mark.parametrize(
    ("epoch", "longitude", "latitude", "distance"),
    [("1992-10-13T00:00", 199.907, 0.0, 0.99766), ("2000-03-20T07:35", 0.0, 0.0, 0.99599)],
)
def test_sun(epoch, longitude, latitude, distance):
    """Meeus, Astronomical Algorithms, example 25.a, and an equinox: within 0.15 degrees (precession since J2000 is left in)."""
    p = sun(epoch).position(0.0)
    eps = np.radians(23.4393)
    x, y, z = p / np.linalg.norm(p)
    lam = np.degrees(np.arctan2(np.cos(eps) * y + np.sin(eps) * z, x))
    assert abs((lam - longitude + 180) % 360 - 180) < 0.15
    assert abs(np.degrees(np.arcsin(np.cos(eps) * z - np.sin(eps) * y)) - latitude) < 0.01
    assert np.linalg.norm(p) / ASTRONOMICAL_UNIT == pytest.approx(distance, abs=5e-4)


def test_moon():
    """Meeus, example 47.a, 1992 April 12.0: 133.16 degrees, -3.23 degrees, 368410 km."""
    p = moon("1992-04-12").position(0.0)
    eps = np.radians(23.4393)
    x, y, z = p / np.linalg.norm(p)
    assert np.degrees(np.arctan2(np.cos(eps) * y + np.sin(eps) * z, x)) == pytest.approx(133.16, abs=0.3)
    assert np.degrees(np.arcsin(np.cos(eps) * z - np.sin(eps) * y)) == pytest.approx(-3.23, abs=0.1)
    assert np.linalg.norm(p) == pytest.approx(368410e3, rel=1e-3)
    month = np.linalg.norm(moon("1992-04-12").position(27.32 * 86400.0) - p) / np.linalg.norm(p)
    assert month < 0.15


def test_epochs():
    assert centuries("2000-01-01T12:00") == 0.0
    assert centuries(2451545.0 + 36525) == 1.0
    with pytest.raises(ValueError, match="expected a date, or a Julian date"):
        centuries(59000.0)


def test_third_bodies_need_an_orbit():
    with pytest.raises(ValueError, match="the gravity of Moon needs"):
        third_body_gravity(None, moon("2030-01-01"))
