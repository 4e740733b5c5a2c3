"""How Earth is turned: from GCRF to ITRF by the IAU 2006/2000A precession and nutation, Earth rotation, polar motion.

    R_FN = W(x_p, y_p) R_3(ERA(UT1)) Q(X, Y, s)                                        IERS Conventions (2010), 5.4.1

Slow parts (X, Y, s, polar motion, UT1 - TAI) are tabulated day by day; the rotation itself is computed in the loop.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ...algebra import Array, cos, sin, sqrt
from ...tracing.tables import Pieces
from .fitting import aligned
from .instants import after
from .libraries import library

DAY = 86400.0
RATE = 2.0 * np.pi * 1.00273781191135448 / DAY  # of the Earth rotation angle by UT1, rad/s


@dataclass(frozen=True, eq=False)
class EarthOrientation:
    """axes(t): R_FN (3, 3) from GCRF to ITRF; spin(t): angular velocity (3,) in N, about the celestial pole.

    slow: X, Y, s, x_p, y_p in rad, UT1 - TAI in s. angle: Earth rotation angle at t = 0 if UT1 were TAI. error: of the
    tables, in rad. ut1: where UT1 comes from.
    """

    slow: Pieces
    angle: float
    span: tuple[float, float]
    error: float
    ut1: str

    def axes(self, t: Any) -> Array:
        X, Y, s, xp, yp, behind = self.slow(t)
        a = 1.0 / (1.0 + sqrt(1.0 - X * X - Y * Y))
        Q = np.array([
            [1.0 - a * X * X, -a * X * Y, -X],
            [-a * X * Y, 1.0 - a * Y * Y, -Y],
            [X, Y, 1.0 - a * (X * X + Y * Y)],
        ])  # fmt: skip
        turn = _about(2, self.angle + RATE * (t + behind) - s)
        return _about(0, -yp) @ _about(1, -xp) @ turn @ Q

    def spin(self, t: Any) -> Array:
        X, Y, *_ = self.slow(t)
        return RATE * np.array([X, Y, sqrt(1.0 - X * X - Y * Y)])


def earth_orientation(epoch: Any, start: float, end: float, ut1: Any = "iers") -> EarthOrientation:
    """Tables from start to end, seconds after the epoch (an astropy Time).

    ut1: "iers", the values and predictions that astropy-iers-data brought along, as astropy interpolates them; "utc",
    UT1 = UTC and no polar motion (wrong by 0.9 s at most: 7e-5 rad); or UT1 - UTC in s. Nothing is fetched. The pole
    is that of the model (dX = dY = 0, as in astropy: some 1e-9 rad).
    """
    erfa = library("erfa", "Earth's orientation")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        midnight = (np.floor(after(epoch, start).utc.mjd) - epoch.utc.mjd) * DAY
        count = max(1, int(np.ceil((end - midnight) / DAY)))

        def slow(t: Array) -> Array:
            time = after(epoch, t)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                X, Y, s = erfa.xys06a(time.tt.jd1, time.tt.jd2)
                xp, yp, behind = _rotation_data(time, ut1)
                s_prime = erfa.sp00(time.tt.jd1, time.tt.jd2)
            return np.stack([X, Y, s - s_prime, xp, yp, behind], axis=-1)  # s' turns about nearly the same axis

        table = aligned(slow, midnight, DAY, count, 8)
        tai = epoch.tai
        angle = float(erfa.era00(tai.jd1, tai.jd2))
    source = {"iers": "IERS, as interpolated by astropy", "utc": "UTC"}.get(ut1, f"UTC + {ut1} s")
    return EarthOrientation(table.pieces, angle, (start, end), table.error, source)


def _rotation_data(time: Any, ut1: Any) -> tuple[Any, Any, Any]:
    """Polar motion x_p, y_p in rad and UT1 - TAI in s."""
    utc = time.utc
    utc_less_tai = ((utc.jd1 - time.jd1) + (utc.jd2 - time.jd2)) * DAY
    utc_less_tai = np.round(utc_less_tai)  # whole leap seconds
    if ut1 != "iers":
        given = 0.0 if ut1 == "utc" else float(ut1)
        if abs(given) > 0.9:
            raise ValueError(f"sky: UT1 - UTC is {given} s; leap seconds keep it within 0.9 s.")
        return 0.0 * utc_less_tai, 0.0 * utc_less_tai, given + utc_less_tai
    iers, table = _iers()
    try:
        difference = table.ut1_utc(utc.jd1, utc.jd2).to_value("s")
        xp, yp = (p.to_value("rad") for p in table.pm_xy(utc.jd1, utc.jd2))
    except (iers.IERSRangeError, IndexError):
        difference = xp = yp = np.array(np.nan)
    if not np.isfinite(difference + xp + yp).all():
        days = table["MJD"].value
        raise ValueError(
            f"sky: MJD {utc.mjd.min():.1f} to {utc.mjd.max():.1f} leaves the Earth rotation data that are installed "
            f"({days.min():.0f} to {days.max():.0f}). Update astropy-iers-data, or say ut1='utc' (UT1 = UTC, 7e-5 "
            "rad at most)."
        )
    return xp, yp, difference + utc_less_tai


@cache
def _iers() -> tuple[Any, Any]:
    iers = library("astropy.utils.iers", "Earth's orientation")
    with iers.conf.set_temp("auto_download", False):
        return iers, iers.IERS_A.open(iers.IERS_A_FILE)


def _about(axis: int, angle: Any) -> Array:
    """Components in axes that are turned by `angle` about one of them."""
    c, s = cos(angle), sin(angle)
    R: Any = np.zeros((3, 3), dtype=object if not isinstance(c, float) else float)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R[axis, axis], R[j, j], R[k, k], R[j, k], R[k, j] = 1.0, c, c, s, -s
    return np.array(R)
