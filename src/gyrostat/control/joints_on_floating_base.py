"""Computed torque control of joints on a floating base: equations (112)-(115) of Wilde et al. (2018), corrected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import Array, sqrt
from ..formulations.generalized_jacobian import base_velocity_from_momentum
from ..kinematics import configuration_difference
from ..model import Role, Spacecraft
from .commanded import followed_inertia, following_loads
from .demands import demand_free_base, driven_joints
from .references import JointPath

MOMENTUM = ("zero", "measured")


def computed_torque(
    reference: JointPath,
    *,
    kp: Any = 1.0,
    kd: Any = 1.0,
    estimate: Spacecraft | None = None,
    feed_forward: bool = False,
    momentum: str = "zero",
) -> Callable[[Spacecraft, Any, Array, Array], Array]:
    """The controller `control(craft, t, q, v) -> tau`; nothing acts on the base.

        u   = K_D (qdot_D - qdot) + K_P (q_D - q)  [+ qddot_D, with feed_forward: absent in the paper]      (112)
        tau = H~* u + C~*                                                                                   (115)

    reference: gives coordinates of the driven joints, rates and accelerations of these and then the wheels; see
    `RateProfile`.
    kp, kd: one number, or one per rate, in 1/s^2 and 1/s: u is an acceleration. `gains` chooses them.
    estimate: the craft that the controller believes in (H~*, C~*); the true one by default. Same joints, other mass
    properties.
    momentum: "zero", the paper's assumption: C~* from joint rates alone; or "measured": from the base's velocity too,
    which a
        tumbling craft needs.

    Springs, dampers and friction are part of C~*; a joint without a motor goes along as it must. With a perfect model,
    and the momentum assumed rightly, each joint obeys `e'' + K_D e' + K_P e = qddot_D` (with feed-forward: zero),
    whatever the craft.
    """
    if momentum not in MOMENTUM:
        raise ValueError(f"momentum is '{momentum}'; expected one of {', '.join(map(repr, MOMENTUM))}.")

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        base = demand_free_base(craft, "computed_torque")
        at, target = craft.at(Role.driven, Role.wheel), reference(t)
        u = kd * (target.qdot - v[at]) + kp * joint_error(craft, q, target.q)  # (112)
        if feed_forward:
            u = u + target.qddot
        model = craft if estimate is None else estimate
        if momentum == "zero":
            v = np.concatenate([base_velocity_from_momentum(model, q, v[base.nv :]), v[base.nv :]])
        return following_loads(model, q, v, at, u).tau  # (115)

    return control


def joint_error(craft: Spacecraft, q: Array, target: Array) -> Array:
    """Rates that would bring the driven joints from q to the target coordinates in one second; then zeros for the
    wheels.

    (n,), rad/s or m/s. Raises ValueError unless the target has one number for each driven coordinate.
    """
    wanted, used = [], 0
    driven = {joint.name for joint in driven_joints(craft)}
    for joint in craft.joints:
        here = q[joint.q_at]
        if joint.name in driven:
            here, used = np.asarray(target)[used : used + joint.nq], used + joint.nq
        wanted.append(here)
    if used != len(target):
        raise ValueError(f"target has {len(target)} coordinates; the driven joints of {craft.name} have {used}.")
    return configuration_difference(craft, q, np.concatenate(wanted))[craft.at(Role.driven, Role.wheel)]


def gains(
    craft: Spacecraft, q: Array, *, max_torque: Any, max_error: Any, damping: float = 0.5**0.5
) -> tuple[Array, Array]:
    """K_P and K_D of the driven joints and wheels such that the largest error asks for the largest torque. (113),
    (114), corrected

    K_P = tau_max / (H*_ii e_max)      (113 corrected: u is an acceleration, tau_max / e_max is not)
    K_D = 2 damping sqrt(K_P)          (114 corrected: sqrt(2 K_P) for damping 0.707; printed sqrt(2) K_P)
    """
    demand_free_base(craft, "gains")
    inertia = followed_inertia(craft, q, craft.at(Role.driven, Role.wheel))
    kp = np.asarray(max_torque) / (np.diag(inertia) * np.asarray(max_error))
    return kp, 2.0 * damping * sqrt(kp)
