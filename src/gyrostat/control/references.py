"""What joints, a frame and a whole craft are to do at one time. All references of the library are functions of time to
one of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, Pose, rotation

AT_REST = np.zeros(6)


class JointReference(NamedTuple):
    """Coordinates, rates and accelerations: of one joint (numbers), or of the driven joints in v's order (arrays)."""

    q: Any
    qdot: Any
    qddot: Any


class PoseReference(NamedTuple):
    """Of a frame D: pose X_ND, twist [w; v] and its rate [wdot; vdot], both in N, of the frame's origin. At rest by
    default.
    """

    X: Pose
    twist: Array = AT_REST  # (6,)
    rate: Array = AT_REST  # (6,)


class CraftReference(NamedTuple):
    """Of a whole craft: its base, and its driven joints."""

    base: PoseReference
    joints: JointReference


JointPath = Callable[[Any], JointReference]
PosePath = Callable[[Any], PoseReference]


def pose_reference(
    quat_ND: Any,
    p_ND: Any = (0.0, 0.0, 0.0),
    *,
    w_ND_D: Any = (0.0, 0.0, 0.0),
    wdot_ND_D: Any = (0.0, 0.0, 0.0),
    v_N: Any = (0.0, 0.0, 0.0),
    a_N: Any = (0.0, 0.0, 0.0),
) -> PoseReference:
    """From an attitude with the rates of a body-fixed frame (d/dt of R w is R wdot), and a position with its
    derivatives in N.
    """
    R = rotation(np.asarray(quat_ND))
    twist = np.concatenate([R @ np.asarray(w_ND_D), np.asarray(v_N)])
    return PoseReference(Pose(R, np.asarray(p_ND)), twist, np.concatenate([R @ np.asarray(wdot_ND_D), np.asarray(a_N)]))
