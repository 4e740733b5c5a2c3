"""Impedance control: the end effector of a floating craft behaves as a chosen mass, damper and spring."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import Array, Pose, inverse, wrench_to_parent
from ..kinematics import frame_pose
from ..model import Spacecraft
from .commanded import commanded_loads
from .damping import USUAL, Damping, damped_inverse
from .demands import demand_one
from .end_effector import Law, Task, error_in_N, task_state
from .references import PosePath


def impedance(
    path: PosePath,
    task: Task,
    *,
    mass: Any,
    damping: Any,
    stiffness: Any,
    force: Callable[[Spacecraft, Any, Array, Array], Array] | None = None,
    near: Damping = USUAL,
) -> Law:
    """The law tau(craft, t, q, v). With the wrench F = [torque; force] on the point from outside, in N, e the pose
    error:

        M (Vdot_d - Vdot) + D (V_d - V) + K e = -F                                                           (1)
        q'' = J_q^# (Vdot_d + M^-1 (D (V_d - V) + K e + F) - a)                                              (2)

    where a (`task_state`) holds what F does to the base, and the joints' loads carry F.
    mass, damping, stiffness: one number, or six for [w; v]. force(craft, t, q, v): F as measured; without it, none is
    expected: the point is then as stiff and damped as asked for, and as heavy as it is.
    """
    rows = list(task.rows)

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        demand_one(craft, "impedance")
        wanted = path(t)
        F = np.zeros(6) if force is None else force(craft, t, q, v)
        known = None if force is None else wrenches_at(craft, q, task, F)
        at = task_state(craft, q, v, task, wrenches=known)
        load = damping * (wanted.twist - at.twist) + stiffness * error_in_N(at, wanted) + F
        joints = damped_inverse(at.J[rows], (wanted.rate + load / mass - at.bias)[rows], near).rates  # (2)
        return commanded_loads(craft, q, v, "floating", joints=joints, wrenches=known).tau

    return control


def wrenches_at(craft: Spacecraft, q: Array, task: Task, F: Array) -> Array:
    """`wrenches` (nbodies, 6) of one wrench F = [torque; force], in N about the task's point."""
    body, X_BF = craft.locate(task.frame)
    X_NF = frame_pose(craft, q, task.frame)
    p_BQ = X_BF.p + X_BF.R @ np.asarray(task.point)
    R_BN = X_BF.R @ inverse(X_NF).R
    own = wrench_to_parent(Pose(R_BN, p_BQ), F)
    return np.array([own if other.name == body else np.zeros(6) for other in craft.bodies])
