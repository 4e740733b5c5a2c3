"""Several sensors: what a law gets to see in place of the state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._warned import warn_user
from ..algebra import Array, is_zero, quat_conjugate, quat_from_rotation, quat_multiply
from ..model import Spacecraft
from .controller import Controller, call, standing_for
from .demands import demand_one
from .imperfection import Imperfection, Place
from .sensor import AbstractSensor, Reading, Sampled
from .sensors import Encoders, RateGyro, StarTracker, Tachometers, single_coordinates


@dataclass(frozen=True, eq=False)
class Instruments:
    """What is read at each sample in place of the true state. Whatever has no sensor is passed on as it is.

    For one spacecraft, on a base of any kind; a sensor of something that the base does not have is refused. more: other
    sensors, whose readings a law asks for by their names. estimator: what makes of all readings the state that the law
    sees; it comes last.
    """

    tracker: StarTracker | None = None
    gyro: RateGyro | None = None
    encoders: Encoders | None = None
    tachometers: Tachometers | Imperfection | None = None  # on the rates of joints and wheels: all but the base's
    more: Sequence[AbstractSensor] = ()
    estimator: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.tachometers, Imperfection):
            object.__setattr__(self, "tachometers", Tachometers(self.tachometers))
        names = [sensor.name for sensor in self.sensors]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(
                f"Instruments: two of them are called '{min(twice)}', and would be noisy in the same way. Give "
                "each a name= of its own."
            )

    @property
    def sensors(self) -> tuple[AbstractSensor, ...]:
        own = (self.tracker, self.gyro, self.encoders, self.tachometers)
        return (*(one for one in own if isinstance(one, AbstractSensor)), *self.more)

    def read(self, craft: Spacecraft, q: Array, v: Array, place: Place, t: Any = 0.0) -> tuple[Array, Array]:
        """q and v as the controller sees them, by sensors that keep nothing from sample to sample."""
        return self.seen(craft, q, v, {s.name: Reading(s(craft, q, v, place, t), 1.0) for s in self.sensors})

    def seen(self, craft: Spacecraft, q: Array, v: Array, readings: dict[str, Reading]) -> tuple[Array, Array]:
        """q and v with what is read in place of what is true."""
        if self.tracker or self.gyro or self.encoders or self.tachometers:
            demand_one(craft, "Instruments")
        base = craft.joints[0]
        seen_q, seen_v = list(q), list(v)

        def put(seen: list[Any], at: Any, values: Array) -> None:
            for k, value in zip(at, values, strict=True):
                seen[k] = value

        if self.tracker is not None:
            if base.motion.quaternion is None:
                raise ValueError(
                    f"a star tracker reads an attitude; q of {craft.name} holds none, for its base is {base.kind}. "
                    "Leave the tracker out."
                )
            at = range(craft.nq)[base.q_at][base.motion.quaternion]
            mounted = quat_conjugate(quat_from_rotation(base.rotation))
            put(seen_q, at, quat_multiply(mounted, readings[self.tracker.name].value))
        if self.gyro is not None:
            put(seen_v, range(base.nv), _base_rates(craft, self.gyro, q, v, readings[self.gyro.name].value))
        if self.encoders is not None:
            put(seen_q, single_coordinates(craft), readings[self.encoders.name].value)
        if self.tachometers is not None:
            put(seen_v, range(base.nv, craft.nv), readings[self.tachometers.name].value)  # type: ignore[union-attr]
        return np.array(seen_q), np.array(seen_v)

    def controller(self, law: Any, period: float | None = None, craft: Spacecraft | None = None) -> Controller:
        """The law, fed with readings every `period` seconds, its output held in between.

        law: a function (craft, t, q, v) -> tau, or a sampled Controller, whose period it is. What it asks for by name
        it gets, readings among them: `Reading(value, fresh)`. craft: whose they are; asked for where an instrument or
        an estimator keeps a memory.
        """
        if not isinstance(law, Controller):
            law = Controller(law, period=demand_period(period, "Instruments.controller"))
        elif not law.sampled or period not in (None, law.period):
            own = "acts at all times" if not law.sampled else f"is sampled every {law.period:g} s"
            raise ValueError(
                f"Instruments.controller: the law {own}; readings come "
                f"{'with its samples' if law.sampled else 'at samples'}. "
                f"{'Leave period= out.' if law.sampled else 'Give it update= and period= in place of derivative=.'}"
            )
        return _Fed(self, law, craft).controller()

    def memory(self, craft: Spacecraft, period: float) -> dict[str, tuple[Sampled, slice]]:
        """Of each sensor, by name: where in the memory that follows the law's own it keeps what."""
        found, end = {}, 0
        for sensor in self.sensors:
            sampled = Sampled(sensor, craft, period)
            found[sensor.name] = (sampled, slice(end, end + sampled.size))
            end += sampled.size
        return found

    def arrivals(self, memory: Any, craft: Spacecraft, period: float, own: int = 0) -> dict[str, Any]:
        """How many readings have arrived, by name of the sensor, of a memory (..., n), such as that of the last saved
        time, `trajectory.data["held_z"].values[..., -1, :]`; sensors that read at every sample are not counted. A
        warning tells those from which nothing ever came. own: size of the law's own memory.
        """
        z, counts = np.asarray(memory, dtype=float)[..., own:], {}
        for name, (sampled, at) in self.memory(craft, period).items():
            count = sampled.count(z[..., at])
            if count is not None:
                counts[name] = count
                if not np.all(count):
                    warn_user(
                        f"sensor '{name}' of {craft.name}: nothing was in its field of view at any sample"
                        f"{f' of {int(np.sum(count == 0))} runs' if np.ndim(count) else ''}; what was seen of it is "
                        "the reading of the start."
                    )
        return counts


class _Fed:
    """A law behind instruments: its memory, then that of the sensors, then that of the estimator."""

    def __init__(self, instruments: Instruments, law: Controller, craft: Spacecraft | None) -> None:
        self.instruments, self.law = instruments, law
        sensors = instruments.sensors
        keeps = instruments.estimator is not None or any(
            s.imperfection.walks or s.imperfection.waits or craft is None and _may_keep(s) for s in sensors
        )
        if craft is None and keeps:
            raise TypeError(
                "Instruments.controller: an instrument (or the estimator) keeps a memory, whose size the craft tells. "
                "Give craft=."
            )
        period = law.period or 0.0
        self.parts = {} if craft is None else instruments.memory(craft, period)
        size = max((at.stop for _, at in self.parts.values()), default=0)
        own = law.state0.size
        self.own, self.at = slice(0, own), slice(own, own + size)
        self.rest = slice(own + size, None)
        starts = [law.state0, np.zeros(size)]
        if instruments.estimator is not None and craft is not None:
            starts.append(np.asarray(instruments.estimator.start(craft, period), dtype=float))
        self.start = np.concatenate(starts)

    def controller(self) -> Controller:
        law = self.law
        if len(self.start) == len(law.state0):
            update = None if law.update is None else self._wrapped(law.update, False)
            return replace(law, output=self._wrapped(law.output, False), update=update)
        output, update = self._wrapped(law.output, True), self._update()
        return replace(law, output=output, update=update, state0=self.start, tells=self._tells())

    def _tells(self) -> Any:
        """What the estimator does, and the law's own, which stands before it."""
        estimator, own = self.instruments.estimator, self.law.tells
        if estimator is None or not hasattr(estimator, "judged"):
            return None if own is None else lambda craft, q, v, z: own(craft, q, v, z[:, self.own])

        def tells(craft: Spacecraft, q: Array, v: Array, z: Array) -> list[Any]:
            rows = list(estimator.judged(craft, q, v, z[:, self.rest]))
            return rows + (list(own(craft, q, v, z[:, self.own])) if own is not None else [])

        return tells

    def sense(self, craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, place: Place) -> Any:
        """Readings by name, the state that the law sees, and the memory of sensors and estimator after the sample."""
        readings, memory = {}, []
        for sensor in self.instruments.sensors:
            if sensor.name not in self.parts:
                readings[sensor.name] = Reading(sensor(craft, q, v, place, t), 1.0)
                continue
            sampled, at = self.parts[sensor.name]
            readings[sensor.name], kept = sampled.read(craft, t, q, v, z[self.at][at], place)
            memory += list(kept)
        seen = self.instruments.seen(craft, q, v, readings)
        estimator = self.instruments.estimator
        if estimator is not None:
            after = estimator.step(craft, t, *seen, z[self.rest], readings, place.sample, self.law.period)
            seen = estimator.seen(craft, *seen, after)
            memory += list(after)
        return readings, seen, np.array(memory)

    def _wrapped(self, function: Callable[..., Any], remembers: bool) -> Any:
        def reading(
            craft: Spacecraft,
            t: Any,
            q: Array,
            v: Array,
            *memory: Array,
            run: Any,
            sample: Any,
            seed: Any,
            **asked: Any,
        ) -> Any:
            z = memory[0] if remembers else np.zeros(0)
            readings, seen, _ = self.sense(craft, t, q, v, z, Place(seed, run, sample))
            own = ((z[self.own],) if self.law.remembers else ()) if remembers else memory
            return call(
                function, (craft, t, *seen, *own), {"run": run, "sample": sample, "seed": seed} | asked | readings
            )

        names = (*self.law.given, "z") if remembers and not self.law.remembers else self.law.given
        return self._standing_for(reading, names, function)

    def _update(self) -> Any:
        law = self.law

        def update(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, **asked: Any) -> Array:
            readings, seen, after = self.sense(craft, t, q, v, z, _place(asked))
            own = z[self.own]
            if law.update is not None:
                own = np.asarray(call(law.update, (craft, t, *seen, own), asked | readings))
            return np.concatenate([own, after])

        names = (*law.given, "z") if not law.remembers else law.given
        return self._standing_for(update, names, law.output if law.update is None else law.update)

    def _standing_for(self, wrapper: Any, names: tuple[str, ...], function: Callable[..., Any]) -> Any:
        """Of what the function asks for by name, readings are there already."""
        standing_for(wrapper, names, (function, len(self.law.given)), (at_a_place, 0))
        there = {sensor.name for sensor in self.instruments.sensors}
        signature = wrapper.__signature__
        asked = [p for p in signature.parameters.values() if p.name not in there or p.name in names]
        wrapper.__signature__ = signature.replace(parameters=asked)
        return wrapper


def _place(asked: dict[str, Any]) -> Place:
    return Place(asked["seed"], asked["run"], asked["sample"])


def _may_keep(sensor: AbstractSensor) -> bool:
    """Whether it needs a craft to tell what it keeps."""
    blinded = getattr(sensor, "blinded", True)
    return (type(sensor).sees is not AbstractSensor.sees and blinded) or type(sensor).kept is not AbstractSensor.kept


def _base_rates(craft: Spacecraft, gyro: RateGyro, q: Array, v: Array, read: Array) -> Array:
    """The base's part of v, what turns it as the gyro reads it: H_w^T w, where the columns of H_w (3, nv) are at
    right angles.
    """
    base = craft.joints[0]
    body, X_BF = craft.locate(gyro.frame)
    if body != craft.base:
        raise ValueError(f"the gyro sits on '{body}'; to read the base's rate it must sit on '{craft.base}'.")
    H_w = base.H(q)[:3]
    turns = [k for k in range(base.nv) if not all(is_zero(x) for x in H_w[:, k])]
    if not turns or not base.motion.constant_map:  # which move on: they need not stay at right angles
        raise ValueError(
            f"a gyro cannot tell the rates of a base that is {base.kind}, as that of {craft.name} is. Leave the "
            "gyro out."
        )
    w = X_BF.R @ read
    given = dict(zip(turns, H_w[:, turns].T @ w, strict=True))
    return np.array([given.get(k, x) for k, x in enumerate(base.rate(v))])


def demand_period(period: float | None, who: str) -> float:
    if period is None:
        raise TypeError(f"{who}: give period= in seconds: how often the law is sampled.")
    return period


def at_a_place(*, run: Any, sample: Any, seed: Any) -> None:
    """What a reading asks for by name."""
