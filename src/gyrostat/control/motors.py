"""Joint motors: from a commanded joint torque to what gear and drive deliver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..algebra import Array, absolute, clip, maximum, minimum, where
from ..model import Joint, Spacecraft
from .controller import STATE, Controller, standing_for
from .demands import driven_joints


@dataclass(frozen=True)
class Motor:
    """Behind a gear: the joint's `gear_ratio` and `rotor_inertia` are in the model, and so is its `friction`.

    stall_torque: of the motor itself, in N m; no_load_speed: of the motor itself, in rad/s: the torque that it can give
    in its direction of motion falls linearly to zero there. efficiency: of the gear, when driving; torque that drives
    it back is divided by it.
    torque_constant: of the motor itself, N m/A; with max_current (A), which its drive lets through, its torque ends at
    their product, driving and braking. `Motor.of_windings` makes it of voltage and resistance.
    """

    stall_torque: float
    no_load_speed: float = float("inf")
    efficiency: float = 1.0
    torque_constant: float | None = None
    max_current: float = float("inf")

    def __post_init__(self) -> None:
        if not self.max_current > 0 or not (self.torque_constant is None or self.torque_constant > 0):
            raise ValueError(
                f"motor: torque_constant {self.torque_constant} and max_current {self.max_current} must be positive."
            )
        if self.torque_constant is None and np.isfinite(self.max_current):
            raise ValueError("motor: max_current limits the torque by the torque_constant, in N m/A: give it, too.")
        if not self.stall_torque > 0 or not self.no_load_speed > 0 or not 0 < self.efficiency <= 1:
            raise ValueError(
                f"motor: stall_torque {self.stall_torque} and no_load_speed {self.no_load_speed} must be positive, "
                f"efficiency {self.efficiency} above 0 and at most 1."
            )

    @classmethod
    def of_windings(
        cls,
        torque_constant: float,
        resistance: float,
        voltage: float,
        *,
        max_current: float = float("inf"),
        efficiency: float = 1.0,
    ) -> Motor:
        """Of a DC motor: stall_torque k U/R, no_load_speed U/k, with k in N m/A, R in ohm, U in V."""
        if not (torque_constant > 0 and resistance > 0 and voltage > 0):
            raise ValueError(
                f"motor: torque_constant {torque_constant}, resistance {resistance} and voltage {voltage} must be "
                "positive."
            )
        k = torque_constant
        return cls(k * voltage / resistance, voltage / k, efficiency, k, max_current)

    @property
    def held_torque(self) -> float:
        """Largest that the current allows, of the motor itself."""
        if self.torque_constant is None:
            return self.stall_torque
        return min(self.stall_torque, self.torque_constant * self.max_current)

    def current(self, joint: Joint, torque: Any, rate: Any) -> Any:
        """In A, of a joint torque that is delivered at that rate."""
        if self.torque_constant is None:
            raise ValueError("motor: its current follows from torque_constant, in N m/A; give it.")
        N, driving = joint.gear_ratio, np.asarray(torque) * np.asarray(rate) >= 0.0
        return (
            np.asarray(torque) / (N * np.where(driving, self.efficiency, 1.0 / self.efficiency)) / self.torque_constant
        )

    def range_at(self, joint: Joint, rate: Any) -> tuple[Any, Any]:
        """Smallest and largest joint torque at that joint rate.

        Driving (torque along the rate): |N| min(n (1 - |w_m| / w_0), k I) eta; braking: |N| min(n, k I) / eta, with
        w_m = N rate. A gear that reverses the sense (N < 0) changes neither.
        """
        N, held = absolute(joint.gear_ratio), self.held_torque
        left = maximum(1.0 - absolute(N * rate) / self.no_load_speed, 0.0) if np.isfinite(self.no_load_speed) else 1.0
        own = self.stall_torque * left
        forward = N * self.efficiency * (own if held == self.stall_torque else minimum(own, held))
        backward, braking = -forward, N * held / self.efficiency
        return where(rate > 0.0, -braking, backward), where(rate < 0.0, braking, forward)


@dataclass(frozen=True)
class Motors:
    """Motors by joint name; a law's torques are held within what they can deliver. Other joints get their command."""

    motors: Mapping[str, Motor] = field(default_factory=dict)

    @classmethod
    def of_model(cls, craft: Spacecraft) -> Motors:
        """Motors for the joints that have an effort limit: their torque falls to zero at the rate limit, if there is
        one.
        """
        motors = {}
        for joint in driven_joints(craft):
            if joint.nv == 1 and np.isfinite(joint.limits.effort):
                N = abs(float(joint.gear_ratio))
                motors[joint.name] = Motor(joint.limits.effort / N, joint.limits.velocity * N)
        return cls(motors)

    def delivered(self, craft: Spacecraft, tau: Array, v: Array) -> Array:
        """tau as the motors make it, (nv,)."""
        parts = []
        for joint in craft.joints:
            own = joint.rate(tau)
            if joint.name in self.motors:
                low, high = self.motors[joint.name].range_at(joint, joint.rate(v)[0])
                own = clip(own, low, high)
            parts.append(own)
        return np.concatenate(parts)

    def driving(self, law: Any) -> Any:
        """The law, a function or a Controller, with its torques as the motors make them."""
        if isinstance(law, Controller) and law.pushes:
            raise ValueError(
                "Motors: the law's loads on joints hold thrust on what they carry, which no motor makes. Put the "
                "motors' limits into the law that is flown by pulses."
            )
        if isinstance(law, Controller) and law.propellant is not None:
            raise ValueError(
                "Motors: the law's loads on joints hold the thrust of what burns beside the motors'. Give the "
                "motors' law to it: burning(..., control=motors.driving(law))."
            )
        output, given = (law.output, law.given) if isinstance(law, Controller) else (law, STATE)

        def control(craft: Spacecraft, t: Any, q: Array, v: Array, *memory: Array, **asked: Any) -> Array:
            tau = output(craft, t, q, v, *memory, **asked)
            return self.delivered(craft, np.asarray(craft.v(tau, "tau")), v)

        standing_for(control, given, (output, len(given)))
        return replace(law, output=control) if isinstance(law, Controller) else control

    def shortfall(self, craft: Spacecraft, tau: Array, v: Array) -> dict[str, float]:
        """Largest torque asked for and not delivered, by joint, over a run's commands and rates (times, nv): the
        report.
        """
        worst = {}
        for name, motor in self.motors.items():
            joint = craft.joint_named(name)
            asked = np.asarray(tau)[..., joint.v_at][..., 0]
            low, high = motor.range_at(joint, np.asarray(v)[..., joint.v_at][..., 0])
            worst[name] = float(np.abs(asked - np.clip(asked, low, high)).max())
        return worst
