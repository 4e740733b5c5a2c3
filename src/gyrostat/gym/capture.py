"""Capture: bring the tool to the grapple of a tumbling target and move along with it. The hand is not closed: contact
and what follows are scenes of their own (`gs.Phase`, docs/constraints.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..algebra import Array, asin, minimum, norm, quat_from_rotation, rotation_about
from ..kinematics import frame_pose
from ..kinematics.relative_motion import frame_motion
from ..model import Body, Frame, Joint, Spacecraft
from ..model.assembly import joined_state, together
from .reach import Reach, motions
from .task import OBSERVATION, Start, displacements, joints_at, share, spacecraft

GOAL = 0.4  # rad or m, each joint: how far the pose whose tool the grapple meets at the start is from `pose`
TUMBLE = 0.04  # rad/s, largest of the target about each axis
BEHIND = np.diag([-1.0, 1.0, -1.0])  # R_EG of a grapple that faces the tool, x against x


class Capture(Reach):
    """Success, all at once: the tool within 0.1 m of the grapple, its velocity within 0.1 m/s of the grapple's, the
    tool's x within 0.3 rad of facing the grapple's, angular velocities within 0.1 rad/s of each other.

    The target tumbles freely, as a rigid body does, from rates of up to 0.04 rad/s about each axis. Seen: joint
    displacements and rates; in base axes the way from tool to grapple, their relative velocity, x of the tool and of
    the grapple, angular velocity of the grapple relative to the tool; the base's angular velocity and velocity. Reward
    of a step: -distance - 0.5 angle - speed - 0.5 relative rate - 0.02 mean(action^2), +10 with success.

    Options are those of `Reach`; target: another spacecraft with a free base, `grapple` a frame on it, x outward.
    start_dispersion: 1 for 0.2 rad at each joint and for that tumble.
    """

    horizon: ClassVar[float] = 30.0
    goal: ClassVar[int] = 1  # nothing: the target is in q and v
    facing: ClassVar[float] = 0.3  # rad
    together_with: ClassVar[float] = 0.1  # rad/s

    def __init__(
        self,
        craft: Spacecraft | None = None,
        *,
        target: Spacecraft | None = None,
        grapple: str = "grapple",
        start_dispersion: float = 1.0,
        **options: Any,
    ) -> None:
        super().__init__(craft, start_dispersion=start_dispersion, **options)
        self.target = spacecraft(tumbling_box() if target is None else target, "target")
        if len(self.target.joints) > 1:
            raise ValueError(
                f"target: {self.target.name} has {len(self.target.joints)} joints; expected one rigid body."
            )
        _, self._X_TG = self.target.locate(grapple)
        self.tumble = TUMBLE * share(start_dispersion, "start_dispersion")
        self.craft = together("capture", [self.arm, self.target])
        mine, theirs = (self.craft.member(craft.name) for craft in (self.arm, self.target))
        self.base, self._tool, self._grapple = mine.here(self.arm.base), mine.here(self.tool), theirs.here(grapple)
        names = [mine.here(name, "joint") for name in joints_at(self.arm, self.motors)]
        self.motors = np.concatenate([np.arange(self.craft.nv)[self.craft.joint_named(name).v_at] for name in names])

    def draw(self, generator: np.random.Generator) -> Start:
        n = len(self.joints)
        q = self.moved(self.spread * generator.uniform(-1.0, 1.0, n))
        X_NE = frame_pose(self.arm, self.moved(GOAL * generator.uniform(-1.0, 1.0, n)), self.tool)
        roll = rotation_about(np.array([1.0, 0.0, 0.0]), generator.uniform(-np.pi, np.pi))
        R_NT = X_NE.R @ BEHIND @ roll @ self._X_TG.R.T
        p_NT = X_NE.p - R_NT @ self._X_TG.p
        free = self.target.joint(self.target.base)
        qt, vt = np.zeros(self.target.nq), np.zeros(self.target.nv)
        qt[free.q_at] = np.concatenate([quat_from_rotation(R_NT), p_NT])
        w = self.tumble * generator.uniform(-1.0, 1.0, 3)
        inertia = self.target.inertia(self.target.base)
        vt[free.v_at] = np.concatenate(
            [w, -np.cross(w, inertia.h / inertia.m)]
        )  # about the centre of mass, which rests
        return Start(
            *joined_state(self.craft, [(self.arm, q, np.zeros(self.arm.nv)), (self.target, qt, vt)]), np.zeros(1)
        )

    def measure(self, craft: Spacecraft, q: Array, v: Array, goal: Array, action: Array) -> dict[str, Any]:
        at = motions(craft, q, v)
        tool, grapple = frame_motion(craft, at, self._tool), frame_motion(craft, at, self._grapple)
        R_BN = at.X_NB[self.base].R.T
        away, drift, spin = grapple.X_NF.p - tool.X_NF.p, grapple.v - tool.v, grapple.w - tool.w
        forward, outward = tool.X_NF.R[:, 0], grapple.X_NF.R[:, 0]
        seen = [R_BN @ x for x in (away, drift, forward, outward, spin)]
        joints = [displacements(craft, q, self.motors), v[self.motors]]
        return {
            OBSERVATION: np.concatenate([*joints, *seen, v[craft.joint(self.base).v_at]]),
            "distance": norm(away),
            "speed": norm(drift),
            "angle": 2.0 * asin(minimum(0.5 * norm(forward + outward), 1.0)),
            "relative_rate": norm(spin),
            "effort": action @ action / len(self.motors),
        }

    def reward(self, figures: Mapping[str, Array]) -> Array:
        miss = figures["distance"] + 0.5 * figures["angle"] + figures["speed"] + 0.5 * figures["relative_rate"]
        return -miss - 0.02 * figures["effort"]

    def success(self, figures: Mapping[str, Array]) -> Array:
        met = (figures["angle"] <= self.facing) & (figures["relative_rate"] <= self.together_with)
        return super().success(figures) & met


def tumbling_box() -> Spacecraft:
    """200 kg with unequal moments, its centre of mass off the middle, and a "grapple" frame on a face, x outward."""
    body = Body("box", 200.0, (0.05, -0.02, 0.03), np.array([30.0, 45.0, 55.0]), Joint("box", "free"))
    return Spacecraft.build("target", [body], frames=[Frame("grapple", "box", (0.6, 0.1, -0.05))])
