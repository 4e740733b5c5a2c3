"""Distributions of what is dispersed, each a function of uniform numbers: whatever makes these (random, a Latin
hypercube, a Sobol sequence) serves all of them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, inertia_components, inertia_matrix

Shape = tuple[int, ...]


class Distribution(ABC):
    """Of one quantity with a shape. Values are as they are read from files: hashable, printed in full."""

    def columns(self, shape: Shape) -> int:
        """How many uniform numbers a run needs."""
        return math.prod(shape)

    def check(self, shape: Shape, nominal: Array | None, runs: int, of: str) -> None:
        """Raises a ValueError if it does not suit the quantity."""
        return

    @abstractmethod
    def draw(self, u: Array, shape: Shape, nominal: Array | None, runs: Array) -> Array:
        """(n, *shape) from u (n, columns); runs: their numbers (n,)."""


def _numbers(x: Any, what: str) -> Any:
    """A number, or tuples of them; finite."""
    array = np.asarray(x, dtype=float)
    if not np.isfinite(array).all():
        raise ValueError(f"{what} is {x!r:.60}; expected finite numbers.")
    return _tuples(array)


def _tuples(array: Array) -> Any:
    return float(array) if array.ndim == 0 else tuple(_tuples(row) for row in array)


def _positive(x: Any, what: str) -> Any:
    found = _numbers(x, what)
    if not (np.asarray(found) > 0).all():
        raise ValueError(f"{what} is {x!r:.60}; expected more than zero.")
    return found


def _ordered(low: Any, high: Any) -> None:
    if not (np.asarray(low) < np.asarray(high)).all():
        raise ValueError(f"low is {low} and high is {high}; expected low < high.")


class Scalar(Distribution):
    """One number each: entries of a larger quantity are drawn independently of each other."""

    @abstractmethod
    def quantile(self, u: Array) -> Array:
        """Elementwise; u (n, *shape)."""

    def check(self, shape: Shape, nominal: Array | None, runs: int, of: str) -> None:
        for name, value in vars(self).items():
            if isinstance(value, tuple) and np.shape(value) not in ((), shape):
                raise ValueError(f"{of}: {name} has shape {np.shape(value)}; expected one number, or shape {shape}.")

    def draw(self, u: Array, shape: Shape, nominal: Array | None, runs: Array) -> Array:
        return np.asarray(self.quantile(u.reshape(len(u), *shape)), dtype=float)


@dataclass(frozen=True)
class Normal(Scalar):
    mean: Any
    sd: Any

    def quantile(self, u: Array) -> Array:
        from scipy.special import ndtri

        return np.asarray(self.mean) + np.asarray(self.sd) * ndtri(u)


@dataclass(frozen=True)
class TruncatedNormal(Scalar):
    mean: Any
    sd: Any
    low: Any
    high: Any

    def quantile(self, u: Array) -> Array:
        from scipy.stats import truncnorm

        mean, sd = np.asarray(self.mean), np.asarray(self.sd)
        return truncnorm.ppf(u, (self.low - mean) / sd, (self.high - mean) / sd, loc=mean, scale=sd)


@dataclass(frozen=True)
class Uniform(Scalar):
    low: Any
    high: Any

    def quantile(self, u: Array) -> Array:
        return np.asarray(self.low) + (np.asarray(self.high) - np.asarray(self.low)) * u


@dataclass(frozen=True)
class LogNormal(Scalar):
    median: Any
    sd: Any

    def quantile(self, u: Array) -> Array:
        from scipy.special import ndtri

        return np.asarray(self.median) * np.exp(np.asarray(self.sd) * ndtri(u))


@dataclass(frozen=True)
class FromScipy(Scalar):
    name: str
    arguments: tuple[Any, ...]

    def quantile(self, u: Array) -> Array:
        from scipy import stats

        return getattr(stats, self.name).ppf(u, *self.arguments[0], **dict(self.arguments[1]))


@dataclass(frozen=True)
class Discrete(Distribution):
    values: tuple[Any, ...]
    weights: tuple[float, ...]

    def columns(self, shape: Shape) -> int:
        return 1

    def check(self, shape: Shape, nominal: Array | None, runs: int, of: str) -> None:
        _must_have_shape(np.shape(self.values)[1:], shape, of)

    def draw(self, u: Array, shape: Shape, nominal: Array | None, runs: Array) -> Array:
        steps = np.cumsum(self.weights) / np.sum(self.weights)
        return np.asarray(self.values)[np.searchsorted(steps[:-1], u[:, 0], side="right")]


@dataclass(frozen=True)
class Rows(Distribution):
    rows: tuple[Any, ...]

    def columns(self, shape: Shape) -> int:
        return 0

    def check(self, shape: Shape, nominal: Array | None, runs: int, of: str) -> None:
        _must_have_shape(np.shape(self.rows)[1:], shape, of)
        if len(self.rows) < runs:
            raise ValueError(f"{of}: the table has {len(self.rows)} rows for {runs} runs; expected a row for each.")

    def draw(self, u: Array, shape: Shape, nominal: Array | None, runs: Array) -> Array:
        return np.asarray(self.rows)[runs]


@dataclass(frozen=True)
class Attitude(Distribution):
    def columns(self, shape: Shape) -> int:
        return 3

    def check(self, shape: Shape, nominal: Array | None, runs: int, of: str) -> None:
        _must_have_shape((4,), shape, of)

    def draw(self, u: Array, shape: Shape, nominal: Array | None, runs: Array) -> Array:
        """Shoemake's: two circles, of radii that make every rotation equally likely."""
        a, b = np.sqrt(1.0 - u[:, 0]), np.sqrt(u[:, 0])
        x, y = 2.0 * np.pi * u[:, 1], 2.0 * np.pi * u[:, 2]
        return np.stack([b * np.cos(y), a * np.sin(x), a * np.cos(x), b * np.sin(y)], axis=1)


@dataclass(frozen=True)
class Direction(Distribution):
    length: Any  # a number, or a Scalar

    def columns(self, shape: Shape) -> int:
        return 2 + isinstance(self.length, Scalar)

    def check(self, shape: Shape, nominal: Array | None, runs: int, of: str) -> None:
        _must_have_shape((3,), shape, of)

    def draw(self, u: Array, shape: Shape, nominal: Array | None, runs: Array) -> Array:
        """Height and longitude on the sphere are uniform and independent (Archimedes)."""
        z, turn = 2.0 * u[:, 0] - 1.0, 2.0 * np.pi * u[:, 1]
        flat = np.sqrt(1.0 - z * z)
        length = self.length.quantile(u[:, 2]) if isinstance(self.length, Scalar) else np.full(len(u), self.length)
        return length[:, None] * np.stack([flat * np.cos(turn), flat * np.sin(turn), z], axis=1)


@dataclass(frozen=True)
class Inertia(Distribution):
    sd: float

    def check(self, shape: Shape, nominal: Array | None, runs: int, of: str) -> None:
        if not of.endswith(".inertia") or nominal is None:
            raise ValueError(f"{of}: inertia(sd) disperses an inertia, such as 'base.inertia'.")

    def draw(self, u: Array, shape: Shape, nominal: Array | None, runs: Array) -> Array:
        """S = tr(I)/2 - I, the second moments of the mass, are positive definite for real bodies. They are stretched:

            S' = E S E^T,  E = exp(sd/2 G),  G symmetric and normal

        so every I' = tr(S') - S' is that of a body; moments vary by about sd, axes turn.
        """
        from scipy.special import ndtri

        I = np.array(inertia_matrix(np.asarray(nominal, dtype=float)), dtype=float)
        S = 0.5 * np.trace(I) * np.eye(3) - I
        g = ndtri(u)
        G = np.zeros((len(u), 3, 3))
        for column, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
            G[:, i, j] = G[:, j, i] = g[:, column] * (1.0 if i == j else math.sqrt(0.5))
        w, V = np.linalg.eigh(0.5 * self.sd * G)
        E = row_by_row(V * np.exp(w)[:, None, :], np.swapaxes(V, 1, 2))
        stretched = row_by_row(row_by_row(E, S), np.swapaxes(E, 1, 2))
        traces = stretched[:, 0, 0] + stretched[:, 1, 1] + stretched[:, 2, 2]
        made = traces[:, None, None] * np.eye(3) - stretched
        return np.stack([np.asarray(inertia_components(one), dtype=float) for one in made])


@dataclass(frozen=True)
class Changed(Distribution):
    """How = "scaled": the nominal value times what is drawn; "added": plus what is drawn (attitudes: turned by it)."""

    how: str
    by: Distribution

    def columns(self, shape: Shape) -> int:
        return self.by.columns(shape)

    def check(self, shape: Shape, nominal: Array | None, runs: int, of: str) -> None:
        if nominal is None:
            raise ValueError(
                f"{of}: nothing is given that could be {self.how}; give its nominal value, inputs={{...}}."
            )
        self.by.check(shape, None, runs, of)

    def draw(self, u: Array, shape: Shape, nominal: Array | None, runs: Array) -> Array:
        drawn = self.by.draw(u, shape, None, runs)
        return nominal * drawn if self.how == "scaled" else nominal + drawn


@dataclass(frozen=True)
class Correlated:
    """Several quantities of one number each, by a Gaussian copula: each has its own distribution."""

    parts: tuple[Distribution, ...]
    correlation: tuple[Any, ...]

    def mixed(self, u: Array) -> Array:
        """Uniform numbers that are correlated."""
        from scipy.special import ndtr, ndtri

        return ndtr(row_by_row(ndtri(u), np.linalg.cholesky(np.asarray(self.correlation)).T))


def row_by_row(a: Array, b: Array) -> Array:
    """a @ b, summed in one order however many rows there are: libraries choose it by the size, and so the last bit."""
    made = a[..., :1] * b[..., :1, :]
    for j in range(1, a.shape[-1]):
        made = made + a[..., j : j + 1] * b[..., j : j + 1, :]
    return made


def _must_have_shape(found: Shape, expected: Shape, of: str) -> None:
    if tuple(found) != tuple(expected):
        raise ValueError(f"{of}: the distribution gives shape {tuple(found)}; expected {tuple(expected)}.")


# ---- as users write them


def normal(mean: Any, sd: Any) -> Normal:
    """Mean and standard deviation; numbers, or one per entry."""
    return Normal(_numbers(mean, "mean"), _positive(sd, "sd"))


def truncated_normal(mean: Any, sd: Any, low: Any, high: Any) -> TruncatedNormal:
    """A normal distribution of which only what is between low and high may happen."""
    _ordered(low, high)
    return TruncatedNormal(_numbers(mean, "mean"), _positive(sd, "sd"), _numbers(low, "low"), _numbers(high, "high"))


def uniform(low: Any, high: Any) -> Uniform:
    """Anything between low and high."""
    _ordered(low, high)
    return Uniform(_numbers(low, "low"), _numbers(high, "high"))


def log_normal(median: Any, sd: Any) -> LogNormal:
    """Positive: its logarithm is normal, with standard deviation sd (0.1: about 10 %)."""
    return LogNormal(_positive(median, "median"), _positive(sd, "sd"))


def discrete(values: Sequence[Any], weights: Sequence[float] | None = None) -> Discrete:
    """One of several values, numbers or arrays; weights: how likely, relative to each other.

    Raises ValueError without values, and for weights that are no shares.
    """
    values = _numbers(values, "values")
    if not isinstance(values, tuple) or not values:
        raise ValueError(f"values are {values!r:.60}; expected at least one.")
    shares = (1.0,) * len(values) if weights is None else _numbers(weights, "weights")
    if np.shape(shares) != (len(values),) or min(shares) < 0 or not sum(shares) > 0:
        raise ValueError(f"weights are {weights!r:.60}; expected {len(values)} numbers, none negative, not all zero.")
    return Discrete(values, shares)


def rows(values: Sequence[Any]) -> Rows:
    """Values from a table: run k takes row k."""
    return Rows(_numbers(values, "rows"))


def attitude() -> Attitude:
    """Any attitude, all equally likely: a quaternion."""
    return Attitude()


def direction(length: Any = 1.0) -> Direction:
    """A vector in any direction; length: a number, or a distribution."""
    return Direction(length if isinstance(length, Scalar) else _positive(length, "length"))


def inertia(sd: float) -> Inertia:
    """About the nominal one, moments by about sd (0.1: 10 %); always that of a real body."""
    return Inertia(_positive(sd, "sd"))


def from_scipy(frozen: Any) -> FromScipy:
    """A continuous distribution of `scipy.stats` with its arguments: from_scipy(stats.weibull_min(1.5)).

    Raises TypeError for anything but a distribution of scipy.stats with its arguments.
    """
    name = getattr(getattr(frozen, "dist", None), "name", None)
    if name is None or not hasattr(frozen, "ppf"):
        raise TypeError(f"found {frozen!r:.80}; expected a distribution of scipy.stats with its arguments.")
    words = tuple(sorted((key, _numbers(x, key)) for key, x in frozen.kwds.items()))
    return FromScipy(name, (tuple(_numbers(x, "argument") for x in frozen.args), words))


def scaled(by: Distribution) -> Changed:
    """The nominal value, times what is drawn: scaled(normal(1.0, 0.05))."""
    return Changed("scaled", _distribution(by, "scaled"))


def added(by: Distribution) -> Changed:
    """The nominal value, and what is drawn: added(normal(0.0, 0.01)). Attitudes are turned by a rotation vector."""
    return Changed("added", _distribution(by, "added"))


def correlated(parts: Sequence[Distribution], correlation: Any) -> Correlated:
    """For several names at once: {("a.mass", "b.mass"): correlated([scaled(...), scaled(...)], [[1, 0.8], [0.8, 1]])}.

    correlation: of the normal numbers behind the parts, whose distributions stay as they are.

    Raises ValueError unless the correlation is symmetric, positive definite, with ones on its diagonal.
    """
    parts = tuple(_distribution(part, "correlated") for part in parts)
    C = np.asarray(correlation, dtype=float)
    if C.shape != (len(parts), len(parts)) or not np.allclose(C, C.T) or not np.allclose(np.diag(C), 1.0):
        raise ValueError(
            f"correlation has shape {C.shape}; expected a symmetric {len(parts)} x {len(parts)} matrix with ones on "
            "its diagonal."
        )
    if np.linalg.eigvalsh(C).min() <= 1e-12:
        raise ValueError("correlation is not positive definite: no quantities have these correlations.")
    return Correlated(parts, _numbers(C, "correlation"))


def _distribution(given: Any, of: str) -> Distribution:
    if not isinstance(given, Distribution):
        raise TypeError(
            f"{of}: found {given!r:.60}; expected a distribution of gs.campaigns, such as normal(1.0, 0.05)."
        )
    return given
