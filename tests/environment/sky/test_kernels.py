"""Sun and Moon from a kernel of SPICE, against SPICE itself."""

from __future__ import annotations

import numpy as np
import pytest

from gyrostat.environment import Sky

spice = pytest.importorskip("spiceypy")
DAY = 86400.0
EPOCH, DAYS = "2025-03-07T09:12:31.25", 30.0
CHAINS = {3: (0, 1.5e8, 365.25), 399: (3, 4.7e3, 27.3), 301: (3, 3.8e5, 27.3), 10: (0, 8e5, 4300.0)}  # centre, km, days


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Bodies on circles, as Chebyshev polynomials over intervals of 2 days."""
    path = tmp_path_factory.mktemp("kernels") / "circles.bsp"
    start, width, count, degree = 7.9e8, 2 * DAY, 60, 13  # s after J2000 (TDB): January to May 2025
    handle = spice.spkopn(str(path), "circles", 0)
    nodes = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
    for body, (centre, size, period) in CHAINS.items():
        records: list = []
        for k in range(count):
            t = start + width * (k + 0.5 + 0.5 * nodes)
            angle = 2 * np.pi * t / (period * DAY) + body
            xyz = size * np.array([np.cos(angle), np.sin(angle) * 0.9, np.sin(angle) * 0.4])
            records.append(np.polynomial.chebyshev.chebfit(nodes, xyz.T, degree).T)
        last = start + count * width
        spice.spkw02(
            handle, body, centre, "J2000", start, last, str(body), width, count, degree, np.ravel(records), start
        )
    spice.spkcls(handle)
    return path


def test_sun_and_moon_are_where_spice_has_them(kernel):
    sky = Sky(EPOCH, DAYS * DAY, ephemeris=kernel)
    times = np.sort(np.random.default_rng(1).uniform(0.0, DAYS * DAY, 1000))
    tdb = sky.time(times).tdb
    spice.furnsh(str(kernel))
    try:
        for name, number in (("sun", 10), ("moon", 301)):
            seconds = ((tdb.jd1 - 2451545.0) + tdb.jd2) * DAY
            expected = 1e3 * np.array([spice.spkgeo(number, s, "J2000", 399)[0][:3] for s in seconds])
            body = sky.body(name)
            off = np.linalg.norm(body.position(times) - expected, axis=1).max()
            assert off <= body.error + 1e-4 * (name == "moon") + 0.05 * (name == "sun")  # round-off of dates: 1e-6 s
            assert body.error <= (0.1 if name == "moon" else 10.0)
    finally:
        spice.kclear()


def test_an_epoch_outside_the_kernel_and_bodies_that_it_lacks_are_said(kernel):
    with pytest.raises(ValueError, match="knows moon from JD .* the run goes from"):
        Sky("2026-01-01", DAY, ephemeris=kernel).moon  # noqa: B018
    with pytest.raises(ValueError, match="does not say where mars is"):
        Sky(EPOCH, DAY, ephemeris=kernel).body("mars")
