"""An instrument: what it measures, what its imperfection makes of that, and what it keeps from sample to sample."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, where
from ..kinematics import neutral
from ..model import Spacecraft
from .imperfection import Imperfection, Place


class Reading(NamedTuple):
    value: Array  # (n,) the last that arrived
    fresh: Any  # 1.0 where it arrived at this sample, 0.0 where it is an older one


class AbstractSensor:
    """truth(craft, t, q, v) -> (m,) goes through the imperfection; value(craft, t, q, v, read) -> (n,) is the reading.

    sees(craft, t, q, v) -> 1.0 or 0.0: whether there is anything to read; None: always. kept(craft, t, q, v) -> (k,):
    of an instrument that compares two samples, what its truth is given of the sample before: truth(..., before,
    period). name: laws and estimators ask for the reading by it.
    """

    name: str
    imperfection: Imperfection

    def truth(self, craft: Spacecraft, t: Any, q: Array, v: Array, *before: Any) -> Array:
        raise NotImplementedError

    def value(self, craft: Spacecraft, t: Any, q: Array, v: Array, read: Array) -> Array:
        return read

    def sees(self, craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        return None

    def kept(self, craft: Spacecraft, t: Any, q: Array, v: Array) -> Array | None:
        return None

    def check(self, craft: Spacecraft) -> None:
        """Raise where the craft is such that nothing will ever be read."""

    def use(self, craft: Spacecraft) -> str:
        """Names the channel of its noise."""
        return f"{craft.name}: {self.name}"

    def __call__(self, craft: Spacecraft, q: Array, v: Array, place: Place, t: Any = 0.0) -> Array:
        """One reading, of an instrument that keeps nothing from sample to sample."""
        self.demand_no_memory(craft)
        return self.value(craft, t, q, v, self.imperfection(self.truth(craft, t, q, v), place, self.use(craft)))

    def demand_no_memory(self, craft: Spacecraft) -> None:
        if self.imperfection.walks or self.imperfection.waits or self.looks(craft) or self.compares(craft):
            raise ValueError(
                f"{self.use(craft)} keeps a memory from sample to sample (walk, delay, every, lost, a field of view). "
                "Read it through Instruments(...).controller(law, period, craft=craft)."
            )

    def looks(self, craft: Spacecraft) -> bool:
        """Whether there are states in which it sees nothing."""
        return type(self).sees is not AbstractSensor.sees

    def compares(self, craft: Spacecraft) -> bool:
        return type(self).kept is not AbstractSensor.kept


class Sampled:
    """A sensor on a craft, sampled every `period` s: where in a memory z (size,) it keeps what.

    [b_walk (m)] [kept (k)] [late times: value (n), taken] [last value (n), how many arrived]: each where there is one.
    """

    def __init__(self, sensor: AbstractSensor, craft: Spacecraft, period: float) -> None:
        sensor.check(craft)
        self.sensor, self.period = sensor, period
        q, v = neutral(craft), np.zeros(craft.nv)
        kept = sensor.kept(craft, 0.0, q, v)
        before = () if kept is None else (kept, period)
        true = sensor.truth(craft, 0.0, q, v, *before)
        n = len(sensor.value(craft, 0.0, q, v, true))
        self.errors, self.n = len(true) if sensor.imperfection.walks else 0, n
        self.kept = 0 if kept is None else len(kept)
        self.late = sensor.imperfection.samples_late(period, sensor.use(craft))
        self.holds = sensor.imperfection.waits or sensor.looks(craft)
        self.size = self.errors + self.kept + (self.late * (n + 1) + n + 1 if self.holds else 0)

    def read(self, craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, place: Place) -> tuple[Reading, Array]:
        """The reading at this sample, and the memory after it. Before the first one arrives, what stands there is the
        reading of the first sample, which is not fresh.
        """
        s, imperfection, use = self.sensor, self.sensor.imperfection, self.sensor.use(craft)
        first = place.sample < 0.5
        memory: list[Any] = []
        walked, z = (z[: self.errors] if self.errors else None), z[self.errors :]
        if walked is not None:
            memory += list(imperfection.walked_on(walked, self.period, place, use))
        before: tuple[Any, ...] = ()
        if self.kept:
            now = np.asarray(s.kept(craft, t, q, v))
            before = (chosen(first, now, z[: self.kept]), self.period)
            memory, z = memory + list(now), z[self.kept :]
        value = s.value(craft, t, q, v, imperfection(s.truth(craft, t, q, v, *before), place, use, walked))
        if not self.holds:
            return Reading(value, 1.0), np.array(memory)
        seen = s.sees(craft, t, q, v)
        taken = imperfection.taken(place, use) * (1.0 if seen is None else seen)
        reading, rest = self._arrived(value, taken, z, first)
        return reading, np.array(memory + rest)

    def _arrived(self, value: Array, taken: Any, z: Array, first: Any) -> tuple[Reading, list[Any]]:
        """What is on its way moves on by a sample; the last that arrived stays where nothing does."""
        n, late = self.n, self.late
        entering = np.concatenate([value, [taken]])
        if late:
            none_yet = np.concatenate([value, [0.0]])
            way = chosen(first, np.concatenate([none_yet] * late), z[: late * (n + 1)])
            arriving, way = way[: n + 1], np.concatenate([way[n + 1 :], entering])
        else:
            arriving, way = entering, np.zeros(0)
        last, count = z[late * (n + 1) : -1], where(first, 0.0, z[-1])
        held = chosen(first, value, last)
        shown = chosen(arriving[n] > 0.5, arriving[:n], held)
        return Reading(shown, arriving[n]), [*way, *shown, count + arriving[n]]

    def count(self, z: Array) -> Any:
        """How many readings have arrived, of the memory z (..., size); None of one that always reads."""
        return z[..., -1] if self.holds else None


def chosen(condition: Any, yes: Array, no: Array) -> Array:
    """One of two arrays, whole."""
    return np.array([where(condition, a, b) for a, b in zip(yes, no, strict=True)])
