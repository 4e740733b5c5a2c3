"""TLE and OEM: what goes out comes back, and TEME is where astropy has it."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.environment import AttitudeEphemeris, Ephemeris, in_gcrf, read_oem, tle_ephemeris, write_oem
from gyrostat.environment.sky.earth import _iers

ONE = "1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991"
TWO = "2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482"
TIMES = np.datetime64("2019-12-09T16:38:29.363423999", "ns") + np.arange(200) * np.timedelta64(60_000_000_017, "ns")


@pytest.fixture(scope="module")
def station():
    return tle_ephemeris(ONE, TWO, TIMES, name="ISS")


def test_a_tle_written_as_oem_is_read_back_equal(station, tmp_path):
    write_oem(tmp_path / "iss.oem", station)
    again = read_oem(tmp_path / "iss.oem")
    assert (again.times == station.times).all() and (again.states == station.states).all()
    assert (again.name, again.id, again.frame, again.scale) == ("ISS", "1998-067A", "TEME", "UTC")


def test_states_are_those_of_sgp4(station):
    from sgp4.api import Satrec

    satellite = Satrec.twoline2rv(ONE, TWO)
    minutes = (TIMES - np.datetime64("2019-12-09", "ns")) / np.timedelta64(1, "ns") * 1e-9 / 60
    for k in (0, 71, 199):
        _, r, v = satellite.sgp4_tsince(minutes[k] - 0.69339541 * 1440.0)
        off = np.abs(station.states[k] - 1e3 * np.array([*r, *v]))
        assert off[:3].max() < 0.5 and off[3:].max() < 5e-4


def test_teme_is_turned_into_gcrf_as_by_astropy(station):
    from astropy import units as u
    from astropy.coordinates import GCRS, TEME, CartesianRepresentation
    from astropy.time import Time
    from astropy.utils import iers

    found = in_gcrf(station)
    time = Time(station.times, scale="utc")
    with iers.conf.set_temp("auto_download", False), iers.earth_orientation_table.set(_iers()[1]):
        there = TEME(CartesianRepresentation(station.states[:, :3].T * u.m), obstime=time)
        expected = there.transform_to(GCRS(obstime=time)).cartesian.xyz.to_value("m").T
    assert np.abs(found.states[:, :3] - expected).max() < 2.0  # 3e-7 rad: conventions of 1994 and 2006
    orbit = gs.Orbit.from_state(found.states[0, :3], found.states[0, 3:])
    assert abs(orbit.period / 60 - 1440 / 15.501) < 0.5


def test_bad_files_are_asked_about(station, tmp_path):
    with pytest.raises(ValueError, match="checksum"):
        tle_ephemeris(ONE[:-1] + "2", TWO, TIMES)
    with pytest.raises(ValueError, match="one object"):
        tle_ephemeris(ONE, "2 25545" + TWO[7:-1] + "3", TIMES)
    with pytest.raises(ValueError, match="do not grow"):
        Ephemeris(TIMES[::-1], station.states)
    with pytest.raises(ValueError, match="cannot be read"):
        read_oem(tmp_path / "missing.oem")
    write_oem(tmp_path / "iss.oem", station)
    text = (tmp_path / "iss.oem").read_text()
    (tmp_path / "bad.oem").write_text(text + "2019-12-10T00:00:00 1 2 x 4 5 6\n")
    with pytest.raises(ValueError, match=r"bad.oem:\d+: .* is no state"):
        read_oem(tmp_path / "bad.oem")
    (tmp_path / "bad.oem").write_text(text.replace("REF_FRAME", "FRAME"))
    with pytest.raises(ValueError, match="REF_FRAME is missing"):
        read_oem(tmp_path / "bad.oem")
    with pytest.raises(ValueError, match="expected TEME"):
        in_gcrf(Ephemeris(TIMES, station.states, frame="ITRF"))


def test_times_in_seconds_since_the_first(station):
    count = (TIMES - TIMES[0]).astype("timedelta64[ns]").astype(np.int64)
    np.testing.assert_allclose(station.seconds(), [int(n) / 10**9 for n in count], rtol=1e-15)
    assert station.seconds().dtype == float and station.seconds()[0] == 0.0


@pytest.mark.parametrize("given", [list, lambda t: t.astype("datetime64[s]"), lambda t: [str(one) for one in t]])
@pytest.mark.parametrize("of", [Ephemeris, AttitudeEphemeris])
def test_times_are_nanoseconds_however_they_are_given(of, given):
    """Of whole seconds, an orbit's and an attitude's: states half a second later can be put between them."""
    times = np.datetime64("2024-02-29T23:59:58", "ns") + np.arange(4) * np.timedelta64(1, "s")
    rows = np.arange(24.0).reshape(4, 6) if of is Ephemeris else np.tile([1.0, 0, 0, 0], (4, 1))
    found = of(given(times), rows)
    assert found.times.dtype == "datetime64[ns]" and (found.times == times).all()
    assert (found.times[1] - found.times[0]) / 2 == np.timedelta64(500, "ms")
