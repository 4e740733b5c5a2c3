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
from .distributions import Rows
from .plan import plan_of
from .sampling import stream_key

OutcomeOf = Callable[[Array, Array], Array]
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
    law_knows: str = "nominal",
    **options: Any,
) -> RareEvent:
    """How likely the outcome is above a limit. runs: of each level; a probability of 1e-6 takes seven levels.

    A run that failed counts as beyond every level. What is dispersed and how is told as in `gs.campaign`.

    Raises ValueError for tables of rows, several outcomes, a limit that is not finite, or fewer than 50 runs a
    level.
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
        law_knows=law_knows,
    )
    of_tables = [names[0] for names, how in plan.dispersions.items() if isinstance(how, Rows)]
    if of_tables:
        raise ValueError(f"rare_event: {of_tables[0]} is taken from rows; splitting draws anew, from distributions.")
    if len(plan.outcomes) != 1 or not math.isfinite(above):
        raise ValueError("rare_event takes one outcome, and a finite limit `above`.")
    if runs < 50:
        raise ValueError(f"runs is {runs}; expected at least 50 in each level.")

    def outcome_of(z: Array, numbers: Array) -> Array:
        from scipy.special import ndtr

        u = np.clip(ndtr(z), 1e-300, 1.0 - 2.0**-53)
        found = plan.reduced(numbers, plan.values(0, len(z), u))[0][:, 0]
        return np.where(np.isnan(found), math.inf, found)

    return split(outcome_of, len(plan.columns), above, runs, plan.seed)


def split(outcome_of: OutcomeOf, dimensions: int, limit: float, runs: int, seed: int) -> RareEvent:
    """Of a function of independent normal numbers (n, dimensions) and of run numbers (n,), which sensor noise is a
    function of: -> (n,).
    """
    random = np.random.Generator(np.random.Philox(key=stream_key(seed, "rare")))
    z, numbers = random.normal(size=(runs, dimensions)), np.arange(runs)
    y = outcome_of(z, numbers)
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
        state = (z[beyond], numbers[beyond], y[beyond])
        z, numbers, y, chains = _grown(outcome_of, state, level, runs, made, random)
        made += runs - len(state[0])


def _together(beyond: Array, chains: Array, share: float) -> float:
    """How much the runs of a chain repeat each other: variance of the sum over that of independent runs, less one."""
    if len(np.unique(chains)) == len(chains):
        return 0.0
    sums = np.bincount(chains, weights=beyond - share)
    return max(0.0, float(np.sum(sums**2)) / (len(beyond) * share * (1.0 - share) + 1e-300) - 1.0)


def _grown(
    outcome_of: OutcomeOf,
    state: tuple[Array, Array, Array],
    level: float,
    runs: int,
    made: int,
    random: np.random.Generator,
) -> tuple[Array, Array, Array, Array]:
    """From the runs beyond a level to `runs` of them, by chains that start at each. A step keeps its run's noise or
    draws another, each half of the time.
    """
    z, numbers, y = state
    rows, ids = [state], [np.arange(len(z))]
    missing = runs - len(z)
    while missing > 0:
        count = min(len(z), missing)
        here, old, there = (part[:count] for part in rows[-1])
        tried = RHO * here + math.sqrt(1.0 - RHO * RHO) * random.normal(size=here.shape)
        noise = np.where(random.uniform(size=count) < 0.5, old, made + np.arange(count))
        found = outcome_of(tried, noise)
        taken = found >= level
        rows.append((np.where(taken[:, None], tried, here), np.where(taken, noise, old), np.where(taken, found, there)))
        ids.append(np.arange(count))
        made, missing = made + count, missing - count
    z, numbers, y = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return z, numbers, y, np.concatenate(ids)
