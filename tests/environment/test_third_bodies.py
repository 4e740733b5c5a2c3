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
    """Meeus, Astronomical Algorithms, example 25.a, and an equinox:
    within 0.15 degrees (precession since J2000 is left in).
    """
    p = sun(epoch).position(0.0)
    eps = np.radians(23.4393)
    x, y, z = p / np.linalg.norm(p)
    lam = np.degrees(np.arctan2(np.cos(eps) * y + np.sin(eps) * z, x))
    assert abs((lam - longitude + 180) % 360 - 180) < 0.15
    assert abs(np.degrees(np.arcsin(np.cos(eps) * z - np.sin(eps) * y)) - latitude) < 0.01
    assert np.linalg.norm(p) / ASTRONOMICAL_UNIT == pytest.approx(distance, abs=5e-4)


# Meeus, Astronomical Algorithms (2nd ed.), tables 47.A and 47.B, their largest terms: multiples of D, M, M', F, and
# amplitude in degrees or km
MOON_LONGITUDE = (
    (0, 0, 1, 0, 6.288774), (2, 0, -1, 0, 1.274027), (2, 0, 0, 0, 0.658314), (0, 0, 2, 0, 0.213618),
    (0, 1, 0, 0, -0.185116), (0, 0, 0, 2, -0.114332), (2, 0, -2, 0, 0.058793), (2, -1, -1, 0, 0.057066),
    (2, 0, 1, 0, 0.053322), (2, -1, 0, 0, 0.045758), (0, 1, -1, 0, -0.040923), (1, 0, 0, 0, -0.034720),
    (0, 1, 1, 0, -0.030383), (2, 0, 0, -2, 0.015327), (0, 0, 1, 2, -0.012528), (0, 0, 1, -2, 0.010980),
    (4, 0, -1, 0, 0.010675), (0, 0, 3, 0, 0.010034), (4, 0, -2, 0, 0.008548), (2, 1, -1, 0, -0.007888),
    (2, 1, 0, 0, -0.006766), (1, 0, -1, 0, -0.005163),
)  # fmt: skip
MOON_LATITUDE = (
    (0, 0, 0, 1, 5.128122), (0, 0, 1, 1, 0.280602), (0, 0, 1, -1, 0.277693), (2, 0, 0, -1, 0.173237),
    (2, 0, -1, 1, 0.055413), (2, 0, -1, -1, 0.046271), (2, 0, 0, 1, 0.032573), (0, 0, 2, 1, 0.017198),
    (2, 0, 1, -1, 0.009266), (0, 0, 2, -1, 0.008822), (2, -1, 0, -1, 0.008216), (2, 0, -2, -1, 0.004324),
    (2, 0, 1, 1, 0.004200), (2, 1, 0, -1, -0.003359), (2, -1, -1, 1, 0.002463), (2, -1, 0, 1, 0.002211),
    (2, -1, -1, -1, 0.002065), (0, 1, -1, -1, -0.001870), (4, 0, -1, -1, 0.001828), (0, 1, 0, 1, -0.001794),
    (0, 0, 0, 3, -0.001749), (0, 1, -1, 1, -0.001565), (1, 0, 0, 1, -0.001491), (0, 1, 1, 1, -0.001475),
    (0, 1, 1, -1, -0.001410), (0, 1, 0, -1, -0.001344), (1, 0, 0, -1, -0.001335), (0, 0, 3, 1, 0.001107),
    (4, 0, 0, -1, 0.001021),
)  # fmt: skip
MOON_DISTANCE = (
    (0, 0, 1, 0, -20905.355), (2, 0, -1, 0, -3699.111), (2, 0, 0, 0, -2955.968), (0, 0, 2, 0, -569.925),
    (0, 1, 0, 0, 48.888), (2, 0, -2, 0, 246.158), (2, -1, -1, 0, -152.138), (2, 0, 1, 0, -170.733),
    (2, -1, 0, 0, -204.586), (0, 1, -1, 0, -129.620), (1, 0, 0, 0, 108.743), (0, 1, 1, 0, 104.755),
)  # fmt: skip
DAYS = np.arange(-9000.0, 9000.0, 7.3)  # from J2000.0


def ecliptic(body, days):
    """Longitude, latitude (degrees) and distance (m) over days from J2000.0."""
    x, y, z = np.array([body.position(86400.0 * day) for day in days]).T
    eps, r = np.radians(23.43929111), np.sqrt(x * x + y * y + z * z)
    longitude = np.degrees(np.arctan2(np.cos(eps) * y + np.sin(eps) * z, x))
    return longitude, np.degrees(np.arcsin((np.cos(eps) * z - np.sin(eps) * y) / r)), r


def rms(x):
    return np.sqrt(np.mean(x * x))


def test_moon_for_fifty_years_against_another_series():
    """Ours leaves out small terms: what remains has the size of those,
    and a term lost or of the other sign would stand out.
    """
    T = DAYS / 36525.0
    D, M, m, F = (
        np.radians(angle + rate * T)
        for angle, rate in (
            (297.8501921, 445267.1114034),
            (357.5291092, 35999.0502909),
            (134.9633964, 477198.8675055),
            (93.2720950, 483202.0175233),
        )
    )

    def series(terms, wave):
        return sum(term[4] * wave(term[0] * D + term[1] * M + term[2] * m + term[3] * F) for term in terms)

    longitude, latitude, r = ecliptic(moon(2451545.0), DAYS)
    expected = 218.3164477 + (481267.88123421 - 1.39697) * T + series(MOON_LONGITUDE, np.sin)  # precession taken out
    off = 3600 * ((longitude - expected + 180) % 360 - 180)
    assert rms(off) < 70 and np.abs(off).max() < 250  # arcsec; the smallest term has 55
    off = 3600 * (latitude - series(MOON_LATITUDE, np.sin))
    assert rms(off) < 10.5 and np.abs(off).max() < 40  # the smallest term has 11
    off = 1e-3 * r - 385000.56 - series(MOON_DISTANCE, np.cos)
    assert rms(off) < 150 and np.abs(off).max() < 400  # km; the smallest term has 152


def test_sun_for_fifty_years_against_an_ellipse():
    """Meeus, chapter 25: equation of the centre, and the distance on the ellipse."""
    T = DAYS / 36525.0
    M = np.radians(357.52911 + 35999.05029 * T)
    center = (1.914602 - 0.004817 * T) * np.sin(M) + 0.019993 * np.sin(2 * M) + 0.000289 * np.sin(3 * M)
    e = 0.016708634 - 0.000042037 * T
    distance = 1.000001018 * (1 - e * e) / (1 + e * np.cos(M + np.radians(center)))
    longitude, latitude, r = ecliptic(sun(2451545.0), DAYS)
    off = 3600 * ((longitude - (280.46646 + (36000.76983 - 1.39697) * T + center) + 180) % 360 - 180)
    assert np.abs(off).max() < 15  # arcsec; the smaller term has 72
    assert np.abs(latitude).max() < 1e-12
    assert np.abs(r / ASTRONOMICAL_UNIT - distance).max() < 4e-5  # the smaller term has 1.4e-4


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
