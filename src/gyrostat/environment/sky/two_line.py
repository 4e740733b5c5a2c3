"""Two-line elements, by sgp4."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .libraries import library
from .orbit_files import Ephemeris

DAY = 86_400_000_000_000  # ns


def tle_ephemeris(line_1: str, line_2: str, times: Any, *, name: str = "UNKNOWN") -> Ephemeris:
    """States in TEME at `times` (n,), datetime64 in UTC; `in_gcrf` gives them in the axes of `Sky`.

    SGP4 is some kilometres off, more with every day from the elements' epoch.

    Raises ValueError for lines that are no element set, and where SGP4 fails.
    """
    api = library("sgp4.api", "a TLE")
    for k, line in enumerate((line_1.rstrip(), line_2.rstrip()), 1):
        found = sum(int(c) if c.isdigit() else c == "-" for c in line[:68]) % 10
        if len(line) != 69 or not line.startswith(f"{k} ") or str(found) != line[68]:
            raise ValueError(
                f"TLE: line {k} is '{line[:75]}'; expected 69 characters that begin with '{k} ' and end with their "
                f"checksum ({found})."
            )
    if line_1[2:7] != line_2[2:7]:
        raise ValueError(f"TLE: line 1 is of object {line_1[2:7]}, line 2 of {line_2[2:7]}; expected one object.")
    satellite = api.Satrec.twoline2rv(line_1.rstrip(), line_2.rstrip())
    at = np.atleast_1d(np.asarray(times, dtype="datetime64[ns]"))
    since = at.astype(np.int64)
    error, r, v = satellite.sgp4_array(2440587.5 + since // DAY, (since % DAY) / DAY)
    if error.any():
        k = int(np.flatnonzero(error)[0])
        raise ValueError(f"TLE: SGP4 fails at {at[k]}: {api.SGP4_ERRORS[int(error[k])]}.")
    launch = line_1[9:17].strip()
    century = "19" if launch[:2] >= "57" else "20"
    known = f"{century}{launch[:2]}-{launch[2:]}" if launch else line_1[2:7].strip()
    return Ephemeris(at, 1e3 * np.hstack([r, v]), name=name, id=known, frame="TEME")


def in_gcrf(ephemeris: Ephemeris) -> Ephemeris:
    """From TEME: by the equation of the equinoxes (1994) to the true equinox, by IAU 2006/2000A to GCRF. The axes of
    TEME turn by 1e-11 rad/s, which velocities leave out (0.1 mm/s). From EME2000: by the frame bias of IAU 2006.
    Those of ICRF are the same.

    Raises ValueError unless states are in one of these, TEME in UTC.
    """
    if ephemeris.frame in ("GCRF", "ICRF"):
        return replace(ephemeris, frame="GCRF")
    if ephemeris.frame == "EME2000":
        bias = library("erfa", "EME2000").bp06(2451545.0, 0.0)[0]
        turned = [ephemeris.states[:, k : k + 3] @ bias for k in (0, 3)]
        return replace(ephemeris, states=np.hstack(turned), frame="GCRF")
    if ephemeris.frame != "TEME" or ephemeris.scale != "UTC":
        raise ValueError(f"in_gcrf: states are in {ephemeris.frame}, {ephemeris.scale}; expected TEME and UTC.")
    erfa, time = library("erfa", "TEME"), library("astropy.time", "TEME")
    tt = time.Time(ephemeris.times, scale="utc").tt
    ee = erfa.eqeq94(tt.jd1, tt.jd2)
    c, s, zero = np.cos(ee), np.sin(ee), 0.0 * ee
    turn = np.stack([c, -s, zero, s, c, zero, zero, zero, zero + 1.0], axis=-1).reshape(-1, 3, 3)
    R = np.swapaxes(erfa.pnm06a(tt.jd1, tt.jd2), 1, 2) @ turn
    parts = [np.einsum("nij,nj->ni", R, ephemeris.states[:, k : k + 3]) for k in (0, 3)]
    return replace(ephemeris, states=np.hstack(parts), frame="GCRF")
