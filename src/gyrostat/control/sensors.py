"""Sensors of the craft's own motion: gyro, star tracker, encoders, tachometers, force and torque, accelerometer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, asin, cos, exp_so3, log_so3, norm, quat_exp, quat_multiply, where
from ..environment import Celestial
from ..environment.orbit import reference_of
from ..formulations.recursive import reaction_wrenches
from ..kinematics import forward_kinematics, frame_pose, jacobian, step_configuration
from ..model import Spacecraft
from .demands import base_quaternion, demand_one
from .imperfection import PERFECT, Imperfection, Place
from .sensor import AbstractSensor


@dataclass(frozen=True, eq=False)
class RateGyro(AbstractSensor):
    """Angular velocity of a body or frame in its own axes, (3,), rad/s.

    noise in rad/s per sample: an angle random walk of N rad/sqrt(s) is N / sqrt(period). walk: the rate random walk, in
    rad/s per sqrt(s); scale: its scale factor's error.
    """

    frame: str
    imperfection: Imperfection = PERFECT
    name: str = "gyro"

    def use(self, craft: Spacecraft) -> str:
        return f"{craft.name}: rate gyro on {self.frame}"

    def truth(self, craft: Spacecraft, t: Any, q: Array, v: Array, *before: Any) -> Array:
        body, X_BF = craft.locate(self.frame)
        R_NB = forward_kinematics(craft, q).R_NB[craft.index(body)]
        w_N = jacobian(craft, q, self.frame)[:3] @ v
        return X_BF.R.T @ (R_NB.T @ w_N)


@dataclass(frozen=True, eq=False)
class StarTracker(AbstractSensor):
    """Attitude quat_NB of the base, (4,): the true one turned by a small random rotation in base axes. On a base of any
    kind.

    noise in rad: one number, or one per axis (about the boresight it is larger). bias: misalignment in rad, (3,).
    frame: its boresight is that frame's z axis, and it is blind within angles of what is bright: exclusions, pairs of
    (Celestial, half angle in rad); limb: of the planet's edge, in rad (None: the planet does not blind it). orbit:
    where N is; exclusions need it.
    """

    imperfection: Imperfection = PERFECT
    frame: str = ""
    orbit: Any = None
    exclusions: Sequence[tuple[Celestial, float]] = ()
    limb: float | None = None
    name: str = "tracker"

    def __post_init__(self) -> None:
        if self.blinded:
            reference_of(self.orbit, "a star tracker that is blinded")
        for body, angle in self.exclusions:
            if not 0.0 < angle < np.pi:
                raise ValueError(
                    f"star tracker: it keeps {angle} rad from the {body.name}; expected radians, above 0 and below pi "
                    "(at pi it would never see a star)."
                )
        if self.blinded and not self.frame:
            raise ValueError("star tracker: exclusions are about its boresight; give frame=, whose z axis looks out.")

    @property
    def blinded(self) -> bool:
        return bool(self.exclusions) or self.limb is not None

    def use(self, craft: Spacecraft) -> str:
        return f"{craft.name}: {'star tracker' if self.name == 'tracker' else self.name}"

    def looks(self, craft: Spacecraft) -> bool:
        return self.blinded

    def truth(self, craft: Spacecraft, t: Any, q: Array, v: Array, *before: Any) -> Array:
        demand_one(craft, "StarTracker")
        return np.zeros(3)

    def value(self, craft: Spacecraft, t: Any, q: Array, v: Array, read: Array) -> Array:
        return quat_multiply(base_quaternion(craft, q), quat_exp(read))

    def sees(self, craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        if not self.blinded:
            return None
        X = frame_pose(craft, q, self.frame)
        look, r_N = X.R[:, 2], self.orbit.state(t).r + X.p
        clear: Any = 1.0
        for body, angle in self.exclusions:
            to = body.position(t) - r_N
            clear = clear * where(look @ to < np.cos(angle) * norm(to), 1.0, 0.0)
        if self.limb is not None:
            distance = norm(r_N)
            edge = asin(self.orbit.planet.radius / distance) + self.limb  # from the planet's centre
            clear = clear * where(-(look @ r_N) < cos(edge) * distance, 1.0, 0.0)
        return clear

    def turn(self, craft: Spacecraft, place: Place) -> Array:
        """By how much the reading is off: the quaternion from the true base axes to those that are read, (4,)."""
        return quat_exp(self.imperfection(np.zeros(3), place, self.use(craft)))


@dataclass(frozen=True, eq=False)
class Encoders(AbstractSensor):
    """Coordinates of all joints with one coordinate (no base's), in the order of q; quantum: 2 pi / counts per turn."""

    imperfection: Imperfection = PERFECT
    name: str = "encoders"

    def truth(self, craft: Spacecraft, t: Any, q: Array, v: Array, *before: Any) -> Array:
        return q[single_coordinates(craft)]


@dataclass(frozen=True, eq=False)
class Tachometers(AbstractSensor):
    """Rates of all joints and wheels: all but the base's, in the order of v."""

    imperfection: Imperfection = PERFECT
    name: str = "tachometers"

    def truth(self, craft: Spacecraft, t: Any, q: Array, v: Array, *before: Any) -> Array:
        return v[craft.joints[0].nv :]


@dataclass(frozen=True, eq=False)
class ForceTorque(AbstractSensor):
    """The mean wrench over the sample that a joint passes on to its distal body, [torque; force] about Bo in B's axes
    midway, (6,): what a wrist sensor reads. What bodies beyond the joint do tells it, whatever caused that:

        vdot = (v - v_before) / period,   v_mid = v - vdot period / 2                                             (1)
        q_mid = q moved by -(v - vdot period / 4) period / 2                                                      (2)
        F = reaction through the joint at (q_mid, v_mid, vdot), environment's wrenches taken off                  (3)

    which is the mean to the square of the period. The load of the joint's own motor is in it.

    environment: what pushes on bodies beyond the joint from outside, such as weight: that of the run, or a function
    (craft, t, q, v) -> wrenches. Loops closed beyond the joint it does not know. At the first sample, which has none
    before it, it reads as if the rates had stood still.
    """

    joint: str
    imperfection: Imperfection = PERFECT
    environment: Any = None
    name: str = "force_torque"

    def use(self, craft: Spacecraft) -> str:
        return f"{craft.name}: force and torque in {self.joint}"

    def check(self, craft: Spacecraft) -> None:
        joint = craft.joint_named(self.joint)
        if joint.nv == 6:
            raise ValueError(
                f"{self.name}: joint '{self.joint}' is that of a free base, which nothing holds. Name one that holds: "
                f"{', '.join(j.name for j in craft.joints if j.nv < 6) or 'the craft has none'}."
            )
        beyond = {craft.bodies[self._row(craft)].name}
        for B, P in craft.base_to_tip:
            if P in beyond:
                beyond.add(B)
        for thruster in craft.thrusters:
            if thruster.body in beyond:
                raise ValueError(
                    f"{self.name}: thruster '{thruster.name}' on '{thruster.body}' pushes beyond joint '{self.joint}', "
                    "and its thrust at a sample is not known there. Name a joint with no thruster beyond it."
                )

    def kept(self, craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        return np.asarray(v)

    def truth(self, craft: Spacecraft, t: Any, q: Array, v: Array, *before: Any) -> Array:
        was, period = before
        vdot = (v - was) / period  # (1)
        v_mid = v - 0.5 * period * vdot
        q_mid = step_configuration(craft, q, -0.5 * period * (v - 0.25 * period * vdot))  # (2)
        wrenches = None
        if self.environment is not None:
            act = getattr(self.environment, "wrenches", self.environment)
            wrenches = act(craft, t - 0.5 * period, q_mid, v_mid)
        return self.wrench(craft, q_mid, v_mid, vdot, wrenches)  # (3)

    def wrench(self, craft: Spacecraft, q: Array, v: Array, vdot: Array, wrenches: Any = None) -> Array:
        """Of an acceleration that is known: the wrench at that instant, without errors, (6,)."""
        return reaction_wrenches(craft, q, v, vdot, wrenches=wrenches)[self._row(craft)]

    def _row(self, craft: Spacecraft) -> int:
        name = craft.joint_named(self.joint).name
        return next(k for k, body in enumerate(craft.bodies) if body.joint.name == name)


@dataclass(frozen=True, eq=False)
class Accelerometer(AbstractSensor):
    """Mean acceleration of a body's or frame's origin over the sample, in the frame's axes midway, (3,), m/s^2, as an
    integrating accelerometer gives it: the change of velocity over the period, whatever caused it.

    gravity(t, r_N) -> (3,): what it cannot feel, with the origin of N for a reference; by default N falls as the craft
    does. The first sample has none before it and reads 0.
    """

    frame: str
    imperfection: Imperfection = PERFECT
    gravity: Any = None
    name: str = "accelerometer"

    def use(self, craft: Spacecraft) -> str:
        return f"{craft.name}: {self.name} on {self.frame}"

    def kept(self, craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        X = frame_pose(craft, q, self.frame)
        return np.concatenate([jacobian(craft, q, self.frame)[3:] @ v, X.R.reshape(-1)])

    def truth(self, craft: Spacecraft, t: Any, q: Array, v: Array, *before: Any) -> Array:
        was, period = before
        now = self.kept(craft, t, q, v)
        R_NF, R_was = now[3:].reshape(3, 3), was[3:].reshape(3, 3)
        mean_N = (now[:3] - was[:3]) / period
        if self.gravity is not None:
            mean_N = mean_N - self.gravity(
                t - 0.5 * period, frame_pose(craft, q, self.frame).p - 0.5 * period * now[:3]
            )
        R_mid = R_was @ exp_so3(0.5 * log_so3(R_was.T @ R_NF))
        return R_mid.T @ mean_N


def single_coordinates(craft: Spacecraft) -> list[int]:
    roots = {body.name for body in craft.roots}
    return [body.joint.q_at.start for body in craft.bodies if body.joint.motion.single and body.name not in roots]
