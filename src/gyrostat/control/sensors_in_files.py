"""Sensors that a scenario file can name: [sensors.gyro] and so on, and what a law then sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..model import Spacecraft
from ..model.entries import Angle, AngularRate, Registry, Three, key
from .imperfection import Imperfection
from .instruments import Instruments
from .sensors import Encoders, RateGyro, StarTracker

SENSORS = Registry("sensors")


@SENSORS.add("tracker", "attitude of the base", 'noise = "10 arcsec"')
@dataclass(frozen=True, kw_only=True)
class TrackerEntry:
    noise: Angle = key("Standard deviation about each axis.", 0.0)
    misalignment: Three = key("In rad, about each axis.", (0.0, 0.0, 0.0))

    def build(self, craft: Spacecraft) -> dict[str, Any]:
        return {"tracker": StarTracker(Imperfection(self.misalignment, self.noise))}


@SENSORS.add("gyro", "angular velocity of the base", 'noise = "0.01 deg/s"')
@dataclass(frozen=True, kw_only=True)
class GyroEntry:
    noise: AngularRate = key("Standard deviation of a sample, each axis.", 0.0)
    bias: Three = key("In rad/s, each axis.", (0.0, 0.0, 0.0))
    quantum: AngularRate = key("Readings are multiples of it; 0: not rounded.", 0.0)

    def build(self, craft: Spacecraft) -> dict[str, Any]:
        return {"gyro": RateGyro(craft.base, Imperfection(self.bias, self.noise, self.quantum))}


@SENSORS.add("encoders", "positions of the joints", "quantum = 1e-4")
@dataclass(frozen=True, kw_only=True)
class EncodersEntry:
    noise: float = key("Standard deviation, in rad or m.", 0.0)
    bias: float = key("In rad or m.", 0.0)
    quantum: float = key("Readings are multiples of it, in rad or m; 0: not rounded.", 0.0)

    def build(self, craft: Spacecraft) -> dict[str, Any]:
        return {"encoders": Encoders(Imperfection(self.bias, self.noise, self.quantum))}


@SENSORS.add("tachometers", "rates of joints and wheels", "noise = 1e-4")
@dataclass(frozen=True, kw_only=True)
class TachometersEntry:
    noise: float = key("Standard deviation, in rad/s or m/s.", 0.0)
    bias: float = key("In rad/s or m/s.", 0.0)
    quantum: float = key("Readings are multiples of it; 0: not rounded.", 0.0)

    def build(self, craft: Spacecraft) -> dict[str, Any]:
        return {"tachometers": Imperfection(self.bias, self.noise, self.quantum)}


def instruments(craft: Spacecraft, entries: list[Any]) -> Instruments:
    """What a law sees with these."""
    return Instruments(**{name: one for entry in entries for name, one in entry.build(craft).items()})
