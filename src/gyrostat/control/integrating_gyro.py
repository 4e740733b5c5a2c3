"""A rate-integrating gyro: what the base turned by between two samples, with a bias that walks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, floor, quat_conjugate, quat_log, quat_multiply, sqrt
from .imperfection import Imperfection, Place


@dataclass(frozen=True, eq=False)
class IntegratingGyro:
    """Mean angular velocity of the base since the sample before, in base axes, (3,), rad/s (Farrenkopf's model):

        w_m = (1 + scale) log(quat_before^-1 quat) / T + (b_before + b) / 2 + sqrt(N^2 / T + K^2 T / 12) n1        (1)
        b = b_before + K sqrt(T) n2                                                                                (2)

    angle_walk: N in rad/sqrt(s). rate_walk: K in rad/s/sqrt(s). bias: standard deviation of the first bias, which each
    run draws; scale: scale factor error, one or per axis; quantum: of w_m T, in rad (0: not rounded). name: of the
    instrument; two of one name have the same noise.
    """

    angle_walk: float
    rate_walk: float = 0.0
    bias: float = 0.0
    scale: Any = 0.0
    quantum: float = 0.0
    name: str = "gyro"

    def __post_init__(self) -> None:
        for key in ("angle_walk", "rate_walk", "bias", "quantum"):
            if not 0.0 <= getattr(self, key) < np.inf:
                raise ValueError(f"gyro '{self.name}': {key} is {getattr(self, key)}; expected a number, not below 0.")

    def white(self, period: float) -> Any:
        """Standard deviation of one reading's own noise, rad/s. (1)"""
        return sqrt(self.angle_walk**2 / period + self.rate_walk**2 * period / 12.0)

    def first_bias(self, place: Place) -> Array:
        """That a run begins with, (3,)."""
        return self.bias * self._normal("first bias", Place(place.seed, place.run, 0))

    def read(self, before: Array, quat: Array, bias: Array, period: float, place: Place) -> tuple[Array, Array]:
        """Reading and new bias, (3,) each; before, quat: quat_NB at both samples, bias: at the one before."""
        new = bias + self.rate_walk * np.sqrt(period) * self._normal("walk", place)  # (2)
        turn = quat_log(quat_multiply(quat_conjugate(before), quat))
        noise = self.white(period) * self._normal("noise", place)
        w = (1.0 + np.asarray(self.scale)) * turn / period + 0.5 * (bias + new) + noise  # (1)
        step = self.quantum / period
        return (w if step == 0 else step * floor(w / step + 0.5)), new

    def _normal(self, what: str, place: Place) -> Array:
        return Imperfection(channel=f"{self.name}: {what}").noises(3, place)
