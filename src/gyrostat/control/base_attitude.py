"""Attitude of the base: by wheels, with the arm's reaction fed forward; base and arm together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import Array, cross
from ..model import Role, Spacecraft
from .commanded import commanded_loads
from .demands import base_pose, demand_free_base, driven_coordinates, placed
from .errors import pose_error
from .references import JointPath, PosePath, PoseReference
from .wheels import share_torque, wheel_axes

Law = Callable[[Spacecraft, Any, Array, Array], Array]
Arm = Callable[[Spacecraft, Any, Array, Array], Array]


def turn_command(craft: Spacecraft, q: Array, v: Array, wanted: PoseReference, kp: Any, kd: Any) -> Array:
    """d/dt w_NB_B for e'' + kd e' + kp e = 0 near the reference, (3,).

    w'_d in B + kd (w_d in B - w) + kp e,   d/dt (R_BN w_d) = R_BN wdot_d - w x (R_BN w_d)               (1)
    """
    X, w = base_pose(craft, q), v[:3]
    w_d = X.R.T @ wanted.twist[:3]
    e = pose_error(X, wanted.X)[:3]
    return X.R.T @ wanted.rate[:3] - cross(w, w_d) + kd * (w_d - w) + kp * e


def push_command(craft: Spacecraft, q: Array, v: Array, wanted: PoseReference, kp: Any, kd: Any) -> Array:
    """d/dt v_NB_B, likewise for the base's position, (3,). In B: v' + w x v = R^T a."""
    R_NB, p = base_pose(craft, q)
    a = wanted.rate[3:] + kp * (wanted.X.p - p)
    return R_NB.T @ (a + kd * wanted.twist[3:]) - kd * v[3:6] - cross(v[:3], v[3:6])


def wheel_attitude(
    reference: PosePath,
    arm: Arm,
    *,
    kp: float = 0.25,
    kd: float = 1.0,
    feed_forward: bool = True,
    inertia: Any = None,
    null_motion: Callable[[Spacecraft, Any, Array, Array], Array] | None = None,
) -> Law:
    """Wheels hold the base's attitude while the arm accelerates as `arm(craft, t, q, v)` says, (joints,).

    feed_forward: the wheels know what the arm does (mode "rotation-floating" of `commanded_loads`). Without it they
    only see the error: torque = inertia (kp e + kd (w_d - w)), with the craft's own `inertia` (3, 3), and the arm moves
    the base. null_motion(craft, t, q, v): wheel accelerations, of which what does not turn the base is done.
    """

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        demand_free_base(craft, "wheel_attitude")
        joints = arm(craft, t, q, v)
        turn = turn_command(craft, q, v, reference(t), kp, kd)
        if feed_forward:
            spare = None if null_motion is None else null_motion(craft, t, q, v)
            return commanded_loads(craft, q, v, "rotation-floating", joints=joints, turn=turn, null_motion=spare).tau
        tau = commanded_loads(craft, q, v, "floating", joints=joints).tau
        torques = share_torque(wheel_axes(craft, q), np.asarray(inertia) @ turn)
        return tau + placed(craft, craft.at(Role.wheel), torques)

    return control


def coordinated(reference: PosePath, arm: Arm, *, kp: float = 0.25, kd: float = 1.0, mode: str = "flying") -> Law:
    """Base and arm each follow their own reference exactly: all loads from one model of the whole craft.

    mode: "flying" (force and couple on the base), or "translation-flying", "rotation-flying" for part of it.
    """

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        demand_free_base(craft, "coordinated")
        commands = base_commands(reference, kp=kp, kd=kd, mode=mode)(craft, t, q, v)
        return commanded_loads(craft, q, v, mode, joints=arm(craft, t, q, v), **commands).tau

    return control


def base_commands(
    reference: PosePath, *, kp: float = 0.25, kd: float = 1.0, mode: str = "flying"
) -> Callable[[Spacecraft, Any, Array, Array], dict[str, Array]]:
    """`base=` of `resolved_acceleration`: the accelerations that keep the base on its reference, as the mode takes
    them.

    (3,) each: rad/s^2 and m/s^2.
    """

    def commands(craft: Spacecraft, t: Any, q: Array, v: Array) -> dict[str, Array]:
        demand_free_base(craft, "base_commands")
        wanted = reference(t)
        own: dict[str, Array] = {}
        if mode in ("flying", "rotation-flying", "rotation-floating"):
            own["turn"] = turn_command(craft, q, v, wanted, kp, kd)
        if mode in ("flying", "translation-flying"):
            own["push"] = push_command(craft, q, v, wanted, kp, kd)
        return own

    return commands


def joint_acceleration(reference: JointPath, *, kp: Any = 4.0, kd: Any = 4.0) -> Arm:
    """An arm's wished accelerations from a joint reference: qddot_d + kd (qdot_d - qdot) + kp (q_d - q), (joints,).

    reference: as of `computed_torque`, for the driven joints without the wheels.
    """

    def arm(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        wanted = reference(t)
        error, rate = wanted.q - q[driven_coordinates(craft, "joint_acceleration")], v[craft.at(Role.driven)]
        return wanted.qddot + kd * (wanted.qdot - rate) + kp * error

    return arm
