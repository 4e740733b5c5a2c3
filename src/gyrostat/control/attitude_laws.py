"""Classical attitude laws with wheels: quaternion feedback and sliding mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array, clip, cross, solve_spd
from ..formulations.recursive import mass_matrix
from ..model import Spacecraft
from .base_attitude import Law
from .demands import base_pose, demand_free_base, driven_wheels, placed, places
from .detumble import angular_momentum_in_base
from .errors import pose_error
from .references import PosePath
from .wheels import share_torque, towards_speeds, wheel_axes


def quaternion_feedback(reference: PosePath, *, kp: float, kd: float, speeds: Any = None, rate: float = 0.01) -> Law:
    """Wheels bring the base to the attitude of reference(t) and hold it there:

        torque = J (kp e + kd (w_d - w) + w_d') + w x H,   w' = w_d' + kp e + kd (w_d - w)                        (1)

    with e the rotation vector to the reference, J the inertia of all that moves with the base, and H the angular
    momentum of the whole, wheels too, about the centre of mass, in base axes; joints that have motors are left alone.
    kp in 1/s^2, kd in 1/s. speeds: of the wheels, rad/s, which they approach at `rate` in 1/s as far as that turns
    nothing: away from zero, where friction changes its sign. Wie, Weiss, Arapostathis (1989).
    """
    _demand_gains("quaternion_feedback", kp=kp, kd=kd)

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        e, off, ahead = _away(craft, t, q, v, reference, "quaternion_feedback")
        rest = None if speeds is None else towards_speeds(craft, v, np.asarray(speeds, dtype=float), rate)
        return _by_wheels(craft, q, v, ahead + kp * e + kd * off, rest)

    return control


def sliding_mode(reference: PosePath, *, slope: float, reach: float, layer: float) -> Law:
    """Wheels bring the base to the attitude of reference(t) along the surface s = 0, and keep it there against loads
    that nobody told of, up to J reach:

        s = (w - w_d) - slope e,   w' = w_d' + slope e' - reach sat(s / layer),   e' = w_d - w                    (1)

    On the surface e dies out as exp(-slope t). slope in 1/s, reach in rad/s^2, layer in rad/s: the width within which
    the load fades in place of switching. Vadali (1986).
    """
    _demand_gains("sliding_mode", slope=slope, reach=reach, layer=layer)

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        e, off, ahead = _away(craft, t, q, v, reference, "sliding_mode")
        s = -off - slope * e
        return _by_wheels(craft, q, v, ahead + slope * off - reach * clip(s / layer, -1.0, 1.0))

    return control


def _demand_gains(law: str, **gains: float) -> None:
    for name, value in gains.items():
        if not 0.0 < value < np.inf:
            raise ValueError(f"{law}: {name} is {value}; expected a number above zero.")


def _away(craft: Spacecraft, t: Any, q: Array, v: Array, reference: PosePath, law: str) -> tuple[Array, Array, Array]:
    """Rotation vector to the reference, w_d - w, and d/dt w_d, all in base axes."""
    base = demand_free_base(craft, law)
    if not driven_wheels(craft):
        raise ValueError(f"{law}: {craft.name} has no wheels that are driven. Add some, such as control.wheel_pyramid.")
    wanted, X = reference(t), base_pose(craft, q)
    w = base.rate(v)[:3]
    e = pose_error(X, wanted.X)[:3]
    w_d = X.R.T @ wanted.twist[:3]
    return e, w_d - w, X.R.T @ wanted.rate[:3] - cross(w, w_d)


def _by_wheels(craft: Spacecraft, q: Array, v: Array, turn: Array, null_motion: Array | None = None) -> Array:
    """Loads (nv,) that turn the base by d/dt w = turn as a rigid body with wheels: what the base resists is its inertia
    less what moves freely with it (Schur): J = M_ww - M_wr M_rr^-1 M_rw, r: translation and wheels.
    """
    at = places(craft).wheels
    M = mass_matrix(craft, q)
    rest = [3, 4, 5, *at]
    J = M[:3, :3] - M[:3, rest] @ solve_spd(M[np.ix_(rest, rest)], M[rest, :3])
    torque = J @ turn + cross(v[:3], angular_momentum_in_base(craft, q, v))
    return placed(craft, at, share_torque(wheel_axes(craft, q), torque, null_motion))
