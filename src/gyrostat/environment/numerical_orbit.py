"""An orbit that was computed or measured, as the path of N's origin: perturbed as it is, not an ellipse."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from ..algebra import Array
from ..tracing.tables import Pieces
from .orbit import Orbit, OrbitState
from .planets import EARTH, Planet
from .two_body import differential_gravity

KNOTS = 4  # states that a piece goes through: the polynomial is of degree 7


@dataclass(frozen=True, eq=False)
class NumericalOrbit:
    """The origin of N follows positions and velocities that are given at times; build it by `through`.

    Its path is an ellipse (or hyperbola) plus a table of what is left, whose second derivative is what the origin feels
    besides two-body gravity: members feel the same, less that, so that what perturbs all of them leaves them together.
    """

    ellipse: Orbit
    away: Pieces  # (3,) m in N
    span: tuple[float, float]
    rate: Pieces = field(init=False)
    bend: Pieces = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", self.away.derivative())
        object.__setattr__(self, "bend", self.rate.derivative())

    @classmethod
    def through(cls, times: Any, r: Any, v: Any, *, planet: Planet = EARTH) -> NumericalOrbit:
        """times (n,): s, evenly spaced; r, v (n, 3): m and m/s from the planet's centre, in N. Between two times it is
        the polynomial of degree 7 through the positions and velocities of the four nearest.
        """
        times, r, v = (np.asarray(x, dtype=float) for x in (times, r, v))
        n = len(times)
        if times.ndim != 1 or n < KNOTS or r.shape != (n, 3) or v.shape != (n, 3) or not np.isfinite([*r, *v]).all():
            raise ValueError(
                f"numerical orbit: times {times.shape}, r {r.shape}, v {v.shape}; expected finite (n,), (n, 3) and "
                f"(n, 3), n at least {KNOTS}."
            )
        step = (times[-1] - times[0]) / (n - 1)
        if not step > 0 or np.abs(np.diff(times) - step).max() > 1e-6 * step:
            raise ValueError(
                "numerical orbit: its times are not evenly spaced. Give states at equal steps; `evenly` of an "
                "Ephemeris makes them."
            )
        ellipse = Orbit.from_state(r[n // 2], v[n // 2], float(times[n // 2]), planet=planet)
        there = [ellipse.state(float(t)) for t in times]
        away, rate = r - np.array([s.r for s in there]), v - np.array([s.v for s in there])
        return cls(ellipse, Pieces(times[0], step, hermite(away, step * rate)), (float(times[0]), float(times[-1])))

    @property
    def planet(self) -> Planet:
        return self.ellipse.planet

    def state(self, t: Any) -> OrbitState:
        """Position and velocity of N's origin, in N. `t` may be a symbol."""
        r, v = self.ellipse.state(t)
        return OrbitState(r + self.away(t), v + self.rate(t))

    def perturbation(self, t: Any) -> Array:
        """Acceleration of N's origin beyond two-body gravity at its place, (3,) in N."""
        pull = differential_gravity(self.planet.mu, self.ellipse.state(t).r, self.away(t))
        return np.asarray(self.bend(t) - pull)


def hermite(x: Array, slope: Array) -> Array:
    """Chebyshev coefficients (n - 1, 8, 3) of the pieces between knots, through x (n, 3) and slope per step."""
    n = len(x)
    terms = np.eye(2 * KNOTS)  # a column: one Chebyshev polynomial alone
    first = np.clip(np.arange(n - 1) - (KNOTS // 2 - 1), 0, n - KNOTS)
    found = np.empty((n - 1, 2 * KNOTS, x.shape[1]))
    for offset in np.unique(np.arange(n - 1) - first):
        u = -1.0 + 2.0 * (np.arange(KNOTS) - offset)  # of the knots, where the piece goes from -1 to 1
        values = chebyshev.chebval(u, terms).T
        slopes = 2.0 * chebyshev.chebval(u, chebyshev.chebder(terms)).T
        inverse = np.linalg.inv(np.concatenate([values, slopes]))
        pieces = np.flatnonzero(np.arange(n - 1) - first == offset)
        knots = first[pieces][:, None] + np.arange(KNOTS)
        found[pieces] = np.einsum("ij,pjc->pic", inverse, np.concatenate([x[knots], slope[knots]], axis=1))
    return found
