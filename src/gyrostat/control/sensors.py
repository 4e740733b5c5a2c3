"""Sensors: what a controller gets to see of the state, with bias, noise, quantisation, at its own samples.

A reading is a function of (state, seed, run, sample): the same in any batch, traced or not. Each sensor has its own
channel of noise, by the name of the craft and what the sensor reads there, so that no two of them are noisy in the same
way unless they are told to be.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra import Array, floor, is_zero, quat_exp, quat_multiply
from ..formulations.recursive import reaction_wrenches
from ..kinematics import forward_kinematics, jacobian
from ..model import Spacecraft
from ..tracing import normal
from .controller import Controller, call, standing_for
from .demands import base_quaternion, demand_one

CHANNELS = 1000  # numbers that one sensor may draw at one sample


@dataclass(frozen=True)
class Place:
    """Where in a campaign a reading is taken: noise depends on nothing else."""

    seed: Any = 0
    run: Any = 0
    sample: Any = 0


@dataclass(frozen=True, eq=False)
class Imperfection:
    """true + bias + noise (standard deviation), rounded to a multiple of `quantum` (0: not rounded). Numbers, or one
    per component.

    channel: a number or a name; sensors of the same channel have the same noise. By default every sensor has its own.
    """

    bias: Any = 0.0
    noise: Any = 0.0
    quantum: float = 0.0
    channel: int | str | None = None

    def __call__(self, true: Array, place: Place, use: str = "") -> Array:
        """use: what is read and on which craft; names the channel, unless one was given."""
        value = true + self.bias
        if np.any(np.asarray(self.noise) != 0):
            value = value + self.noise * self.noises(len(true), place, use)
        return value if self.quantum == 0 else self.quantum * floor(value / self.quantum + 0.5)

    def noises(self, count: int, place: Place, use: str = "") -> Array:
        """Standard normal numbers, (count,)."""
        if count > CHANNELS:
            raise ValueError(f"a sensor draws {count} numbers at once; at most {CHANNELS}.")
        channels = channel_number(use if self.channel is None else self.channel) * CHANNELS + np.arange(count)
        return np.array([normal(place.seed, place.run, place.sample, float(c)) for c in channels])


def channel_number(channel: int | str) -> int:
    """Of a channel by name: the same everywhere, below 2^40 so that its numbers stay exact as floats, above those that
    people choose.
    """
    if not isinstance(channel, str):
        return int(channel)
    return 1_000_000 + int.from_bytes(hashlib.sha256(channel.encode()).digest()[:5], "big") % (2**40 - 1_000_000)


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
        return self.imperfection(X_BF.R.T @ (R_NB.T @ w_N), place, f"{craft.name}: rate gyro on {self.frame}")


@dataclass(frozen=True, eq=False)
class StarTracker:
    """Attitude quat_NB of the base, (4,): the true one turned by a small random rotation in base axes. On a base of any
    kind.

    noise in rad: one number, or one per axis (about the boresight it is larger). bias: misalignment in rad, (3,).
    """

    imperfection: Imperfection = Imperfection()

    def __call__(self, craft: Spacecraft, q: Array, v: Array, place: Place) -> Array:
        demand_one(craft, "StarTracker")
        return quat_multiply(base_quaternion(craft, q), self.turn(craft, place))

    def turn(self, craft: Spacecraft, place: Place) -> Array:
        """By how much the reading is off: the quaternion from the true base axes to those that are read, (4,)."""
        return quat_exp(self.imperfection(np.zeros(3), place, f"{craft.name}: star tracker"))


@dataclass(frozen=True, eq=False)
class Encoders:
    """Coordinates of all joints with one coordinate (no base's), in the order of q; quantum: 2 pi / counts per turn."""

    imperfection: Imperfection = Imperfection()

    def __call__(self, craft: Spacecraft, q: Array, v: Array, place: Place) -> Array:
        return self.imperfection(q[_single(craft)], place, f"{craft.name}: encoders")


@dataclass(frozen=True, eq=False)
class ForceTorque:
    """The wrench that a joint passes on to its distal body, [torque; force] about Bo in B, (6,): what a wrist sensor
    reads.

    It needs the acceleration: `vdot = gs.forward_dynamics(craft, q, v, tau, wrenches=...)`. tare: taken off, (6,).
    """

    joint: str
    imperfection: Imperfection = Imperfection()

    def __call__(self, craft: Spacecraft, q: Array, v: Array, vdot: Array, place: Place, wrenches: Any = None) -> Array:
        joint = craft.joint_named(self.joint)
        row = next(k for k, body in enumerate(craft.bodies) if body.joint.name == joint.name)
        wrench = reaction_wrenches(craft, q, v, vdot, wrenches=wrenches)[row]
        return self.imperfection(wrench, place, f"{craft.name}: force and torque in {self.joint}")


@dataclass(frozen=True, eq=False)
class Instruments:
    """What is read at each sample in place of the true state. Whatever has no sensor is passed on as it is.

    For one spacecraft, on a base of any kind; a sensor of something that the base does not have is refused.
    """

    tracker: StarTracker | None = None
    gyro: RateGyro | None = None
    encoders: Encoders | None = None
    tachometers: Imperfection | None = None  # on the rates of joints and wheels: all but the base's

    def read(self, craft: Spacecraft, q: Array, v: Array, place: Place) -> tuple[Array, Array]:
        """q and v as the controller sees them."""
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
            put(seen_q, at, quat_multiply(q[list(at)], self.tracker.turn(craft, place)))
        if self.gyro is not None:
            put(seen_v, range(base.nv), self._base_rates(craft, self.gyro, q, v, place))
        if self.encoders is not None:
            put(seen_q, _single(craft), self.encoders(craft, q, v, place))
        if self.tachometers is not None:
            rest = range(base.nv, craft.nv)
            put(seen_v, rest, self.tachometers(v[base.nv :], place, f"{craft.name}: tachometers"))
        return np.array(seen_q), np.array(seen_v)

    def _base_rates(self, craft: Spacecraft, gyro: RateGyro, q: Array, v: Array, place: Place) -> Array:
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
        w = X_BF.R @ gyro(craft, q, v, place)
        read = dict(zip(turns, H_w[:, turns].T @ w, strict=True))
        return np.array([read.get(k, x) for k, x in enumerate(base.rate(v))])

    def controller(self, law: Any, period: float | None = None) -> Controller:
        """The law, fed with readings every `period` seconds, its output held in between.

        law: a function (craft, t, q, v) -> tau, or a sampled Controller, whose period it is. What it asks for by name
        it gets.
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

        def fed(function: Callable[..., Any]) -> Any:
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
                seen = self.read(craft, q, v, Place(seed, run, sample))
                available = {"run": run, "sample": sample, "seed": seed} | asked
                return call(function, (craft, t, *seen, *memory), available)

            return standing_for(reading, law.given, (function, len(law.given)), (at_a_place, 0))

        update = None if law.update is None else fed(law.update)
        return replace(law, output=fed(law.output), update=update)


def biased_walk(bias: Array, walk: float, period: float, place: Place, channel: int | str = "gyro bias") -> Array:
    """A gyro's bias one sample later: a random walk of `walk` rad/s per sqrt(s). Keep it in a Controller's memory,
    (3,).

    channel: a number or a name of its own for each gyro that walks.
    """
    return bias + walk * np.sqrt(period) * Imperfection(channel=channel).noises(3, place)


def demand_period(period: float | None, who: str) -> float:
    if period is None:
        raise TypeError(f"{who}: give period= in seconds: how often the law is sampled.")
    return period


def at_a_place(*, run: Any, sample: Any, seed: Any) -> None:
    """What a reading asks for by name."""


def _single(craft: Spacecraft) -> list[int]:
    roots = {body.name for body in craft.roots}
    return [body.joint.q_at.start for body in craft.bodies if body.joint.motion.single and body.name not in roots]
