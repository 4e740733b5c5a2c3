"""Kepler's equation, M = E - e sin(E) or M = e sinh(H) - H, with a number of steps fixed beforehand: no branching, so
it can be compiled.
"""

from __future__ import annotations

from functools import cache
from math import pi
from typing import Any

import numpy as np

from ..algebra import cos, exp, floor, log, sin, sqrt, where


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
        raise ValueError(f"eccentricity {e:.6g}: an ellipse has one from 0 to below 1.")
    grid = np.concatenate([np.linspace(-pi, pi, 2001), np.geomspace(1e-8, 1.0, 400), -np.geomspace(1e-8, 1.0, 400)])
    for count in range(1, 40):
        residual = _solve(grid, e, count)
        residual = residual - e * np.sin(residual) - grid
        if np.abs(residual).max() < 1e-15 * 2 * pi:
            return count
    raise ValueError(f"eccentricity {e:.6g} is too close to 1 for Kepler's equation in double precision.")


FARTHEST = 1e9  # |M| of a hyperbola up to which the number of steps is made sure of: H = 21, ages away


def hyperbolic_anomaly(M: Any, e: float) -> Any:
    """H of M = e sinh(H) - H (a float, a symbol, an array), for a hyperbola of eccentricity e > 1, to round-off.

    Danby's corrections again, as often as the hardest M needs, from (e - 1) H + e H^3/6 = |M| where that is below 1,
    from e sinh(H) = |M| + asinh(|M|/e) beyond.
    """
    side = where(M < 0.0, -1.0, 1.0)
    return side * _open(side * M, e, _corrections_for(e))


def _open(m: Any, e: float, count: int) -> Any:
    p, q = 2.0 * (e - 1.0) / e, 6.0 * m / e  # H^3 + 3 p H = q
    u = exp(log(0.5 * q + sqrt(0.25 * q * q + p * p * p)) / 3.0)
    H = where(m < 1.0, q / (u * u + p + p * p / (u * u)), _asinh((m + _asinh(m / e)) / e))
    for _ in range(count):
        up = exp(H)
        s, c = 0.5 * e * (up - 1.0 / up), 0.5 * e * (up + 1.0 / up)
        f, slope = hyperbolic_mean(H, e) - m, c - 1.0
        d = -f / slope
        d = -f / (slope + 0.5 * d * s)
        d = -f / (slope + 0.5 * d * s + d * d * c / 6.0)
        H = H + d
    return H


def hyperbolic_mean(H: Any, e: float) -> Any:
    """e sinh(H) - H without the cancellation at small H: (e - 1) H + e (sinh(H) - H), by its series below 1."""
    up = exp(H)
    square = H * H
    series: Any = 1.0
    for k in (17, 15, 13, 11, 9, 7, 5):
        series = 1.0 + square * series / (k * (k - 1.0))
    small = (e - 1.0) * H + e * square * H * series / 6.0
    return where(H * H < 1.0, small, 0.5 * e * (up - 1.0 / up) - H)


def _asinh(x: Any) -> Any:
    """Of x >= 0."""
    return log(x + sqrt(x * x + 1.0))


@cache
def _corrections_for(e: float) -> int:
    if not e > 1.0:
        raise ValueError(f"eccentricity {e:.6g}: a hyperbola has one above 1.")
    grid = np.concatenate([[0.0], np.geomspace(1e-12, FARTHEST, 4000)])
    for count in range(1, 60):
        H = _open(grid, e, count)
        residual = np.abs(hyperbolic_mean(H, e) - grid) / (grid + 1e-9 * (e - 1.0))
        if residual.max() < 4e-15 * max(1.0, float(np.log(FARTHEST))):
            return count
    raise ValueError(f"eccentricity {e:.9g} is too close to 1 for Kepler's equation in double precision.")
