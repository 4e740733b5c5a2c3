"""Detumble: take the spin out of a craft with its wheels, whose momentum it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..algebra import Array, norm
from ..model import Role, Spacecraft
from ..models import servicer7
from .task import (
    OBSERVATION,
    AbstractTask,
    Start,
    configuration,
    effort_limits,
    joints_at,
    motors_of,
    positive,
    share,
    spacecraft,
)

SPIN = 0.2  # rad/s, largest of a start about each axis


class Detumble(AbstractTask):
    """Success: the base turns at less than 0.005 rad/s. Angular momentum stays: the wheels carry it.

    Seen: angular velocity of the base in its own axes, wheel speeds as shares of their limits (of 100 rad/s where
    there is none). Reward of a step: -|w| / 0.1 rad/s - 0.01 mean(action^2), +10 with success. A wheel at its largest
    speed gives no torque that would speed it up further.

    craft: with a free base and wheels that have a torque limit; `servicer7` by default, whose arm is held as in `pose`.
    start_dispersion: 1 for rates of up to 0.2 rad/s about each axis.
    """

    horizon: ClassVar[float] = 120.0
    goal: ClassVar[int] = 1  # nothing
    still: ClassVar[float] = 0.005  # rad/s

    def __init__(
        self, craft: Spacecraft | None = None, *, pose: Any = None, step: float = 1.0, start_dispersion: float = 1.0
    ) -> None:
        self.craft = craft = spacecraft(servicer7() if craft is None else craft)
        self.pose = configuration(craft, pose)
        self.step = positive(step, "step")
        self.spread = SPIN * share(start_dispersion, "start_dispersion")
        self.motors = motors_of(craft, Role.wheel, "detumble")
        self.full = effort_limits(craft, self.motors)
        if not np.isfinite(self.full).all():
            names = ", ".join(joints_at(craft, self.motors[~np.isfinite(self.full)]))
            raise ValueError(f"detumble: {names} of {craft.name} have no torque limit. Give gs.Wheel(max_torque=...).")
        self.locked = joints_at(craft, craft.at(Role.driven))

    def draw(self, generator: np.random.Generator) -> Start:
        v = np.zeros(self.craft.nv)
        v[self.craft.joint(self.craft.base).v_at][:3] = self.spread * generator.uniform(-1.0, 1.0, 3)
        return Start(self.pose.copy(), v, np.zeros(1))

    def measure(self, craft: Spacecraft, q: Array, v: Array, goal: Array, action: Array) -> dict[str, Any]:
        w_NB_B, speeds = v[craft.joint(craft.base).v_at][:3], v[self.motors]
        limits = np.where(np.isfinite(self.rate_limits), self.rate_limits, 100.0)
        return {
            OBSERVATION: np.concatenate([w_NB_B, speeds / limits]),
            "rate": norm(w_NB_B),
            "effort": action @ action / len(self.motors),
        }

    def reward(self, figures: Mapping[str, Array]) -> Array:
        return -figures["rate"] / 0.1 - 0.01 * figures["effort"]

    def success(self, figures: Mapping[str, Array]) -> Array:
        return figures["rate"] <= self.still
