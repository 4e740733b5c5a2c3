"""Compliant contact of a probe with a surface, before anything is grasped: spring, damper and friction,
as wrenches on two bodies.

The probe is a ball of some radius at the origin of a frame (radius zero: a point). With depth d, its rate, n the
surface's normal at the contact, u the slip velocity of the probe on the surface:

    f_n = k d (1 + c ddot), not below zero (Hunt & Crossley with exponent one),  f_t = -mu f_n u / sqrt(u.u + e^2)   (1)

Both bodies feel opposite forces at the same point, so momentum is kept. The spring's energy 1/2 k d^2 is the potential.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, cross, maximum, sqrt, where
from ..kinematics import body_twists, inertial_poses, joint_poses
from ..kinematics.relative_motion import FrameMotion, Kinematics, frame_motion
from ..model import Spacecraft
from .gravity import Environment


@dataclass(frozen=True)
class ContactLaw:
    """stiffness k (N/m), damping c (s/m), friction mu, and the slip speed (m/s) below which friction fades."""

    stiffness: float
    damping: float = 0.0
    friction: float = 0.0
    slip_speed: float = 1e-3

    def __post_init__(self) -> None:
        if not self.stiffness > 0 or self.damping < 0 or self.friction < 0 or not self.slip_speed > 0:
            raise ValueError(
                f"contact: stiffness {self.stiffness} and slip speed {self.slip_speed} must be above zero, damping "
                f"{self.damping} and friction {self.friction} not below."
            )


def contact_with_plane(probe: str, surface: str, law: ContactLaw, *, radius: float = 0.0) -> Environment:
    """The probe touches the plane z = 0 of the frame `surface` from above; frames or bodies of one craft, or "N"."""

    def gap(ball: FrameMotion, ground: FrameMotion) -> tuple[Any, Array]:
        n = ground.X_NF.R[:, 2]
        return n @ (ball.X_NF.p - ground.X_NF.p) - radius, n

    return _contact(probe, surface, law, radius, gap)


def contact_with_sphere(
    probe: str, sphere: str, law: ContactLaw, *, sphere_radius: float, radius: float = 0.0
) -> Environment:
    """The probe touches, from outside, a sphere about the origin of the frame `sphere`."""

    def gap(ball: FrameMotion, ground: FrameMotion) -> tuple[Any, Array]:
        r = ball.X_NF.p - ground.X_NF.p
        away = r @ r > 0.0
        distance = sqrt(where(away, r @ r, 1.0))
        return where(away, distance, 0.0) - radius - sphere_radius, r / distance

    return _contact(probe, sphere, law, radius, gap)


def _contact(
    probe: str,
    surface: str,
    law: ContactLaw,
    radius: float,
    gap: Callable[[FrameMotion, FrameMotion], tuple[Any, Array]],
) -> Environment:
    def motions(craft: Spacecraft, q: Array, v: Array) -> tuple[Kinematics, FrameMotion, FrameMotion]:
        at = Kinematics(inertial_poses(craft, q), body_twists(craft, q, v, joint_poses(craft, q)))
        return at, frame_motion(craft, at, probe), frame_motion(craft, at, surface)

    def wrenches(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        at, ball, ground = motions(craft, q, v)
        height, n = gap(ball, ground)
        point = ball.X_NF.p - (radius + 0.5 * height) * n  # in the middle of the overlap
        slip = _velocity(ball, point) - _velocity(ground, point)
        closing = -(n @ slip)
        depth = maximum(-height, 0.0)
        normal = maximum(law.stiffness * depth * (1.0 + law.damping * closing), 0.0)
        along = slip + closing * n
        force = normal * n - law.friction * normal * along / sqrt(along @ along + law.slip_speed**2)  # (1)
        return np.array([_wrench(at, ball, ground, B, point, force) for B, _ in craft.base_to_tip])

    def potential(craft: Spacecraft, t: Any, q: Array) -> Any:
        _, ball, ground = motions(craft, q, np.zeros(craft.nv))
        depth = maximum(-gap(ball, ground)[0], 0.0)
        return 0.5 * law.stiffness * depth * depth

    return Environment(wrenches, potential if law.damping == 0.0 and law.friction == 0.0 else None)


def _velocity(frame: FrameMotion, point: Array) -> Array:
    """Of the point of the frame's body that is there now, in N."""
    return frame.v + cross(frame.w, point - frame.X_NF.p)


def _wrench(at: Kinematics, ball: FrameMotion, ground: FrameMotion, B: str, point: Array, force: Array) -> Array:
    """Of the force on the probe's body and its opposite on the surface's, about Bo in B."""
    total = np.zeros(6)
    for frame, sign in ((ball, 1.0), (ground, -1.0)):
        if frame.body == B:
            X = at.X_NB[B]
            f_B = sign * (X.R.T @ force)
            total = total + np.concatenate([cross(X.R.T @ (point - X.p), f_B), f_B])
    return total
