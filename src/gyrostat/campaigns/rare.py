"""Rare failures: the probability that an outcome passes a limit, by splitting (subset simulation).

The failure is reached over levels, each passed by a tenth of the runs before. Au and Beck (2001); the moves are those
of Papaioannou, Betz, Zwirglmaier and Straub (2015): in the space of independent normal numbers behind the dispersions,

    z' = rho z + sqrt(1 - rho^2) w,  w normal,  taken if the outcome is still beyond the level
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array
from .plan import plan_of
from .sampling import stream_key

SHARE = 0.1  # of the runs that found the next level
MOST_LEVELS = 30
RHO = 0.8


class RareEvent(NamedTuple):
    """probability, and its coefficient of variation, estimated from within; runs that it took; levels passed."""

    probability: float
    variation: float
    runs: int
    levels: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.probability:.3g} (standard deviation {100 * self.variation:.0f} % of it), from {self.runs} runs"


def rare_event(
    system: Any,
    dispersions: Mapping[Any, Any],
    *,
    outcome: Any,
    above: float,
    runs: int = 1000,
    seed: int | None = None,
    q0: Any = None,
    v0: Any = None,
    t_span: Any = None,
    **options: Any,
) -> RareEvent:
    """How likely the outcome is above a limit. runs: of each level; a probability of 1e-6 takes seven levels.

    A run that failed counts as beyond every level. What is dispersed and how is told as in `gs.campaign`.
    """
    plan = plan_of(
        system,
        dispersions,
        runs,
        seed=seed,
        sampling="random",
        outcomes=outcome,
        t_span=t_span,
        q0=q0,
        v0=v0,
        options=options,
    )
    if len(plan.outcomes) != 1 or not math.isfinite(above):
        raise ValueError("rare_event takes one outcome, and a finite limit `above`.")
    if runs < 50:
        raise ValueError(f"runs is {runs}; expected at least 50 in each level.")

    def outcome_of(z: Array) -> Array:
        from scipy.special import ndtr

        u = np.clip(ndtr(z), 1e-300, 1.0 - 2.0**-53)
        found = plan.block_of(0, len(z), plan.values(0, len(z), u)).outcomes[:, 0]
        return np.where(np.isnan(found), math.inf, found)

    return split(outcome_of, len(plan.columns), above, runs, plan.seed)


def split(outcome_of: Callable[[Array], Array], dimensions: int, limit: float, runs: int, seed: int) -> RareEvent:
    """Of a function of independent normal numbers (n, dimensions) -> (n,)."""
    random = np.random.Generator(np.random.Philox(key=stream_key(seed, "rare")))
    z = random.normal(size=(runs, dimensions))
    y = outcome_of(z)
    made, probability, variance = runs, 1.0, 0.0
    levels: list[float] = []
    chains = np.arange(runs)  # from which seed each run of a level comes
    while True:
        level = float(np.sort(y)[int((1.0 - SHARE) * runs)])
        last = level >= limit or len(levels) == MOST_LEVELS
        level = min(level, limit) if last else level
        beyond = y > level if last else y >= level
        share = float(beyond.mean())
        if share == 0.0:
            return RareEvent(0.0, math.inf, made, tuple(levels))
        variance += (1.0 - share) / (share * runs) * (1.0 + _together(beyond, chains, share))
        probability *= share
        if last:
            reached = probability if level >= limit else 0.0
            return RareEvent(reached, math.sqrt(variance), made, (*levels, level))
        levels.append(level)
        z, y, chains, more = _grown(outcome_of, z[beyond], y[beyond], level, runs, random)
        made += more


def _together(beyond: Array, chains: Array, share: float) -> float:
    """How much the runs of a chain repeat each other: variance of the sum over that of independent runs, less one."""
    if len(np.unique(chains)) == len(chains):
        return 0.0
    sums = np.bincount(chains, weights=beyond - share)
    return max(0.0, float(np.sum(sums**2)) / (len(beyond) * share * (1.0 - share) + 1e-300) - 1.0)


def _grown(
    outcome_of: Callable[[Array], Array], z: Array, y: Array, level: float, runs: int, random: np.random.Generator
) -> tuple[Array, Array, Array, int]:
    """From the runs beyond a level to `runs` of them, by chains that start at each."""
    seeds = len(z)
    zs, ys, ids = [z], [y], [np.arange(seeds)]
    made = 0
    while sum(map(len, zs)) < runs:
        count = min(seeds, runs - sum(map(len, zs)))
        here, there = zs[-1][:count], ys[-1][:count]
        tried = RHO * here + math.sqrt(1.0 - RHO * RHO) * random.normal(size=here.shape)
        found = outcome_of(tried)
        taken = found >= level
        made += count
        zs.append(np.where(taken[:, None], tried, here))
        ys.append(np.where(taken, found, there))
        ids.append(np.arange(count))
    return np.concatenate(zs), np.concatenate(ys), np.concatenate(ids), made
