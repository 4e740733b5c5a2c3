"""Constraints that begin to hold where their frames are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array, Pose
from ..kinematics import body_twists, inertial_poses, joint_poses
from ..kinematics.arguments import configuration
from ..kinematics.relative_motion import Kinematics, frame_motion
from ..kinematics.relative_motion import relative_pose as pose_between
from ..model import Spacecraft
from .catalogue import as_it_is
from .kinds import AbstractConstraint


def relative_pose(craft: Spacecraft, q: Array, first: str, second: str) -> Pose:
    """Where the frame `second` stands in the frame `first`; each names a frame or body, or is "N"."""
    q = configuration(craft, q)
    still = np.zeros(craft.nv)
    at = Kinematics(inertial_poses(craft, q), body_twists(craft, q, still, joint_poses(craft, q)))
    return pose_between(frame_motion(craft, at, first), frame_motion(craft, at, second))


def grasped(craft: Spacecraft, t: Any, q: Array, constraint: AbstractConstraint) -> AbstractConstraint:
    """The constraint about the pose that its frames have at q, at time t: it holds there, whatever pose or length it
    was given.
    """
    return as_it_is(constraint, relative_pose(craft, q, constraint.first, constraint.second), t)
