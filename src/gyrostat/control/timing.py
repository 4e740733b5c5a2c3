"""How far along a path, over time: from 0 to 1, from rest to rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..algebra import clip, maximum, minimum, where


class Timing(NamedTuple):
    """How far along a path, from 0 to 1, with its first and second derivative by time."""

    s: Any
    rate: Any
    acceleration: Any


@dataclass(frozen=True)
class MinimumJerk:
    """From rest to rest in `duration`, from `start` on: s = 10 u^3 - 15 u^4 + 6 u^5, the path of least squared jerk.

    Flash & Hogan (1985). Largest rate 15/8 / T, largest acceleration 10/sqrt(3) / T^2.
    """

    duration: float
    start: float = 0.0

    PEAK_RATE = 15 / 8
    PEAK_ACCELERATION = 10 / 3**0.5

    def __call__(self, t: Any) -> Timing:
        T = self.duration
        u = clip((t - self.start) / T, 0.0, 1.0)
        s = u * u * u * (10.0 + u * (6.0 * u - 15.0))
        rate = 30.0 * u * u * (1.0 - u) * (1.0 - u) / T
        return Timing(s, rate, 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / (T * T))

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return (self.start, self.start + self.duration)


@dataclass(frozen=True)
class Trapezoidal:
    """Constant acceleration for `ramp` seconds, constant rate, constant deceleration; from rest to rest in `duration`.

    Peak rate 1 / (T - ramp), peak acceleration 1 / (ramp (T - ramp)).
    """

    duration: float
    ramp: float
    start: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.ramp <= self.duration / 2:
            raise ValueError(f"ramp is {self.ramp} s; expected more than 0 and at most half of {self.duration} s.")

    def __call__(self, t: Any) -> Timing:
        T, r = self.duration, self.ramp
        a = 1.0 / (r * (T - r))
        u = clip(t - self.start, 0.0, T)
        up, down = minimum(u, r), maximum(u - (T - r), 0.0)
        cruise = maximum(minimum(u, T - r) - r, 0.0)
        rate = a * (up - down)
        s = a * (0.5 * up * up + r * cruise + r * down - 0.5 * down * down)
        inside = where(t >= self.start, where(t < self.start + T, 1.0, 0.0), 0.0)
        return Timing(s, rate, a * inside * (where(u < r, 1.0, 0.0) - where(u >= T - r, 1.0, 0.0)))

    @property
    def breakpoints(self) -> tuple[float, ...]:
        t, T, r = self.start, self.duration, self.ramp
        return (t, t + r, t + T - r, t + T)
