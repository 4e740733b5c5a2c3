"""Earth's orientation, Sun, Moon and magnetic field against the libraries that they come from."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.environment import EARTH, Sky
from gyrostat.environment.sky.earth import _iers

DAYS = 30 * 86400.0
RNG = np.random.default_rng(20260601)
TIMES = np.sort(RNG.uniform(0.0, DAYS, 1000))


@pytest.fixture(scope="module")
def sky():
    return Sky("2025-03-07T09:12:31.25", DAYS)


def test_earth_is_turned_as_astropy_turns_it(sky):
    """1000 random epochs, each element of GCRF to ITRF."""
    from astropy.coordinates.builtin_frames.intermediate_rotation_transforms import (
        cirs_to_itrs_mat,
        gcrs_to_cirs_mat,
    )
    from astropy.utils import iers

    with iers.conf.set_temp("auto_download", False), iers.earth_orientation_table.set(_iers()[1]):
        time = sky.time(TIMES)
        expected = cirs_to_itrs_mat(time) @ gcrs_to_cirs_mat(time)
    found = np.array([sky.earth.fixed_axes(t) for t in TIMES])
    assert np.abs(found - expected).max() < 1e-9
    assert sky.orientation.error < 1e-10


def test_the_spin_is_the_rate_of_the_axes(sky):
    t, h = 1.2e6, 10.0
    R0, R1, R = (sky.earth.fixed_axes(t + d) for d in (-h, h, 0.0))
    rate = R.T @ (R1 - R0) / (2 * h)  # -[w x] in N
    w = np.array([rate[1, 2], rate[2, 0], rate[0, 1]])
    np.testing.assert_allclose(w, sky.earth.spin_N(t), atol=3e-11)  # precession is left out; h^2 w^3/6: 3e-12


@pytest.mark.parametrize(("name", "largest"), [("sun", 10.0), ("moon", 0.1), ("mars", 10.0)])
def test_tables_are_within_their_stated_error(sky, name, largest):
    from astropy.coordinates import get_body_barycentric

    body = sky.body(name)
    assert body.error <= largest
    time = sky.time(TIMES)
    expected = (get_body_barycentric(name, time) - get_body_barycentric("earth", time)).xyz.to_value("m").T
    found = body.position(TIMES)
    assert np.linalg.norm(found - expected, axis=1).max() <= body.error


def test_light_series_are_as_good_as_they_say(sky):
    """The default without astropy: 0.1 degrees for the Sun (equinox of date apart), 0.3 for the Moon."""
    from gyrostat.environment import moon, sun

    for light, real, most in ((sun, sky.sun, 0.1), (moon, sky.moon, 0.3)):
        a, b = light("2025-03-07T09:12:31.25").position(1e6), real.position(1e6)
        assert np.degrees(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))) < most


def test_the_field_is_that_of_ppigrf(sky):
    import ppigrf

    for t in TIMES[::250]:
        r_F = RNG.normal(size=3)
        r_F *= 6.9e6 / np.linalg.norm(r_F)
        r, theta, phi = 6.9e3, np.arccos(r_F[2] / 6.9e6), np.arctan2(r_F[1], r_F[0])
        date = sky.time(t).utc.to_datetime()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Br, Bt, Bp = (float(np.squeeze(b)) for b in ppigrf.igrf_gc(r, np.degrees(theta), np.degrees(phi), date))
        up = r_F / 6.9e6
        south = np.array([np.cos(theta) * np.cos(phi), np.cos(theta) * np.sin(phi), -np.sin(theta)])
        expected = 1e-9 * (Br * up + Bt * south + Bp * np.cross(up, south))
        R_FN = sky.earth.fixed_axes(t)
        found = R_FN @ sky.magnetic_field(t, R_FN.T @ r_F)
        assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()


def test_compiled_tables_are_those_of_numpy(sky):
    from formation_crafts import box

    def look(craft, t, q):
        return sky.moon.position(t), sky.earth.fixed_axes(t), sky.magnetic_field(t, q[4:7])

    craft = box()
    q = gs.neutral(craft)
    q[4:7] = [4e6, -3e6, 5e6]
    kernel = gs.compile(look, craft)
    for t in (0.0, 1.234e6, DAYS):
        for found, expected in zip(kernel(t, q), look(craft, t, q), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12 * np.abs(expected).max())


def test_what_is_not_known_is_said(tmp_path):
    with pytest.raises(ValueError, match="Update astropy-iers-data, or say ut1='utc'"):
        Sky("2045-01-01", 86400.0).earth  # noqa: B018
    assert Sky("2045-01-01", 86400.0, ut1="utc").earth.fixed_axes(0.0).shape == (3, 3)
    with pytest.raises(ValueError, match="IGRF knows 1900 to 2030"):
        Sky("2045-01-01", 86400.0, ut1="utc").magnetic_field  # noqa: B018
    with pytest.raises(ValueError, match="no ephemeris file"):
        Sky("2025-01-01", 86400.0, ephemeris=tmp_path / "de440.bsp").moon  # noqa: B018
    (tmp_path / "bad.bsp").write_bytes(b"nothing" * 1000)
    with pytest.raises(ValueError, match="no ephemeris of JPL"):
        Sky("2025-01-01", 86400.0, ephemeris=tmp_path / "bad.bsp").moon  # noqa: B018
    with pytest.raises(ValueError, match="is no date"):
        Sky("tomorrow", 86400.0)
    with pytest.raises(ValueError, match="expected one of sun, moon"):
        Sky("2025-01-01", 86400.0).body("pluto")
    assert EARTH.span is None
