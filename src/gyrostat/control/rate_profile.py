"""Joint references of piecewise constant rates, as in Wilde et al. (2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, maximum, where
from .references import JointReference


@dataclass(frozen=True, eq=False)
class RateProfile:
    """Rates that jump at given times and are constant between; before the first time the joints rest at `start`.

    times: (k,) increasing; rates: (k, n), from each time to the next, the last for ever; start: (n,), zero by default.
    For joints whose rates are derivatives of their coordinates. The reference acceleration is zero (the jumps are
    impulses).
    """

    times: Array
    rates: Array
    start: Any = None  # (n,), zero by default

    def __post_init__(self) -> None:
        times, rates = np.asarray(self.times, dtype=float), np.asarray(self.rates, dtype=float)
        if times.ndim != 1 or rates.ndim != 2 or len(times) != len(rates):
            raise ValueError(f"times has shape {times.shape}, rates {rates.shape}; expected (k,) and (k, n).")
        if (np.diff(times) <= 0).any():
            at = int(np.flatnonzero(np.diff(times) <= 0)[0])
            raise ValueError(f"times must increase; found {times[at]} followed by {times[at + 1]}.")
        start = np.zeros(rates.shape[1]) if self.start is None else np.asarray(self.start, dtype=float)
        if start.shape != rates.shape[1:]:
            raise ValueError(f"start has shape {start.shape}; expected {rates.shape[1:]}, one value per joint.")
        for name, value in (("times", times), ("rates", rates), ("start", start)):
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.rates.shape[1]

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Where rates jump: an integrator must stop there."""
        return tuple(self.times[np.any(self.jumps, axis=1)])

    @property
    def jumps(self) -> Array:
        """Change of rate at each time, (k, n)."""
        return np.diff(self.rates, axis=0, prepend=np.zeros((1, self.n)))

    def __call__(self, t: Any) -> JointReference:
        q: Array = self.start
        qdot: Array = np.zeros(self.n)
        for time, jump in zip(self.times, self.jumps, strict=True):
            q = q + jump * maximum(t - time, 0.0)
            qdot = qdot + jump * where(t >= time, 1.0, 0.0)
        return JointReference(q, qdot, np.zeros(self.n))


def one_joint_at_a_time(
    n: int, *, rate: float = 0.1, move: float = 10.0, rest: float = 2.0, period: float | None = None
) -> RateProfile:
    """The paper's manoeuvre: each joint in turn goes out at `rate`, rests, goes back twice as far, rests, and returns.

    One joint takes `4 move + 2 rest` = 44 s; `period` is the time from one joint's start to the next one's (the paper
    does not state it; 44 s, without a pause, by default).

    Raises ValueError for a period shorter than one cycle.
    """
    cycle = np.array([0.0, move, move + rest, 3 * move + rest, 3 * move + 2 * rest, 4 * move + 2 * rest])
    rates = np.array([rate, 0.0, -rate, 0.0, rate, 0.0])
    period = float(cycle[-1]) if period is None else period
    if period < cycle[-1]:
        raise ValueError(f"period is {period} s; expected at least the {cycle[-1]} s of one joint's cycle.")
    jumps: dict[float, Array] = {}
    for joint in range(n):
        for time, jump in zip(cycle + joint * period, np.diff(rates, prepend=0.0), strict=True):
            jumps[float(time)] = jumps.get(float(time), np.zeros(n)) + jump * np.eye(n)[joint]
    times = sorted(jumps)
    return RateProfile(np.array(times), np.cumsum([jumps[time] for time in times], axis=0))
