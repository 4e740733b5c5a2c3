"""Kepler's equation M = E - e sin(E), with a number of steps fixed beforehand: no branching, so it can be compiled."""

from __future__ import annotations

from functools import cache
from math import pi
from typing import Any

import numpy as np

from ..algebra import cos, floor, sin


def eccentric_anomaly(M: Any, e: float) -> Any:
    """E of mean anomaly M (a float, a symbol, an array), for an ellipse of eccentricity e < 1, to round-off.

    Danby's fourth-order correction, as often as the hardest M of that e needs:

        f = E - e sin(E) - M,  d1 = -f/f',  d2 = -f/(f' + d1 f''/2),  d3 = -f/(f' + d2 f''/2 + d2^2 f'''/6)
    """
    if e == 0.0:
        return M
    turns = floor(M / (2.0 * pi) + 0.5)
    m = M - 2.0 * pi * turns  # in [-pi, pi): E - M is small there, and converges
    return _solve(m, e, iterations_for(e)) + 2.0 * pi * turns


def _solve(m: Any, e: float, count: int) -> Any:
    s, c = sin(m), cos(m)
    E = m + e * s / (1.0 - e * c + 0.5 * e * e)  # exact to first order in e, bounded near pericentre
    for _ in range(count):
        s, c = e * sin(E), e * cos(E)
        f, slope = E - s - m, 1.0 - c
        d = -f / slope
        d = -f / (slope + 0.5 * d * s)
        d = -f / (slope + 0.5 * d * s + d * d * c / 6.0)
        E = E + d
    return E


@cache
def iterations_for(e: float) -> int:
    """The number of corrections after which every M in [-pi, pi] is settled for this eccentricity."""
    if not 0.0 <= e < 1.0:
        raise ValueError(f"eccentricity {e:.6g}: only ellipses are supported, 0 <= e < 1.")
    grid = np.concatenate([np.linspace(-pi, pi, 2001), np.geomspace(1e-8, 1.0, 400), -np.geomspace(1e-8, 1.0, 400)])
    for count in range(1, 40):
        residual = _solve(grid, e, count)
        residual = residual - e * np.sin(residual) - grid
        if np.abs(residual).max() < 1e-15 * 2 * pi:
            return count
    raise ValueError(f"eccentricity {e:.6g} is too close to 1 for Kepler's equation in double precision.")
