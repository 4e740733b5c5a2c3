"""Poses of bodies and frames, base to tip."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..algebra import Array, Pose, compose
from ..model import Spacecraft
from .arguments import configuration
from .lean import Lean, lean


class Poses(NamedTuple):
    """Of all bodies, in the order of `craft.bodies`."""

    R_NB: Array  # (nbodies, 3, 3)
    p_NB: Array  # (nbodies, 3)


def forward_kinematics(craft: Spacecraft, q: Array) -> Poses:
    """Poses X_NB of all bodies."""
    X = inertial_poses(craft, configuration(craft, q))
    return Poses(np.array([X[B].R for B, _ in craft.base_to_tip]), np.array([X[B].p for B, _ in craft.base_to_tip]))


def frame_pose(craft: Spacecraft, q: Array, frame: str) -> Pose:
    """Pose (R_NF, p_NF) of a named frame or body."""
    q = configuration(craft, q)
    craft, body, X_BF = located(craft, frame, q)
    return compose(inertial_poses(craft, q)[body], X_BF)


def located(craft: Spacecraft, frame: str, *states: Array) -> tuple[Spacecraft, str, Pose]:
    """The body that a frame sits on, and its pose there; where states are recorded, on the craft in frames that cost
    less.
    """
    body, X_BF = craft.locate(frame)
    other, _ = lean(craft, {}, *states)
    if not isinstance(other, Lean):
        return craft, body, X_BF
    body, X_there = other.locate(body)
    return other, body, compose(X_there, X_BF)


def joint_poses(craft: Spacecraft, q: Array) -> dict[str, Pose]:
    """X_PB of each body on its parent."""
    return {B: craft.joint(B).pose(q) for B, _ in craft.base_to_tip}


def inertial_poses(craft: Spacecraft, q: Array) -> dict[str, Pose]:
    """X_NB of each body."""
    X_NB: dict[str, Pose] = {}
    for B, P in craft.base_to_tip:
        X_PB = craft.joint(B).pose(q)
        X_NB[B] = X_PB if P is None else compose(X_NB[P], X_PB)
    return X_NB
