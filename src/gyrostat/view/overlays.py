"""What is drawn beside the bodies: centre of mass, trails, and arrows for momenta and for loads in joints."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, cross, wrench_to_parent
from ..kinematics import body_twists, center_of_mass, inertial_poses, joint_poses, momentum_of
from ..model import Spacecraft


class Momenta(NamedTuple):
    """Angular momenta about the craft's centre of mass, in N, and its total linear momentum."""

    base: Array
    carried: Array
    linear: Array


def momenta(craft: Spacecraft, q: Array, v: Array) -> Momenta:
    """Of the base alone, of everything it carries, and of the whole:
    where arm and base share one momentum, one sees it.
    """
    X_NB, V = inertial_poses(craft, q), body_twists(craft, q, v, joint_poses(craft, q))
    h = {B: wrench_to_parent(X_NB[B], momentum_of(craft, q, v, B, V[B])) for B, _ in craft.base_to_tip}
    com = center_of_mass(craft, q)
    about_com = {B: h[B][:3] - cross(com, h[B][3:]) for B in h}
    carried: Any = sum((about_com[B] for B, P in craft.base_to_tip if P is not None), np.zeros(3))
    linear: Any = sum(x[3:] for x in h.values())
    return Momenta(about_com[craft.base], carried, linear)


def trail_points(craft: Spacecraft, most: int = 4) -> list[str]:
    """Frames, or else bodies, at the ends of the tree: what leaves a trail. The base comes first."""
    parents = {body.parent for body in craft.bodies if not body.joint.motion.spins}
    tips = [body.name for body in craft.bodies[1:] if body.name not in parents and not body.joint.motion.spins]
    named = [frame.name for frame in craft.frames if frame.body in tips]
    bare = [tip for tip in tips if not any(frame.body == tip for frame in craft.frames)]
    return [craft.base, *(named + bare)[:most]]
