"""What one joint is to do over time: go through waypoints, turn at given rates, or hold. Plain functions of t that can
be traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..algebra import clip, maximum, where
from .references import JointReference


@dataclass(frozen=True)
class Waypoints:
    """Through `positions` at `times`, at rest in each, with smooth accelerations between; from `start` at time `begin`.

    Between two waypoints, T apart, with u = (t - t_k) / T held within 0 and 1:

        q = q_k + (q_{k+1} - q_k) (10 u^3 - 15 u^4 + 6 u^5)          (1)

    whose rate and acceleration vanish at both ends.
    """

    times: tuple[float, ...]
    positions: tuple[float, ...]
    start: float = 0.0
    begin: float = 0.0

    def __post_init__(self) -> None:
        _check_times(self.times, self.positions, "positions")
        if self.times and self.times[0] <= self.begin:
            raise ValueError(f"the first waypoint is at {self.times[0]} s; expected a time after {self.begin} s.")

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Where the third derivative jumps."""
        return self.times

    def __call__(self, t: Any) -> JointReference:
        q: Any = self.start
        rate: Any = 0.0
        acceleration: Any = 0.0
        since, before = self.begin, self.start
        for until, after in zip(self.times, self.positions, strict=True):
            T, step = until - since, after - before
            u = clip((t - since) / T, 0.0, 1.0)
            q = q + step * (u * u * u * (10.0 + u * (6.0 * u - 15.0)))  # (1)
            rate = rate + step / T * (30.0 * u * u * (1.0 - u) * (1.0 - u))
            acceleration = acceleration + step / T**2 * (60.0 * u * (1.0 - u) * (1.0 - 2.0 * u))
            since, before = until, after
        return JointReference(q, rate, acceleration)


@dataclass(frozen=True)
class Rates:
    """Rates that jump at `times` and are constant between; before the first one the joint rests at `start`."""

    times: tuple[float, ...]
    rates: tuple[float, ...]
    start: float = 0.0

    def __post_init__(self) -> None:
        _check_times(self.times, self.rates, "rates")

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return self.times

    def __call__(self, t: Any) -> JointReference:
        q: Any = self.start
        rate: Any = 0.0
        for time, jump in zip(self.times, np.diff(self.rates, prepend=0.0), strict=True):
            q = q + jump * maximum(t - time, 0.0)
            rate = rate + jump * where(t >= time, 1.0, 0.0)
        return JointReference(q, rate, 0.0)


def steps(times: Sequence[float], values: Any) -> Callable[[Any], Any]:
    """values (k, n) that hold from each time to the next, zero before the first: a load that is switched."""
    jumps = np.diff(np.asarray(values, dtype=float), axis=0, prepend=np.zeros((1, np.shape(values)[1])))

    def value(t: Any) -> Any:
        total: Any = np.zeros(jumps.shape[1])
        for time, jump in zip(times, jumps, strict=True):
            total = total + jump * where(t >= time, 1.0, 0.0)
        return total

    return value


def _check_times(times: Sequence[float], values: Sequence[float], what: str) -> None:
    if len(times) != len(values):
        raise ValueError(f"{len(times)} times and {len(values)} {what}; expected as many of both.")
    for early, late in pairwise(times):
        if not early < late:
            raise ValueError(f"times must increase; found {early} s followed by {late} s.")
