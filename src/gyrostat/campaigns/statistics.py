"""What a number of runs says about all that might be run: bounds that hold whatever the distribution is."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..algebra import Array


class Interval(NamedTuple):
    """A value, and where the truth is with the confidence asked for."""

    value: float
    low: float
    high: float


def _counts(hits: int, runs: int, confidence: float) -> None:
    if not 0 <= hits <= runs or runs < 1:
        raise ValueError(f"{hits} of {runs} runs; expected 0 <= hits <= runs, and one run at least.")
    _share(confidence, "confidence")


def _share(x: float, what: str) -> None:
    if not 0.0 < x < 1.0:
        raise ValueError(f"{what} is {x}; expected between 0 and 1, such as 0.95.")


def proportion(hits: int, runs: int, confidence: float = 0.95, *, method: str = "exact") -> Interval:
    """Of a probability, seen in `hits` of `runs` independent runs, both sides.

    method: "exact" (Clopper and Pearson 1934: covers at least as often as it says), "wilson" (1927: shorter; covers so
    often on average).

    Raises ValueError for another method.
    """
    _counts(hits, runs, confidence)
    if method == "exact":
        tail = 0.5 * (1.0 - confidence)
        return Interval(hits / runs, at_least(hits, runs, 1.0 - tail), at_most(hits, runs, 1.0 - tail))
    if method != "wilson":
        raise ValueError(f"method is {method!r}; expected exact or wilson.")
    from scipy.special import ndtri

    z, p = float(ndtri(0.5 + 0.5 * confidence)), hits / runs
    middle, scale = p + z * z / (2 * runs), 1.0 + z * z / runs
    half = z * math.sqrt(p * (1 - p) / runs + z * z / (4 * runs * runs))
    return Interval(p, max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale))


def at_least(hits: int, runs: int, confidence: float = 0.95) -> float:
    """The probability is above this, with this confidence: the exact one-sided bound."""
    from scipy.special import betaincinv

    _counts(hits, runs, confidence)
    return 0.0 if hits == 0 else float(betaincinv(hits, runs - hits + 1, 1.0 - confidence))


def at_most(hits: int, runs: int, confidence: float = 0.95) -> float:
    """The probability is below this, with this confidence."""
    from scipy.special import betaincinv

    _counts(hits, runs, confidence)
    return 1.0 if hits == runs else float(betaincinv(hits + 1, runs - hits, confidence))


def quantile(values: Array, share: float, confidence: float = 0.95) -> Interval:
    """Below which `share` of all runs are, by order statistics: no distribution is assumed. Infinite bounds where there
    are too few runs to have one.

    The number of values below the true quantile is binomial, so that two of the sorted values enclose it.
    """
    from scipy.stats import binom

    _share(share, "share")
    _share(confidence, "confidence")
    x = np.sort(np.asarray(values, dtype=float))
    n = len(x)
    if not n:
        return Interval(math.nan, -math.inf, math.inf)
    tail = 0.5 * (1.0 - confidence)
    low = int(binom.ppf(tail, n, share))  # P(below < low) <= tail
    high = int(binom.ppf(1.0 - tail, n, share))  # P(below > high) <= tail
    value = _between(x, share * (n - 1))
    return Interval(value, x[low - 1] if low > 0 else -math.inf, x[high] if high < n else math.inf)


def _between(x: Array, at: float) -> float:
    """Of sorted values; those that never came (infinite) stand alone."""
    k = int(at)
    a, b = x[k], x[min(k + 1, len(x) - 1)]
    return float(a) if a == b or at == k else float(a + (at - k) * (b - a))


def tolerance_bound(values: Array, share: float, confidence: float = 0.95) -> float:
    """Above which at most 1 - share of all runs are, with this confidence (Wilks 1941); infinite if there are too few
    runs: `runs_for` says how many it takes.
    """
    from scipy.stats import binom

    _share(share, "share")
    _share(confidence, "confidence")
    x = np.sort(np.asarray(values, dtype=float))
    k = int(binom.ppf(confidence, len(x), share)) if len(x) else 0  # P(below <= k) >= confidence
    return float(x[k]) if k < len(x) else math.inf


def runs_for(share: float, confidence: float = 0.95, failures: int = 0) -> int:
    """The least number of runs that can show `share` with this confidence, with so many failures among them."""
    from scipy.stats import binom

    _share(share, "share")
    _share(confidence, "confidence")
    low, high = failures, failures + 1
    while binom.cdf(failures, high, 1.0 - share) > 1.0 - confidence:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if binom.cdf(failures, middle, 1.0 - share) > 1.0 - confidence:
            low = middle
        else:
            high = middle
    return high
