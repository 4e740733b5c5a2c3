"""Random numbers that are functions of their place: the same in any order, in any batch, traced or not."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ..algebra.elementary import log, sqrt, where
from . import rules
from .expr import Expr
from .ops import OPS

EXACT = 2**53  # integers up to here are floats


def whole(x: Any) -> Any:
    """Integers of any size, or an array of them, as floats that tell them apart; traced values as they are.

    Those that no float holds are mixed down to 52 bits, all of their own counting:
    two of them are the same with probability 2^-52.
    """
    if isinstance(x, Expr):
        return x
    if isinstance(x, np.random.SeedSequence):
        return _mixed(seed_number(x))
    if isinstance(x, int | float | np.number):
        return _mixed(x)
    array = np.asarray(x)
    if array.dtype.kind in "iuf" and not (np.abs(array.astype(float)) >= EXACT).any():
        return array.astype(float)
    out = np.empty(array.shape, dtype=object)
    out.ravel()[:] = [e if isinstance(e, Expr) else _mixed(e) for e in array.ravel().tolist()]
    return out if any(isinstance(e, Expr) for e in out.flat) else out.astype(float)


def seed_number(seed: Any) -> int:
    """The integer that a seed is: itself; the entropy of a `SeedSequence`, mixed with its place among those it was
    spawned with; one made of several.
    """
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool):
        return int(seed)
    if not isinstance(seed, np.random.SeedSequence):
        words = None if isinstance(seed, str | bytes | bool | float | None) else list(seed)
        if not words or not all(isinstance(w, int | np.integer) and w >= 0 for w in words):
            raise TypeError(
                f"seed is {seed!r}; expected a whole number, several of them, or a numpy.random.SeedSequence."
            )
        return int.from_bytes(
            hashlib.blake2b(repr([int(w) for w in words]).encode(), digest_size=16).digest(), "little"
        )
    if not seed.spawn_key and isinstance(seed.entropy, int | np.integer):
        return int(seed.entropy)
    return int.from_bytes(seed.generate_state(4, np.uint32).tobytes(), "little")


def _mixed(x: Any) -> float:
    if abs(x) <= EXACT or (isinstance(x, float | np.floating) and not np.isfinite(x)):
        return float(x)
    number = int(x)
    size = number.bit_length() // 8 + 1
    digest = hashlib.blake2b(number.to_bytes(size, "little", signed=True), digest_size=8).digest()
    return -float(2**52 + (int.from_bytes(digest, "little") >> 12))


def uniform(seed: Any, run: Any = 0, sample: Any = 0, channel: Any = 0) -> Any:
    """A number in (0, 1), never 0 or 1, for four integers (below 2^24 in magnitude in float32 kernels).

    Each may be an integer of any size, a float, a traced value or an array; they are broadcast.
    Compiled code gives the same bits.
    """
    keys = tuple(map(whole, (seed, run, sample, channel)))
    if not any(isinstance(k, Expr) or getattr(k, "dtype", None) == object for k in keys):
        return OPS["uniform"].numeric(*np.broadcast_arrays(*keys))[()]
    places = np.broadcast(*(np.asarray(k, dtype=object) for k in keys))
    trace = next(e.trace for place in places for e in place if isinstance(e, Expr))
    places.reset()
    out = np.empty(places.size, dtype=object)
    out[:] = [rules.uniform(*(rules.number(trace, e) for e in place)) for place in places]
    return out.reshape(places.shape)[()]


# Rational approximations of the inverse normal distribution, relative error 1e-16 (M. J. Wichura, AS 241, 1988).
_CENTRE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
_TAIL = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
_FAR = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
     0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
)  # fmt: skip


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], r: Any) -> Any:
    """Numerator over denominator, both by Horner's rule."""
    values = []
    for row in coefficients:
        value: Any = row[0]
        for c in row[1:]:
            value = value * r + c
        values.append(value)
    return values[0] / values[1]


def normal(seed: Any, run: Any = 0, sample: Any = 0, channel: Any = 0) -> Any:
    """A standard normal number for four integers, broadcast: the inverse normal distribution at `uniform(...)`."""
    u = uniform(seed, run, sample, channel)
    if not (isinstance(u, np.ndarray) and u.dtype == object):
        return _quantile(u)
    out = np.empty(u.shape, dtype=object)
    out.reshape(-1)[:] = [_quantile(e) for e in u.reshape(-1)]  # NumPy makes truth values of comparisons of objects
    return out


def _quantile(u: Any) -> Any:
    d = u - 0.5
    central = d * _ratio(_CENTRE, 0.180625 - d * d)
    tail = sqrt(-log(where(d < 0.0, u, 1.0 - u)))
    outer = where(tail <= 5.0, _ratio(_TAIL, tail - 1.6), _ratio(_FAR, tail - 5.0))
    return where(d * d <= 0.180625, central, where(d < 0.0, -outer, outer))
