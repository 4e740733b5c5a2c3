"""Where Sun and Moon are, seen from Earth: short series, good to some 0.01 degrees (Sun) and 0.1 degrees (Moon)
for decades about 2000.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from math import radians
from typing import Any

import numpy as np

from ..algebra import Array, cos, sin

ASTRONOMICAL_UNIT = 149_597_870_700.0  # m
OBLIQUITY = radians(23.43929111)
DAY = 86400.0


@dataclass(frozen=True, eq=False)
class Celestial:
    """A body that pulls or shines from afar. position(t) (3,): from the planet's centre, in N, in m;
    t seconds after the epoch. span: times between which it is known, None for all; error: of the table, in m.
    """

    name: str
    mu: float
    radius: float
    position: Callable[[Any], Array]
    span: tuple[float, float] | None = None
    error: float | None = None


def centuries(epoch: Any) -> float:
    """Julian centuries from J2000.0 to an epoch: a datetime, an ISO string ("2030-01-01T12:00"), or a Julian date."""
    if isinstance(epoch, str):
        epoch = datetime.fromisoformat(epoch)
    if isinstance(epoch, datetime):
        epoch = epoch.replace(tzinfo=epoch.tzinfo or UTC)
        days = (epoch - datetime(2000, 1, 1, 12, tzinfo=UTC)).total_seconds() / DAY
    else:
        days = float(epoch) - 2451545.0
        if abs(days) > 365250:
            raise ValueError(f"epoch {epoch!r}: expected a date, or a Julian date near 2451545 (the year 2000).")
    return days / 36525.0


def sun(epoch: Any) -> Celestial:
    """The Sun as seen from Earth, t = 0 at `epoch`. Montenbruck & Gill, Satellite Orbits (2000), 3.3.2.

    Their perihelion stands still among the stars; here it advances by 0.3225 degrees per century (Meeus, chapter 25).
    """
    T0 = centuries(epoch)

    def position(t: Any) -> Array:
        T = T0 + t / (DAY * 36525.0)
        M = radians(357.5256) + radians(35999.049) * T
        perihelion = radians(282.9400) + radians(0.3225) * T
        longitude = perihelion + M + radians(6892 / 3600) * sin(M) + radians(72 / 3600) * sin(2.0 * M)
        distance = 1e9 * (149.619 - 2.499 * cos(M) - 0.021 * cos(2.0 * M))
        return _equatorial(longitude, 0.0, distance)

    return Celestial("Sun", 1.32712440018e20, 6.957e8, position)


# arguments (l, l', F, D), and amplitudes: longitude in arcsec, latitude terms below, distance in km
_LONGITUDE = (
    (1, 0, 0, 0, 22640), (2, 0, 0, 0, 769), (1, 0, 0, -2, -4586), (0, 0, 0, 2, 2370), (0, 1, 0, 0, -668),
    (0, 0, 2, 0, -412), (2, 0, 0, -2, -212), (1, 1, 0, -2, -206), (1, 0, 0, 2, 192), (0, 1, 0, -2, -165),
    (1, -1, 0, 0, 148), (0, 0, 0, 1, -125), (1, 1, 0, 0, -110), (0, 0, 2, -2, -55),
)  # fmt: skip
_DISTANCE = (
    (1, 0, 0, 0, -20905), (1, 0, 0, -2, -3699), (0, 0, 0, 2, -2956), (2, 0, 0, 0, -570), (2, 0, 0, -2, 246),
    (0, 1, 0, -2, -205), (1, 0, 0, 2, -171), (1, 1, 0, -2, -152),
)  # fmt: skip


def moon(epoch: Any) -> Celestial:
    """The Moon as seen from Earth, t = 0 at `epoch`. Montenbruck & Gill, Satellite Orbits (2000), 3.3.2."""
    T0 = centuries(epoch)

    def position(t: Any) -> Array:
        T = T0 + t / (DAY * 36525.0)
        mean = radians(218.31617) + radians(481267.88088) * T - radians(1.3972) * T
        l = radians(134.96292) + radians(477198.86753) * T
        lp = radians(357.52543) + radians(35999.04944) * T
        F = radians(93.27283) + radians(483202.01873) * T
        D = radians(297.85027) + radians(445267.11135) * T

        def angle(term: tuple[int, ...]) -> Any:
            return term[0] * l + term[1] * lp + term[2] * F + term[3] * D

        arcsec = radians(1 / 3600)
        shift = sum(term[4] * sin(angle(term)) for term in _LONGITUDE)
        latitude = arcsec * (
            18520 * sin(F + arcsec * (shift + 412 * sin(2.0 * F) + 541 * sin(lp)))
            - 526 * sin(F - 2.0 * D)
            + 44 * sin(l + F - 2.0 * D)
            - 31 * sin(-l + F - 2.0 * D)
            - 25 * sin(-2.0 * l + F)
            - 23 * sin(lp + F - 2.0 * D)
            + 21 * sin(-l + F)
            + 11 * sin(-lp + F - 2.0 * D)
        )
        distance = 1e3 * (385000 + sum(term[4] * cos(angle(term)) for term in _DISTANCE))
        return _equatorial(mean + arcsec * shift, latitude, distance)

    return Celestial("Moon", 4.9028e12, 1.7374e6, position)


def _equatorial(longitude: Any, latitude: Any, distance: Any) -> Array:
    """From ecliptic longitude and latitude to the equator's axes."""
    c, s = np.cos(OBLIQUITY), np.sin(OBLIQUITY)
    x, y, z = cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude)
    return distance * np.array([x, c * y - s * z, s * y + c * z])
