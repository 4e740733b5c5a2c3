"""What an instrument makes of the truth: one chain of errors for all of them.

A reading is a function of (state, seed, run, sample): the same in any batch, traced or not. Each instrument has its own
channel of noise, by the name of the craft and what it reads there, so that no two of them are noisy in the same way
unless they are told to be.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from ..algebra import Array, clip, floor, where
from ..tracing import normal

CHANNELS = 1000  # numbers that one sensor may draw at one sample


@dataclass(frozen=True)
class Place:
    """Where in a campaign a reading is taken: noise depends on nothing else."""

    seed: Any = 0
    run: Any = 0
    sample: Any = 0


@dataclass(frozen=True, eq=False)
class Imperfection:
    """What is read of what is true. Numbers, or one per component:

        y = (1 + scale) true + bias + b_run + b_walk + noise n                                                    (1)
        y <- y held within +-limit, rounded to a multiple of `quantum` (0: not rounded)                           (2)
        b_run = first_bias n, drawn once by each run;  b_walk <- b_walk + walk sqrt(period) n at each sample       (3)

    with n standard normal. Then it goes on its way: read at every `every`-th sample, lost with the probability `lost`,
    arriving `delay` s later, a whole number of samples. What has not arrived leaves the last reading as it was.

    channel: a number or a name; sensors of the same channel have the same noise. By default every sensor has its own.
    """

    bias: Any = 0.0
    noise: Any = 0.0
    quantum: float = 0.0
    channel: int | str | None = None
    scale: Any = 0.0
    limit: Any = np.inf
    first_bias: Any = 0.0
    walk: Any = 0.0
    delay: float = 0.0
    every: int = 1
    lost: float = 0.0

    def __post_init__(self) -> None:
        for key in ("noise", "quantum", "first_bias", "walk", "delay"):
            number = np.asarray(getattr(self, key))
            if not np.all((number >= 0) & (number < np.inf)):
                raise ValueError(f"imperfection: {key} is {getattr(self, key)}; expected numbers, none below zero.")
        if not 0.0 <= self.lost < 1.0:
            raise ValueError(f"imperfection: lost is {self.lost}; expected a probability, from 0 to below 1.")
        if self.every != int(self.every) or self.every < 1:
            raise ValueError(f"imperfection: every is {self.every}; expected a whole number of samples, 1 or more.")
        if not np.all(np.asarray(self.limit) > 0):
            raise ValueError(f"imperfection: limit is {self.limit}; expected more than zero.")

    @property
    def walks(self) -> bool:
        return bool(np.any(np.asarray(self.walk) != 0))

    @property
    def waits(self) -> bool:
        """Some samples have no reading of their own."""
        return self.delay > 0 or self.every > 1 or self.lost > 0

    def __call__(self, true: Array, place: Place, use: str = "", walked: Any = None) -> Array:
        """(1), (2). use: what is read and on which craft; names the channel, unless one was given. walked: b_walk."""
        if walked is None and self.walks:
            raise ValueError(
                f"{use or 'a reading'}: its bias walks, which takes a memory. Read it through Instruments(...)."
            )
        value = true + self.bias
        if np.any(np.asarray(self.scale) != 0):
            value = value + self.scale * true
        if np.any(np.asarray(self.first_bias) != 0):
            once = Place(place.seed, place.run, 0)
            value = value + self.first_bias * self.noises(len(true), once, use, "first bias")
        if walked is not None:
            value = value + walked
        if np.any(np.asarray(self.noise) != 0):
            value = value + self.noise * self.noises(len(true), place, use)
        if np.any(np.isfinite(self.limit)):
            value = clip(value, -np.asarray(self.limit), np.asarray(self.limit))
        return value if self.quantum == 0 else self.quantum * floor(value / self.quantum + 0.5)

    def walked_on(self, walked: Array, period: float, place: Place, use: str = "") -> Array:
        """b_walk one sample later. (3)"""
        return walked + self.walk * np.sqrt(period) * self.noises(len(walked), place, use, "walk")

    def taken(self, place: Place, use: str = "") -> Any:
        """1.0 where a reading is taken at this sample and not lost, else 0.0."""
        here: Any = 1.0
        if self.every > 1:
            here = where((place.sample + 0.5) % self.every < 1.0, 1.0, 0.0)
        if self.lost > 0:
            here = here * where(self.noises(1, place, use, "lost")[0] < NormalDist().inv_cdf(self.lost), 0.0, 1.0)
        return here

    def samples_late(self, period: float, use: str = "") -> int:
        late = self.delay / period
        if abs(late - round(late)) > 1e-9 * max(late, 1.0):
            raise ValueError(
                f"{use}: its delay of {self.delay:g} s is {late:g} samples of {period:g} s; expected a whole number."
            )
        return round(late)

    def noises(self, count: int, place: Place, use: str = "", what: str = "") -> Array:
        """Standard normal numbers, (count,). what: of several draws at one sample."""
        if count > CHANNELS:
            raise ValueError(f"a sensor draws {count} numbers at once; at most {CHANNELS}.")
        channel = use if self.channel is None else self.channel
        channels = channel_number(f"{channel}: {what}" if what else channel) * CHANNELS + np.arange(count)
        return np.array([normal(place.seed, place.run, place.sample, float(c)) for c in channels])


PERFECT = Imperfection()


def channel_number(channel: int | str) -> int:
    """Of a channel by name: the same everywhere, below 2^40 so that its numbers stay exact as floats, above those that
    people choose.
    """
    if not isinstance(channel, str):
        return int(channel)
    return 1_000_000 + int.from_bytes(hashlib.sha256(channel.encode()).digest()[:5], "big") % (2**40 - 1_000_000)


def biased_walk(bias: Array, walk: float, period: float, place: Place, channel: int | str = "gyro bias") -> Array:
    """A gyro's bias one sample later: a random walk of `walk` rad/s per sqrt(s). Keep it in a Controller's memory,
    (3,).

    channel: a number or a name of its own for each gyro that walks.
    """
    return bias + walk * np.sqrt(period) * Imperfection(channel=channel).noises(3, place)
