"""Which dispersion drives which outcome: rank correlations, and shares of variance (Sobol indices)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..algebra import Array
from .statistics import Interval


class Driver(NamedTuple):
    """Spearman's rank correlation; chance: how likely so much would be if there were none."""

    name: str
    correlation: float
    chance: float


class Index(NamedTuple):
    """Share of the variance: alone, and with all it acts together with."""

    name: str
    first: Interval
    total: Interval


def drivers(values: Mapping[str, Array], outcome: Array) -> list[Driver]:
    """Strongest first. Runs that failed are left out; values that are the same everywhere, too."""
    from scipy.stats import rankdata, t

    there = ~np.isnan(outcome)
    n = int(there.sum())
    if n < 4:
        return []
    wanted = _standard(rankdata(outcome[there]))
    found = []
    for name, x in values.items():
        ranks = _standard(rankdata(x[there]))
        if ranks is None or wanted is None:
            continue
        r = float(np.clip(ranks @ wanted / n, -1.0, 1.0))
        strength = abs(r) * math.sqrt((n - 2) / max(1e-300, 1.0 - r * r))
        found.append(Driver(name, r, float(2.0 * t.sf(strength, n - 2))))
    return sorted(found, key=lambda one: -abs(one.correlation))


def _standard(ranks: Array) -> Array | None:
    spread = ranks.std()
    return None if spread == 0 else (ranks - ranks.mean()) / spread


def indices(names: Sequence[str], outcome: Array, confidence: float) -> list[Index]:
    """From Saltelli's groups of runs: A, B, and A with one name's numbers of B. With y = f(A) and so on:

        V_i = mean(f(B) (f(AB_i) - f(A))),  T_i = mean((f(A) - f(AB_i))^2) / 2

    Saltelli et al. (2010), table 2 (b) and (f); intervals by the normal limit of the ratio. Groups in which a run
    failed are left out.
    """
    from scipy.special import ndtri

    size = len(names) + 2
    groups = outcome[: len(outcome) // size * size].reshape(-1, size)
    groups = groups[np.isfinite(groups).all(axis=1)]
    if len(groups) < 8:
        raise ValueError(f"Sobol indices need at least 8 whole groups of {size} runs; {len(groups)} there are.")
    A, B = groups[:, 0], groups[:, 1]
    middle = 0.5 * (A.mean() + B.mean())
    A, B = A - middle, B - middle
    squares = 0.5 * (A * A + B * B)
    variance = float(squares.mean())
    z = float(ndtri(0.5 + 0.5 * confidence))
    found = []
    for i, name in enumerate(names):
        AB = groups[:, 2 + i] - middle
        parts = (B * (AB - A), 0.5 * (A - AB) ** 2)
        intervals = []
        for part in parts:
            share = float(part.mean()) / variance if variance > 0 else math.nan
            error = (
                z * float(np.std(part - share * squares)) / (variance * math.sqrt(len(A))) if variance > 0 else math.nan
            )
            intervals.append(Interval(share, share - error, share + error))
        found.append(Index(name, *intervals))
    return found
