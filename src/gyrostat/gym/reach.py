"""Reach: bring the tool of an arm to a point in space and let it rest there, while the base floats and recoils."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..algebra import Array, norm, rotation
from ..control.errors import attitude_error
from ..formulations.generalized_jacobian import generalized_inertia
from ..kinematics import body_twists, frame_pose, inertial_poses, joint_poses, step_configuration
from ..kinematics.relative_motion import Kinematics, frame_motion
from ..model import Role, Spacecraft
from ..models import elbow_up, servicer7
from .task import (
    OBSERVATION,
    AbstractTask,
    Start,
    configuration,
    displacements,
    effort_limits,
    motors_of,
    positive,
    share,
    spacecraft,
)

START, GOAL = 0.2, 0.6  # rad or m, each joint: how far a start, and the pose whose tool marks the goal, are from `pose`


class Reach(AbstractTask):
    """Success: the tool within 0.1 m of the goal, slower than 0.1 m/s.

    Seen: joint displacements and rates; in base axes the way from tool to goal, the tool's velocity, the base's angular
    velocity and velocity. Reward of a step: -distance - 0.02 mean(action^2), +10 with success.

    craft: with a free base and driven joints; `servicer7` by default. tool: a frame of it. pose: q around which starts
    and goals are drawn (neutral, or the arm bent for the default craft). start_dispersion: 1 for 0.2 rad at each joint.
    acceleration: action 1 is the torque that gives a joint this much, others held, in that pose; never above its effort
    limit. Wheels are left alone.
    """

    horizon: ClassVar[float] = 20.0
    goal: ClassVar[int] = 7  # attitude of the base at the start, goal in N
    near: ClassVar[float] = 0.1  # m
    slow: ClassVar[float] = 0.1  # m/s

    def __init__(
        self,
        craft: Spacecraft | None = None,
        *,
        tool: str = "tool",
        pose: Any = None,
        step: float = 0.2,
        start_dispersion: float = 1.0,
        acceleration: float = 0.3,
    ) -> None:
        if craft is None:
            craft = servicer7()
            pose = elbow_up(craft) if pose is None else pose
        self.craft = spacecraft(craft)
        self.craft.locate(tool)
        self.tool, self.pose = tool, configuration(craft, pose)
        self.step = positive(step, "step")
        self.spread = START * share(start_dispersion, "start_dispersion")
        self.motors = motors_of(craft, Role.driven, "reach")
        self.arm, self.joints = self.craft, self.motors  # of which the craft may be a part
        self.full = arm_loads(craft, self.pose, self.motors, positive(acceleration, "acceleration", "rad/s^2"))

    def draw(self, generator: np.random.Generator) -> Start:
        n = len(self.motors)
        q = self.moved(self.spread * generator.uniform(-1.0, 1.0, n))
        there = self.moved(GOAL * generator.uniform(-1.0, 1.0, n))
        base = self.craft.joint(self.craft.base)
        goal = np.concatenate([q[base.q_at][:4], frame_pose(self.craft, there, self.tool).p])
        return Start(q, np.zeros(self.craft.nv), goal)

    def moved(self, by: Array) -> Array:
        """`pose` with its joints displaced."""
        dv = np.zeros(self.arm.nv)
        dv[self.joints] = by
        return np.asarray(step_configuration(self.arm, self.pose, dv), dtype=float)

    def measure(self, craft: Spacecraft, q: Array, v: Array, goal: Array, action: Array) -> dict[str, Any]:
        tool = frame_motion(craft, motions(craft, q, v), self.tool)
        base = craft.joint(craft.base)
        R_NB, V_NB_B = rotation(q[base.q_at][:4]), v[base.v_at]
        away = goal[4:] - tool.X_NF.p
        turned = attitude_error(q[base.q_at][:4], goal[:4])
        joints = [displacements(craft, q, self.motors), v[self.motors]]
        return {
            OBSERVATION: np.concatenate([*joints, R_NB.T @ away, R_NB.T @ tool.v, V_NB_B, *self.more(turned)]),
            "distance": norm(away),
            "speed": norm(tool.v),
            "base_turn": norm(turned),
            "base_rate": norm(V_NB_B[:3]),
            "effort": action @ action / len(self.motors),
        }

    def more(self, turned: Array) -> list[Array]:
        """That is seen besides."""
        return []

    def reward(self, figures: Mapping[str, Array]) -> Array:
        return -figures["distance"] - 0.02 * figures["effort"]

    def success(self, figures: Mapping[str, Array]) -> Array:
        return (figures["distance"] <= self.near) & (figures["speed"] <= self.slow)


class ReactionlessReach(Reach):
    """Reach, and do not turn the base: success asks that it be within 0.02 rad (1.1 deg) of where it was as well.

    Seen besides: the rotation of the base back to its first attitude. Reward of a step:
    -distance - 10 base_turn - 10 base_rate - 0.02 mean(action^2), in rad and rad/s, +10 with success.
    """

    still: ClassVar[float] = 0.02  # rad

    def more(self, turned: Array) -> list[Array]:
        return [turned]

    def reward(self, figures: Mapping[str, Array]) -> Array:
        return super().reward(figures) - 10.0 * figures["base_turn"] - 10.0 * figures["base_rate"]

    def success(self, figures: Mapping[str, Array]) -> Array:
        return super().success(figures) & (figures["base_turn"] <= self.still)


def motions(craft: Spacecraft, q: Array, v: Array) -> Kinematics:
    """Of all bodies."""
    return Kinematics(inertial_poses(craft, q), body_twists(craft, q, v, joint_poses(craft, q)))


def arm_loads(craft: Spacecraft, q: Array, motors: Array, acceleration: float) -> Array:
    """The loads that give each joint alone that acceleration, others held and the base free, within effort limits."""
    base = craft.joint(craft.base)
    inertia = np.diag(generalized_inertia(craft, q))[motors - base.nv]
    return np.minimum(acceleration * inertia, effort_limits(craft, motors))
