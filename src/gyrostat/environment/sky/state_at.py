"""The state of an ephemeris at a date between those that it holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import Array
from ..orbit import Orbit
from ..planets import EARTH, Planet
from .instants import instant
from .orbit_files import Ephemeris
from .two_line import in_gcrf

KNOTS = 4  # states that the polynomial goes through: of degree 7


def state_at(ephemeris: Ephemeris, epoch: Any, *, planet: Planet = EARTH) -> Array:
    """Position and velocity (6,) in GCRF at an epoch: the ellipse through the nearest state, and on it the polynomial
    through what the nearest four are away from it.

    Raises ValueError beyond its first and last date.
    """
    there = in_gcrf(ephemeris)
    t = seconds_after(instant(epoch), there)
    if t[0] > 1e-6 or t[-1] < -1e-6:
        raise ValueError(
            f"'{there.name}' is known from {there.times[0]} to {there.times[-1]} ({there.scale}); the epoch, "
            f"{instant(epoch).utc.isot}, is not between them."
        )
    first = int(np.clip(np.searchsorted(t, 0.0) - KNOTS // 2, 0, max(len(t) - KNOTS, 0)))
    near = slice(first, first + KNOTS)
    t, states = t[near], there.states[near]
    k = int(np.argmin(np.abs(t)))
    ellipse = Orbit.from_state(states[k, :3], states[k, 3:], float(t[k]), planet=planet)
    away = states - np.array([np.concatenate(ellipse.state(float(x))) for x in t])
    scale, powers = max(float(np.ptp(t)), 1.0), np.arange(2 * len(t))
    u = (t / scale)[:, None]
    slopes = powers * u ** np.maximum(powers - 1, 0) / scale
    found = np.linalg.solve(np.vstack([u**powers, slopes]), np.vstack([away[:, :3], away[:, 3:]]))
    return np.concatenate(ellipse.state(0.0)) + np.concatenate([found[0], found[1] / scale])


def seconds_after(epoch: Any, ephemeris: Ephemeris) -> Array:
    """Its times in SI seconds from the epoch, (n,)."""
    from .libraries import library

    scale = ephemeris.scale.lower()
    if scale not in ("utc", "tai", "tt", "tdb"):
        raise ValueError(f"'{ephemeris.name}' counts time in {ephemeris.scale}; expected UTC, TAI, TT or TDB.")
    times = library("astropy.time", "dates of an ephemeris").Time(ephemeris.times, scale=scale)
    return np.asarray((times.tai - epoch.tai).sec, dtype=float)
