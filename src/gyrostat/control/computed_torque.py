"""Computed torque control of joints on a floating base: equations (112)-(115) of Wilde et al. (2018), corrected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import Array, sqrt
from ..formulations.generalized_jacobian import generalized_inertia, reduced_inverse_dynamics
from ..formulations.recursive import momentum as momentum_of
from ..kinematics import configuration_difference
from ..model import Spacecraft
from .rate_profile import Reference

MOMENTUM = ("zero", "measured")


def computed_torque(
    reference: Callable[[Any], Reference],
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

    reference: gives joint coordinates (as q[7:]), rates and accelerations (as v[6:]) at a time; see `RateProfile`.
    kp, kd: one number, or one per rate, in 1/s^2 and 1/s: u is an acceleration. `gains` chooses them.
    estimate: the craft that the controller believes in (H~*, C~*); the true one by default. Same joints, other mass properties.
    momentum: "zero", the paper's assumption: C~* from joint rates alone; or "measured": from the base's velocity too, which a
        tumbling craft needs.

    With a perfect model, and the momentum assumed rightly, each joint obeys `e'' + K_D e' + K_P e = qddot_D` (with feed-forward:
    zero), whatever the craft.
    """
    if momentum not in MOMENTUM:
        raise ValueError(f"momentum is '{momentum}'; expected one of {', '.join(map(repr, MOMENTUM))}.")

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        target = reference(t)
        u = kd * (target.qdot - v[6:]) + kp * joint_error(craft, q, target.q)  # (112)
        if feed_forward:
            u = u + target.qddot
        model = craft if estimate is None else estimate
        h = momentum_of(model, q, v) if momentum == "measured" else None
        tau = reduced_inverse_dynamics(model, q, v[6:], u, momentum=h)  # (115)
        return np.concatenate([np.zeros(6), tau])

    return control


def joint_error(craft: Spacecraft, q: Array, target: Array) -> Array:
    """Rates that would bring the joints from q to the target coordinates in one second, (nv - 6,); zero for wheels."""
    return configuration_difference(craft, q, np.concatenate([q[:7], target]))[6:]


def gains(
    craft: Spacecraft, q: Array, *, max_torque: Any, max_error: Any, damping: float = 0.5**0.5
) -> tuple[Array, Array]:
    """K_P and K_D (nv - 6,) such that the largest error asks for the largest torque. (113), (114), corrected

    K_P = tau_max / (H*_ii e_max)      (113 corrected: u is an acceleration, tau_max / e_max is not)
    K_D = 2 damping sqrt(K_P)          (114 corrected: sqrt(2 K_P) for damping 0.707; printed sqrt(2) K_P)
    """
    kp = np.asarray(max_torque) / (np.diag(generalized_inertia(craft, q)) * np.asarray(max_error))
    return kp, 2.0 * damping * sqrt(kp)
