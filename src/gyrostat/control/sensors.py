"""Sensors: what a controller gets to see of the state, with bias, noise, quantisation, at its own samples.

A reading is a function of (state, seed, run, sample): the same in any batch, traced or not. Each sensor has its own `channel`, so that
two of them are not noisy in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, floor, quat_exp, quat_multiply
from ..formulations.recursive import reaction_wrenches
from ..kinematics import forward_kinematics, jacobian
from ..model import Spacecraft
from ..tracing import normal
from .controller import Controller

CHANNELS = 1000  # numbers that one sensor may draw at one sample


@dataclass(frozen=True)
class Place:
    """Where in a campaign a reading is taken: noise depends on nothing else."""

    seed: Any = 0
    run: Any = 0
    sample: Any = 0


@dataclass(frozen=True, eq=False)
class Imperfection:
    """true + bias + noise (standard deviation), rounded to a multiple of `quantum` (0: not rounded). Numbers, or one per component."""

    bias: Any = 0.0
    noise: Any = 0.0
    quantum: float = 0.0
    channel: int = 0

    def __call__(self, true: Array, place: Place) -> Array:
        value = true + self.bias
        if np.any(np.asarray(self.noise) != 0):
            value = value + self.noise * self.noises(len(true), place)
        return value if self.quantum == 0 else self.quantum * floor(value / self.quantum + 0.5)

    def noises(self, count: int, place: Place) -> Array:
        """Standard normal numbers, (count,)."""
        channels = self.channel * CHANNELS + np.arange(count)
        return np.array([normal(place.seed, place.run, place.sample, float(c)) for c in channels])


@dataclass(frozen=True, eq=False)
class RateGyro:
    """Angular velocity of a body or frame in its own axes, (3,), rad/s.

    noise in rad/s per sample: an angle random walk of N rad/sqrt(s) is N / sqrt(period).
    """

    frame: str
    imperfection: Imperfection = Imperfection()

    def __call__(self, craft: Spacecraft, q: Array, v: Array, place: Place) -> Array:
        body, X_BF = craft.locate(self.frame)
        R_NB = forward_kinematics(craft, q).R_NB[craft.index(body)]
        w_N = jacobian(craft, q, self.frame)[:3] @ v
        return self.imperfection(X_BF.R.T @ (R_NB.T @ w_N), place)


@dataclass(frozen=True, eq=False)
class StarTracker:
    """Attitude quat_NB of the base, (4,): the true one turned by a small random rotation in base axes.

    noise in rad: one number, or one per axis (about the boresight it is larger). bias: misalignment in rad, (3,).
    """

    imperfection: Imperfection = Imperfection()

    def __call__(self, craft: Spacecraft, q: Array, v: Array, place: Place) -> Array:
        return quat_multiply(q[:4], quat_exp(self.imperfection(np.zeros(3), place)))


@dataclass(frozen=True, eq=False)
class Encoders:
    """Coordinates of all joints with one coordinate, in the order of q; quantum: 2 pi / counts per turn."""

    imperfection: Imperfection = Imperfection()

    def __call__(self, craft: Spacecraft, q: Array, v: Array, place: Place) -> Array:
        at = _single(craft)
        return self.imperfection(q[at], place)


@dataclass(frozen=True, eq=False)
class ForceTorque:
    """The wrench that a joint passes on to its distal body, [torque; force] about Bo in B, (6,): what a wrist sensor reads.

    It needs the acceleration: `vdot = gs.forward_dynamics(craft, q, v, tau, wrenches=...)`. tare: taken off, (6,).
    """

    joint: str
    imperfection: Imperfection = Imperfection()

    def __call__(self, craft: Spacecraft, q: Array, v: Array, vdot: Array, place: Place, wrenches: Any = None) -> Array:
        joint = craft.joint_named(self.joint)
        row = next(k for k, body in enumerate(craft.bodies) if body.joint.name == joint.name)
        return self.imperfection(reaction_wrenches(craft, q, v, vdot, wrenches=wrenches)[row], place)


@dataclass(frozen=True, eq=False)
class Instruments:
    """What is read at each sample in place of the true state. Whatever has no sensor is passed on as it is."""

    tracker: StarTracker | None = None
    gyro: RateGyro | None = None
    encoders: Encoders | None = None
    tachometers: Imperfection | None = None  # on the rates of joints and wheels, v[6:]

    def read(self, craft: Spacecraft, q: Array, v: Array, place: Place) -> tuple[Array, Array]:
        """q and v as the controller sees them."""
        attitude, rate, joints, rates = q[:4], v[:3], q[7:], v[6:]
        if self.tracker is not None:
            attitude = self.tracker(craft, q, v, place)
        if self.gyro is not None:
            rate = self.gyro(craft, q, v, place)
            body, X_BF = craft.locate(self.gyro.frame)
            if body != craft.base:
                raise ValueError(f"the gyro sits on '{body}'; to read the base's rate it must sit on '{craft.base}'.")
            rate = X_BF.R @ rate
        if self.encoders is not None:
            read = dict(zip(_single(craft), self.encoders(craft, q, v, place), strict=True))
            joints = np.array([read.get(7 + k, x) for k, x in enumerate(joints)])
        if self.tachometers is not None:
            rates = self.tachometers(rates, place)
        return np.concatenate([attitude, q[4:7], joints]), np.concatenate([rate, v[3:6], rates])

    def controller(self, law: Callable[[Spacecraft, Any, Array, Array], Array], period: float) -> Controller:
        """The law, fed with readings every `period` seconds, its output held in between."""

        def output(craft: Spacecraft, t: Any, q: Array, v: Array, run: Any, sample: Any, seed: Any) -> Array:
            return law(craft, t, *self.read(craft, q, v, Place(seed, run, sample)))

        return Controller(output, period=period)


def biased_walk(bias: Array, walk: float, period: float, place: Place, channel: int = 0) -> Array:
    """A gyro's bias one sample later: a random walk of `walk` rad/s per sqrt(s). Keep it in a Controller's memory, (3,)."""
    return bias + walk * np.sqrt(period) * Imperfection(channel=channel).noises(3, place)


def _single(craft: Spacecraft) -> list[int]:
    return [j.q_at.start for j in craft.joints[1:] if j.nq == 1]
