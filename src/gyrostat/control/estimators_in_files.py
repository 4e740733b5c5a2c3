"""Estimators that a scenario file can name: [estimator.attitude] and so on; the law flies on what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, quat_exp, quat_multiply
from ..model import Spacecraft
from ..model.entries import Angle, Angles, Registry, Three, Time, key
from .attitude_filter import AttitudeFilter
from .demands import base_quaternion, demand_free_base
from .imperfection import Imperfection
from .integrating_gyro import IntegratingGyro
from .sensors import StarTracker

ESTIMATORS = Registry("estimators")


@ESTIMATORS.add("attitude", "attitude and gyro bias of the base, from a gyro and a star tracker of its own",
                'period = "0.1 s"\ntracker_noise = ["10 arcsec", "10 arcsec", "60 arcsec"]')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class AttitudeEstimate:
    period: Time = key("Of the gyro's samples, and of the law.")
    every: int = key("The tracker is read at every n-th of them.", 1)
    lost: float = key("Probability that a reading of the tracker is lost.", 0.0)
    tracker_noise: Angles = key("Standard deviation about each axis of the base.")
    angle_walk: float = key("Of the gyro, in rad per square root of s.", 1e-5)
    rate_walk: float = key("Of the gyro's bias, in rad/s per square root of s.", 0.0)
    bias: float = key("Standard deviation of the bias that each run begins with, in rad/s.", 0.0)
    scale: Three = key("Error of the gyro's scale factor, each axis.", (0.0, 0.0, 0.0))
    off: Angles = key("Rotation from the true attitude to the one that is believed at the start.", (0.0, 0.0, 0.0))
    sigma: Angle = key("How well the attitude is believed to be known at the start, about each axis.")

    def build(self, craft: Spacecraft, q: Array) -> Any:
        demand_free_base(craft, "estimator.attitude")
        start = quat_multiply(base_quaternion(craft, q), quat_exp(np.array(self.off)))
        gyro = IntegratingGyro(self.angle_walk, self.rate_walk, self.bias, np.array(self.scale))
        tracker = StarTracker(Imperfection(noise=np.array(self.tracker_noise), lost=self.lost))
        return AttitudeFilter(gyro, tracker, self.period, self.every, start, self.sigma)
