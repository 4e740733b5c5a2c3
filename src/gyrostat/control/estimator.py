"""What estimators share: spaces in which states differ, what stands in their memory, whether they are consistent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, mirror, quat_conjugate, quat_exp, quat_log, quat_multiply, quat_normalize
from ..model import Spacecraft

QUATERNION = "quaternion"


class AbstractEstimator:
    """Made of readings, sample by sample; `Instruments(estimator=...)` gives laws what it says in place of the state.

    start(craft, period) -> memory. step(craft, t, q, v, z, readings, sample, period) -> memory after a sample; q, v are
    what the sensors show of the state, readings {name: Reading}. seen(craft, q, v, z) -> (q, v) with the estimates.
    """

    def start(self, craft: Spacecraft, period: float) -> Array:
        raise NotImplementedError

    def step(
        self, craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, readings: Any, sample: Any, period: float
    ) -> Array:
        raise NotImplementedError

    def seen(self, craft: Spacecraft, q: Array, v: Array, z: Array) -> tuple[Array, Array]:
        raise NotImplementedError

    def judged(self, craft: Spacecraft, q: Array, v: Array, z: Array) -> list[Judged]:
        """What the report shows of it, of the states and memories of runs at their ends, (runs, n)."""
        return []


@dataclass(frozen=True)
class Space:
    """Of states or readings made of vectors and unit quaternions: Space("quaternion", 3) is a pose.

    plus(x, d): x moved by d, where rotations are moved in their own axes, x exp(d); minus is its inverse:
    plus(b, minus(a, b)) = a.
    """

    parts: tuple[Any, ...]

    def __init__(self, *parts: Any) -> None:
        for part in parts:
            if part != QUATERNION and not (isinstance(part, int) and part > 0):
                raise ValueError(f"space: {part!r} is no part of one; expected 'quaternion' or a number of components.")
        object.__setattr__(self, "parts", parts)

    @property
    def components(self) -> int:
        return sum(4 if part == QUATERNION else part for part in self.parts)

    @property
    def size(self) -> int:
        """Of differences."""
        return sum(3 if part == QUATERNION else part for part in self.parts)

    def _blocks(self) -> list[tuple[bool, slice, slice]]:
        found, a, b = [], 0, 0
        for part in self.parts:
            n, m = (4, 3) if part == QUATERNION else (part, part)
            found.append((part == QUATERNION, slice(a, a + n), slice(b, b + m)))
            a, b = a + n, b + m
        return found

    def plus(self, x: Array, d: Array) -> Array:
        return np.concatenate(
            [quat_multiply(x[a], quat_exp(d[b])) if turns else x[a] + d[b] for turns, a, b in self._blocks()]
        )

    def minus(self, x: Array, y: Array) -> Array:
        return np.concatenate(
            [
                quat_log(quat_multiply(quat_conjugate(y[a]), x[a])) if turns else x[a] - y[a]
                for turns, a, _ in self._blocks()
            ]
        )

    def tidy(self, x: Array) -> Array:
        """With quaternions of norm one."""
        return np.concatenate([quat_normalize(x[a]) if turns else x[a] for turns, a, _ in self._blocks()])


class Estimate(NamedTuple):
    """With any leading axes."""

    x: Array  # (..., components)
    P: Array  # (..., size, size): covariance of the difference between truth and x
    nis: Array  # (..., measurements) y^T S^-1 y of the last reading of each

    @property
    def sigma(self) -> Array:
        return np.sqrt(np.diagonal(self.P, axis1=-2, axis2=-1))


class Layout:
    """Of a memory: x, the upper triangle of P, and the NIS of each measurement."""

    def __init__(self, space: Space, measurements: int) -> None:
        self.upper = np.triu_indices(space.size)
        n, p = space.components, len(self.upper[0])
        self.x, self.P, self.nis = slice(0, n), slice(n, n + p), slice(n + p, n + p + measurements)
        self.components, self.size, self.total = n, space.size, n + p + measurements

    def packed(self, x: Array, P: Array, nis: Any) -> Array:
        return np.concatenate([x, P[self.upper], nis])

    def covariance(self, z: Array) -> Array:
        P: Any = np.zeros((self.size, self.size), dtype=z.dtype)
        P[self.upper] = z[self.P]
        return mirror(P)

    def read(self, memory: Any) -> Estimate:
        """Of a memory with any leading axes: the last part of a run's `held_z`."""
        z = np.asarray(memory, dtype=float)[..., -self.total :]
        P = np.zeros((*z.shape[:-1], self.size, self.size))
        i, j = self.upper
        P[..., i, j] = P[..., j, i] = z[..., self.P]
        return Estimate(z[..., self.x], P, z[..., self.nis])


class Consistency(NamedTuple):
    """Mean over the runs of chi-squared numbers (NEES, NIS), and where it has to lie with a probability of 95 %: above,
    the filter believes too much of itself; below, too little.
    """

    mean: Any
    low: float
    high: float

    @property
    def ok(self) -> bool:
        return bool(np.all((self.low <= self.mean) & (self.mean <= self.high)))

    def __str__(self) -> str:
        means = ", ".join(f"{m:.3g}" for m in np.atleast_1d(self.mean))
        verdict = "consistent" if self.ok else "not consistent"
        return f"{means}, expected {self.low:.3g} to {self.high:.3g} (95 %): {verdict}"


class Judged(NamedTuple):
    """A chi-squared number of each run at its end, which tells whether a filter is consistent."""

    name: str
    values: Array  # (runs,)
    degrees: int

    def row(self) -> dict[str, Any]:
        """A figure of the report: the mean over the runs, and where it has to lie."""
        found = consistency(self.values, self.degrees)
        span = f"{found.low:.3g} to {found.high:.3g}"
        return {"name": f"{self.name} (95 % of consistent ones: {span})", "peak": None, "final": float(found.mean)}


def consistency(values: Any, degrees: int) -> Consistency:
    """values (runs, ...): of NEES or NIS, each of so many degrees of freedom; the mean is over the runs."""
    from scipy.special import gammaincinv

    values = np.asarray(values, dtype=float)
    runs = len(values)
    low, high = 2.0 * gammaincinv(0.5 * degrees * runs, [0.025, 0.975]) / runs
    return Consistency(values.mean(axis=0), float(low), float(high))


def nees(errors: Any, P: Any) -> Array:
    """e^T P^-1 e of errors (..., n) that the covariances (..., n, n) are of."""
    e = np.asarray(errors, dtype=float)
    return np.einsum("...i,...i->...", e, np.linalg.solve(np.asarray(P, dtype=float), e[..., None])[..., 0])
