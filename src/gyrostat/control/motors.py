"""Joint motors: from a commanded joint torque to what gear and drive deliver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..algebra import Array, absolute, clip, maximum, where
from ..model import Joint, Spacecraft
from .controller import STATE, Controller, standing_for
from .demands import driven_joints


@dataclass(frozen=True)
class Motor:
    """Behind a gear: the joint's `gear_ratio` and `rotor_inertia` are in the model, and so is its `friction`.

    stall_torque: of the motor itself, in N m; no_load_speed: of the motor itself, in rad/s: the torque that it can give
    in its direction of motion falls linearly to zero there. efficiency: of the gear, when driving; torque that drives
    it back is divided by it.
    """

    stall_torque: float
    no_load_speed: float = float("inf")
    efficiency: float = 1.0

    def __post_init__(self) -> None:
        if not self.stall_torque > 0 or not self.no_load_speed > 0 or not 0 < self.efficiency <= 1:
            raise ValueError(
                f"motor: stall_torque {self.stall_torque} and no_load_speed {self.no_load_speed} must be positive, "
                f"efficiency {self.efficiency} above 0 and at most 1."
            )

    def range_at(self, joint: Joint, rate: Any) -> tuple[Any, Any]:
        """Smallest and largest joint torque at that joint rate.

        Driving (torque along the rate): |N| n eta (1 - |w_m| / w_0); braking: |N| n / eta, with w_m = N rate. A gear
        that reverses the sense (N < 0) changes neither.
        """
        N = absolute(joint.gear_ratio)
        driving = N * self.stall_torque * self.efficiency
        braking = N * self.stall_torque / self.efficiency
        left = maximum(1.0 - absolute(N * rate) / self.no_load_speed, 0.0) if np.isfinite(self.no_load_speed) else 1.0
        forward, backward = driving * left, -driving * left
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
