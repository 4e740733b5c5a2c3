"""Sensors that a scenario file can name: [sensors.gyro] and so on, and what a law then sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..model import Spacecraft
from ..model.entries import Angle, AngularRate, Length, Registry, Three, Time, key
from .imperfection import Imperfection
from .instruments import Instruments
from .relative_sensors import Lidar, PoseCamera
from .sensors import Accelerometer, Encoders, ForceTorque, RateGyro, StarTracker, Tachometers
from .sky_sensors import CoarseSunSensors, FineSunSensor, HorizonSensor, Magnetometer, SatelliteNavigation

SENSORS = Registry("sensors")


class Around(NamedTuple):
    """Where the craft is: what sensors of the sky look at."""

    orbit: Any = None
    sky: Any = None
    environment: Any = None  # all that acts on it from outside

    def demand(self, sensor: str, *, dated: bool = True) -> tuple[Any, Any]:
        """The orbit and the sky."""
        if self.orbit is None or (dated and self.sky is None):
            what = "an orbit with a date" if dated else "an orbit"
            hint = ' and epoch = "2025-03-07"' if dated else ""
            raise ValueError(f'{sensor} needs {what}: add [environment.orbit] with altitude = "500 km"{hint}')
        return self.orbit, self.sky


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
    frame: str = key("Whose z axis looks out, where something blinds it.", "")
    sun: Angle | None = key("It is blind within this angle of the Sun.", None)
    moon: Angle | None = key("And of the Moon.", None)
    limb: Angle | None = key("And of the planet's edge.", None)

    def build(self, craft: Spacecraft, around: Around) -> dict[str, Any]:
        errors = self.chain(bias=self.misalignment, noise=self.noise)
        angles = {"sun": self.sun, "moon": self.moon}
        if all(angle is None for angle in (*angles.values(), self.limb)):
            return {"tracker": StarTracker(errors)}
        orbit, sky = around.demand("tracker", dated=any(angle is not None for angle in angles.values()))
        kept = [(sky.body(name), angle) for name, angle in angles.items() if angle is not None]
        return {"tracker": StarTracker(errors, self.frame, orbit, kept, self.limb)}


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

    def build(self, craft: Spacecraft, around: Around) -> dict[str, Any]:
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

    def build(self, craft: Spacecraft, around: Around) -> dict[str, Any]:
        return {"encoders": Encoders(self.chain(bias=self.bias, noise=self.noise, quantum=self.quantum))}


@SENSORS.add("tachometers", "rates of joints and wheels", "noise = 1e-4")
@dataclass(frozen=True, kw_only=True)
class TachometersEntry(Chain):
    noise: float = key("Standard deviation, in rad/s or m/s.", 0.0)
    bias: float = key("In rad/s or m/s.", 0.0)
    quantum: float = key("Readings are multiples of it; 0: not rounded.", 0.0)

    def build(self, craft: Spacecraft, around: Around) -> dict[str, Any]:
        return {"tachometers": Tachometers(self.chain(bias=self.bias, noise=self.noise, quantum=self.quantum))}


@dataclass(frozen=True, kw_only=True)
class Mounted(Chain):
    """A sensor whose reading a law asks for by its name."""

    frame: str = key("Where it sits, and its axes; where it looks, its z axis looks out.")
    noise: float = key("Standard deviation of each component, in what it reads (rad of directions).", 0.0)
    bias: float = key("Of each component.", 0.0)
    quantum: float = key("Readings are multiples of it; 0: not rounded.", 0.0)

    @property
    def errors(self) -> Imperfection:
        return self.chain(noise=self.noise, bias=self.bias, quantum=self.quantum)


@SENSORS.add("magnetometer", "magnetic field in a frame, T", 'frame = "base"\nnoise = 1e-8')
@dataclass(frozen=True, kw_only=True)
class MagnetometerEntry(Mounted):
    def build(self, craft: Spacecraft, around: Around) -> dict[str, Any]:
        orbit, sky = around.demand("magnetometer")
        return {"magnetometer": Magnetometer(self.frame, orbit, sky.magnetic_field, self.errors)}


@SENSORS.add("sun_sensor", "direction to the Sun, where it is lit and in view", 'frame = "base"\nnoise = 1e-3')
@dataclass(frozen=True, kw_only=True)
class SunSensorEntry(Mounted):
    field_of_view: Angle = key("Half angle from the axis.", np.pi)

    def build(self, craft: Spacecraft, around: Around) -> dict[str, Any]:
        orbit, sky = around.demand("sun_sensor")
        return {"sun_sensor": FineSunSensor(self.frame, orbit, sky.sun, self.field_of_view, self.errors)}


@SENSORS.add("sun_cells", "currents of photocells", 'frame = "base"\nnormals = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]')
@dataclass(frozen=True, kw_only=True)
class SunCellsEntry(Mounted):
    normals: list[list[float]] = key("Directions in which cells look, in the frame's axes.")

    def build(self, craft: Spacecraft, around: Around) -> dict[str, Any]:
        orbit, sky = around.demand("sun_cells")
        return {"sun_cells": CoarseSunSensors(self.frame, orbit, sky.sun, self.normals, self.errors)}


@SENSORS.add("horizon", "direction to the planet's centre", 'frame = "base"\nnoise = 2e-3')
@dataclass(frozen=True, kw_only=True)
class HorizonEntry(Mounted):
    field_of_view: Angle = key("Half angle from the axis.", np.pi)

    def build(self, craft: Spacecraft, around: Around) -> dict[str, Any]:
        orbit, _ = around.demand("horizon", dated=False)
        return {"horizon": HorizonSensor(self.frame, orbit, self.field_of_view, self.errors)}


@SENSORS.add("navigation", "position and velocity from the planet's centre", 'frame = "base"\nnoise = 5.0')
@dataclass(frozen=True, kw_only=True)
class NavigationEntry(Mounted):
    fixed: bool = key("In axes that turn with the planet, and relative to them.", False)

    def build(self, craft: Spacecraft, around: Around) -> dict[str, Any]:
        orbit, _ = around.demand("navigation", dated=False)
        return {"navigation": SatelliteNavigation(self.frame, orbit, self.errors, self.fixed)}


@SENSORS.add("accelerometer", "mean acceleration of a frame over the sample", 'frame = "base"\nnoise = 1e-5')
@dataclass(frozen=True, kw_only=True)
class AccelerometerEntry(Mounted):
    def build(self, craft: Spacecraft, around: Around) -> dict[str, Any]:
        return {"accelerometer": Accelerometer(self.frame, self.errors)}


@SENSORS.add("force_torque", "mean wrench through a joint over the sample", 'joint = "wrist"\nnoise = 0.01')
@dataclass(frozen=True, kw_only=True)
class ForceTorqueEntry(Chain):
    joint: str = key("Whose wrench on its distal body, about that body's origin and in its axes.")
    noise: float = key("Standard deviation of each component, in N m and N.", 0.0)
    bias: float = key("Of each component.", 0.0)
    quantum: float = key("Readings are multiples of it; 0: not rounded.", 0.0)
    limit: float | None = key("Readings are held within it.", None)

    def build(self, craft: Spacecraft, around: Around) -> dict[str, Any]:
        limit = np.inf if self.limit is None else self.limit
        errors = self.chain(noise=self.noise, bias=self.bias, quantum=self.quantum, limit=limit)
        return {"force_torque": ForceTorque(self.joint, errors, around.environment)}


@dataclass(frozen=True, kw_only=True)
class Looking(Mounted):
    target: str = key("The frame or body that it looks at.")
    field_of_view: Angle = key("Half angle from the axis.", np.pi / 4)
    nearest: Length = key("It sees nothing nearer.", 0.0)
    farthest: Length | None = key("Nor farther.", None)
    hidden_by: list[str] = key("Bodies whose shapes may stand in between.", [])

    @property
    def view(self) -> dict[str, Any]:
        farthest = np.inf if self.farthest is None else self.farthest
        names = ("frame", "target", "field_of_view", "nearest", "hidden_by")
        return {name: getattr(self, name) for name in names} | {"farthest": farthest, "imperfection": self.errors}


@SENSORS.add("camera", "pose of a frame from another", 'frame = "base"\ntarget = "tool"\nnoise = 1e-3')
@dataclass(frozen=True, kw_only=True)
class CameraEntry(Looking):
    def build(self, craft: Spacecraft, around: Around) -> dict[str, Any]:
        return {"camera": PoseCamera(**self.view)}


@SENSORS.add("lidar", "range and direction of a frame from another", 'frame = "base"\ntarget = "tool"\nnoise = 1e-3')
@dataclass(frozen=True, kw_only=True)
class LidarEntry(Looking):
    def build(self, craft: Spacecraft, around: Around) -> dict[str, Any]:
        return {"lidar": Lidar(**self.view)}


OF_THE_STATE = ("tracker", "gyro", "encoders", "tachometers")


def instruments(craft: Spacecraft, entries: list[Any], around: Around = Around()) -> Instruments:  # noqa: B008
    """What a law sees with these; readings of those that stand for no part of the state it asks for by name."""
    built = {name: one for entry in entries for name, one in entry.build(craft, around).items()}
    own = {name: one for name, one in built.items() if name in OF_THE_STATE}
    return Instruments(**own, more=[one for name, one in built.items() if name not in OF_THE_STATE])
