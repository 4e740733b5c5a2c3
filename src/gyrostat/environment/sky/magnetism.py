"""Earth's magnetic field: IGRF to degree 13, its coefficients from ppigrf, summed exactly in the loop."""

from __future__ import annotations

import warnings
from datetime import timedelta
from typing import Any

import numpy as np

from ...algebra import Array
from ..normalized_harmonics import Harmonics
from ..planets import Planet
from .libraries import library

RADIUS = 6371.2e3  # of the field's coefficients
YEAR = 365.25 * 86400.0


class MagneticField:
    """field(t, r_N) -> (3,) in N, in tesla, r from Earth's centre; `in_body(t, r_N, R_NB)` in B. span: known times.

    B = -grad V,  V = a sum (a/r)^(n+1) S_nm (g cos + h sin)    S_nm: Schmidt's, Kaula's over sqrt(2 n + 1)
    """

    def __init__(self, planet: Planet, harmonics: Harmonics, span: tuple[float, float]) -> None:
        self.planet, self.harmonics, self.span = planet, harmonics, span

    def __call__(self, t: Any, r_N: Array) -> Array:
        R_FN = self.planet.fixed_axes(t)
        return -(R_FN.T @ self.fixed(t, R_FN @ r_N))

    def fixed(self, t: Any, r_F: Array) -> Array:
        """-B in the axes of Earth."""
        return RADIUS * RADIUS * self.harmonics.gradient(r_F, t)

    def in_body(self, t: Any, r_N: Array, R_NB: Array) -> Array:
        return R_NB.T @ self(t, r_N)


def igrf(planet: Planet, epoch: Any, start: float, end: float, degree: int = 13) -> MagneticField:
    """IGRF-14 between start and end, seconds after the epoch (an astropy Time); coefficients change linearly."""
    ppigrf = library("ppigrf", "the magnetic field")
    if not 1 <= degree <= 13:
        raise ValueError(f"magnetic field: degree is {degree}; IGRF has 1 to 13.")
    g, h = ppigrf.ppigrf.read_shc()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # years whose leap seconds nobody knows yet
        day_0 = epoch.utc.to_datetime()
    dates = [day_0 + timedelta(seconds=s) for s in (start, end)]
    first, last = g.index[0].to_pydatetime(), g.index[-1].to_pydatetime()
    if dates[0] < first or dates[1] > last:
        raise ValueError(
            f"magnetic field: the run goes from {dates[0]:%Y-%m-%d} to {dates[1]:%Y-%m-%d}; IGRF knows {first:%Y} to "
            f"{last:%Y}. Take another epoch."
        )
    known = np.array([(d.to_pydatetime() - first).total_seconds() for d in g.index])
    at = np.array([(d - first).total_seconds() for d in dates])
    if ((known > at[0]) & (known < at[1])).any():
        raise ValueError(
            "magnetic field: the run goes across the epoch of an IGRF model, where its coefficients change their rate. "
            "Cut the run there."
        )
    tables = []
    for frame in (g, h):
        two = np.zeros((2, degree + 1, degree + 1))
        for n, m in frame.columns:
            if n <= degree:
                two[:, n, m] = np.interp(at, known, frame[n, m].to_numpy()) / np.sqrt(2 * n + 1) * 1e-9
        tables.append(two)
    length = max(end - start, 1.0)
    rates = [(two[1] - two[0]) / length for two in tables]
    C, S = (two[0] - rate * start for two, rate in zip(tables, rates, strict=True))
    return MagneticField(planet, Harmonics(C, S, RADIUS, 1, (rates[0], rates[1])), (start, end))
