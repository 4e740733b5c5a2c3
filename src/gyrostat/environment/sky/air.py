"""Air density of NRLMSIS, by pymsis, as a table over heights, latitudes, local time and time of day."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import Array, atan2, cos, exp, floor, maximum, minimum, sin, sqrt
from ...tracing.tables import lookup
from ..planets import Planet
from .libraries import library

MARGIN = 4  # rows beyond the ends (of a pole: on its other side): the spline remembers 0.27 of each
LATITUDES, HOURS, CLOCK = 31, 16, 6  # rows of the table: every 6 degrees, 1.5 hours of local time, 4 hours of UT


class NRLMSIS:
    """rho(planet, t, r_N) -> kg/m^3 for `air_drag`, of `sky`, between two heights (m): cubic splines through log rho.

    The model moves with height, latitude, local time, UT and day of the year; the table is that of the day in the
    middle of the sky's span, which must not be longer than 10 days. f107: solar flux of the day before, f107a: its mean
    over 81 days, ap: geomagnetic index; all of them are numbers that stay. Beyond its heights the density is held.
    error: relative, twice the largest that was found at 2000 places and instants of chance within the span.
    """

    def __init__(
        self,
        sky: Any,
        *,
        f107: float,
        f107a: float,
        ap: float,
        heights: tuple[float, float] = (200e3, 700e3),
        spacing: float = 30e3,
    ) -> None:
        low, high = heights
        if not (100e3 <= low < high <= 1000e3):
            raise ValueError(f"NRLMSIS: heights are {heights}; expected m, from 100e3 to 1000e3, the lower one first.")
        if not (0 < f107 < 500 and 0 < f107a < 500 and 0 <= ap <= 400):
            raise ValueError(
                f"NRLMSIS: f107 {f107}, f107a {f107a} and ap {ap}; expected indices as they are published."
            )
        if sky.span[1] - sky.span[0] > 10 * 86400.0:
            raise ValueError(
                f"NRLMSIS: the sky is {(sky.span[1] - sky.span[0]) / 86400:.1f} days long, its table holds for 10. "
                "Fly in several runs, each with a sky of its own."
            )
        self.sky, self.span, self.indices = sky, sky.span, (float(f107), float(f107a), float(ap))
        count = max(4, int(np.ceil((high - low) / spacing)) + 1)
        self.low, self.step, self.count = low, (high - low) / (count - 1), count
        noon = sky.time(0.5 * (sky.span[0] + sky.span[1])).utc
        self.day = np.datetime64(noon.strftime("%Y-%m-%d"), "s")
        midnight = sky.epoch.utc
        self.clock = 86400.0 * float((midnight.jd1 - 0.5) % 1.0 + midnight.jd2)  # UT at t = 0, s
        self.days = float((np.datetime64(midnight.strftime("%Y-%m-%d"), "s") - self.day) / np.timedelta64(86400, "s"))
        self.table = self._splines()
        self.error = self._measured()

    def model(self, seconds: Any, latitude: Any, longitude: Any, height: Any) -> Array:
        """pymsis itself: rho at UT, s after midnight of the table's day, geodetic degrees and m, arrays (n,)."""
        msis = library("pymsis", "the density of NRLMSIS")
        at = self.day + np.round(np.asarray(seconds)).astype("timedelta64[s]")
        n, (f107, f107a, ap) = len(at), self.indices
        out = msis.calculate(
            at, (np.asarray(longitude) + 180.0) % 360.0 - 180.0, latitude, np.asarray(height) / 1e3,
            np.full(n, f107), np.full(n, f107a), np.full((n, 7), ap),
        )  # fmt: skip
        return np.asarray(out[:, 0], dtype=float)

    def _splines(self) -> Array:
        """Coefficients (heights + 2, latitudes + 2, hours, clock) of cubic B-splines."""
        from scipy.ndimage import spline_filter1d

        h = self.low + self.step * np.arange(-MARGIN, self.count + MARGIN)  # the ends are not flat
        latitude = np.linspace(-90.0, 90.0, LATITUDES)
        grid = np.meshgrid(h, latitude, 24.0 / HOURS * np.arange(HOURS), 24.0 / CLOCK * np.arange(CLOCK), indexing="ij")
        height, lat, hour, ut = (g.ravel() for g in grid)
        values = np.log(self.model(3600.0 * ut, lat, 15.0 * (hour - ut), height)).reshape(grid[0].shape)
        across = np.roll(values, HOURS // 2, axis=2)  # behind a pole it is twelve hours later
        values = np.concatenate([across[:, MARGIN:0:-1], values, across[:, -2 : -2 - MARGIN : -1]], axis=1)
        for axis, mode in ((0, "mirror"), (1, "mirror"), (2, "grid-wrap"), (3, "grid-wrap")):
            values = spline_filter1d(values, axis=axis, mode=mode)
        return values[MARGIN - 1 : MARGIN + self.count + 1, MARGIN - 1 : MARGIN + LATITUDES + 1]

    def _measured(self) -> float:
        rng = np.random.default_rng(0)
        n = 2000
        ut = np.round(rng.uniform(self.span[0], self.span[1], n) + self.clock + self.days * 86400.0)
        lat = np.degrees(np.arcsin(rng.uniform(-1, 1, n)))
        lon, h = rng.uniform(-180, 180, n), self.low + rng.uniform(0, 1, n) * self.step * (self.count - 1)
        found = np.asarray(self.at(ut, np.radians(lat), np.radians(lon), h))
        return 2.0 * float(np.abs(found / self.model(ut, lat, lon, h) - 1.0).max())

    def __call__(self, planet: Planet, t: Any, r_N: Array) -> Any:
        latitude, longitude, height = geodetic(planet, planet.fixed_axes(t) @ r_N)
        return self.at(self.clock + t, latitude, longitude, height)

    def at(self, seconds: Any, latitude: Any, longitude: Any, height: Any) -> Any:
        """At UT in s of the day, geodetic rad and m."""
        clock = seconds / 86400.0
        rows = self.table.shape
        x = minimum(maximum((height - self.low) / self.step, 0.0), self.count - 1.0)
        y = (latitude / np.pi + 0.5) * (LATITUDES - 1)
        hour = clock + longitude / (2.0 * np.pi)
        parts = [_along(x, self.count), _along(y, LATITUDES)]
        parts += [_around(hour, HOURS), _around(clock, CLOCK)]
        total: Any = 0.0
        flat = self.table.ravel()
        for i, a in parts[0]:
            for j, b in parts[1]:
                ab, ij = a * b, (i * rows[1] + j) * HOURS
                for k, c in parts[2]:
                    abc, ijk = ab * c, (ij + k) * CLOCK
                    for m, d in parts[3]:
                        total = total + abc * d * lookup(ijk + m, flat)
        return exp(total)


def _weights(u: Any) -> tuple[Any, Any, Any, Any]:
    """Of four neighbours, of a cubic B-spline at u from the second of them."""
    v = 1.0 - u
    return v**3 / 6.0, (4.0 - 6.0 * u**2 + 3.0 * u**3) / 6.0, (4.0 - 6.0 * v**2 + 3.0 * v**3) / 6.0, u**3 / 6.0


def _along(x: Any, count: int) -> list[tuple[Any, Any]]:
    """Rows (of count + 2) and weights at a place from 0 to count - 1."""
    start = minimum(maximum(floor(x), 0.0), count - 2.0)
    return [(start + k, w) for k, w in enumerate(_weights(x - start))]


def _around(turns: Any, count: int) -> list[tuple[Any, Any]]:
    """Rows and weights at a place that comes back after one turn."""
    x = (turns - floor(turns)) * count
    start = minimum(floor(x), count - 1.0)
    rows = [start + (k - 1.0) for k in range(4)]
    return [(r - count * floor(r / count), w) for r, w in zip(rows, _weights(x - start), strict=True)]


def geodetic(planet: Planet, r_F: Array) -> tuple[Any, Any, Any]:
    """Latitude, longitude (rad) and height (m) above the flattened surface, by Bowring (1976): to 1e-9 rad, 1 cm."""
    a, f = planet.radius, planet.flattening
    b, e2 = a * (1.0 - f), f * (2.0 - f)
    level = sqrt(r_F[0] * r_F[0] + r_F[1] * r_F[1])
    u = atan2(r_F[2] * a, level * b)
    su, cu = sin(u), cos(u)
    latitude = atan2(r_F[2] + e2 / (1.0 - e2) * b * su**3, level - e2 * a * cu**3)
    s, c = sin(latitude), cos(latitude)
    radius = a / sqrt(1.0 - e2 * s * s)
    height = level * c + r_F[2] * s - a * a / radius
    return latitude, atan2(r_F[1], r_F[0]), height
