"""Sensors that a scenario file can name: [sensors.gyro] and so on, and what a law then sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model import Spacecraft
from ..model.entries import Angle, AngularRate, Registry, Three, Time, key
from .imperfection import Imperfection
from .instruments import Instruments
from .sensors import Encoders, RateGyro, StarTracker, Tachometers

SENSORS = Registry("sensors")


@dataclass(frozen=True, kw_only=True)
class Chain:
    """What every sensor may have, besides what is in units of its own."""

    delay: Time = key("Until a reading arrives; a whole number of samples.", 0.0)
    every: int = key("It is read at every n-th sample.", 1)
    lost: float = key("Probability that a reading is lost; the last one stays.", 0.0)

    def chain(self, **own: Any) -> Imperfection:
        return Imperfection(delay=self.delay, every=self.every, lost=self.lost, **own)


@SENSORS.add("tracker", "attitude of the base", 'noise = "10 arcsec"')
@dataclass(frozen=True, kw_only=True)
class TrackerEntry(Chain):
    noise: Angle = key("Standard deviation about each axis.", 0.0)
    misalignment: Three = key("In rad, about each axis.", (0.0, 0.0, 0.0))

    def build(self, craft: Spacecraft) -> dict[str, Any]:
        return {"tracker": StarTracker(self.chain(bias=self.misalignment, noise=self.noise))}


@SENSORS.add("gyro", "angular velocity of the base", 'noise = "0.01 deg/s"')
@dataclass(frozen=True, kw_only=True)
class GyroEntry(Chain):
    noise: AngularRate = key("Standard deviation of a sample, each axis.", 0.0)
    bias: Three = key("In rad/s, each axis.", (0.0, 0.0, 0.0))
    quantum: AngularRate = key("Readings are multiples of it; 0: not rounded.", 0.0)
    scale: Three = key("Error of the scale factor, each axis.", (0.0, 0.0, 0.0))
    first_bias: AngularRate = key("Standard deviation of a bias that each run begins with.", 0.0)
    walk: float = key("Of the bias, in rad/s per square root of s.", 0.0)
    limit: AngularRate | None = key("Readings are held within it.", None)

    def build(self, craft: Spacecraft) -> dict[str, Any]:
        errors = self.chain(
            bias=self.bias,
            noise=self.noise,
            quantum=self.quantum,
            scale=self.scale,
            first_bias=self.first_bias,
            walk=self.walk,
            limit=np.inf if self.limit is None else self.limit,
        )
        return {"gyro": RateGyro(craft.base, errors)}


@SENSORS.add("encoders", "positions of the joints", "quantum = 1e-4")
@dataclass(frozen=True, kw_only=True)
class EncodersEntry(Chain):
    noise: float = key("Standard deviation, in rad or m.", 0.0)
    bias: float = key("In rad or m.", 0.0)
    quantum: float = key("Readings are multiples of it, in rad or m; 0: not rounded.", 0.0)

    def build(self, craft: Spacecraft) -> dict[str, Any]:
        return {"encoders": Encoders(self.chain(bias=self.bias, noise=self.noise, quantum=self.quantum))}


@SENSORS.add("tachometers", "rates of joints and wheels", "noise = 1e-4")
@dataclass(frozen=True, kw_only=True)
class TachometersEntry(Chain):
    noise: float = key("Standard deviation, in rad/s or m/s.", 0.0)
    bias: float = key("In rad/s or m/s.", 0.0)
    quantum: float = key("Readings are multiples of it; 0: not rounded.", 0.0)

    def build(self, craft: Spacecraft) -> dict[str, Any]:
        return {"tachometers": Tachometers(self.chain(bias=self.bias, noise=self.noise, quantum=self.quantum))}


def instruments(craft: Spacecraft, entries: list[Any]) -> Instruments:
    """What a law sees with these."""
    return Instruments(**{name: one for entry in entries for name, one in entry.build(craft).items()})
