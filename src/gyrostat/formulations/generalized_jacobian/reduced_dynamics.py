"""The reduced equations of motion: joints and wheels alone, the base following from momentum."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, cross, rotation, solve_spd
from ...kinematics.arguments import configuration
from ...model import Spacecraft
from ..recursive import bias_force
from .elimination import Elimination, eliminate, joint_vector, solve_base
from .generalized_matrices import generalized_inertia_rate


class GeneralizedCoriolis(NamedTuple):
    """The velocity terms of the reduced equation, each (nv - 6,)."""

    C: Array  # C* = H*' qdot + c*  (49)
    # c* = C* - H*' qdot; for joints whose rates are derivatives of coordinates -1/2 d/dq (qdot^T H* qdot)  (48)
    c: Array


def base_velocity_from_momentum(craft: Spacecraft, q: Array, joint_rates: Array, momentum: Any = None) -> Array:
    """V_NB_B (6,), the base's part of v, that gives the craft this momentum; zero by default. (42), (109)

    `momentum` is what `gs.momentum(craft, q, v)` gives: [angular; linear] in N about N's origin, constant in free
    flight.
    """
    q, qdot = configuration(craft, q), joint_vector(craft, joint_rates, "joint_rates")
    return _base_velocity(eliminate(craft, q), q, qdot, momentum)


def generalized_coriolis(craft: Spacecraft, q: Array, joint_rates: Array) -> GeneralizedCoriolis:
    """C* and c* at zero momentum: `H* qddot + C* = tau`. (46)-(50)

    From the forces that the motion (109) needs at zero acceleration, h: C* = h_m - M_0m^T M_0^-1 h_0; no derivative of
    H*.
    """
    q, qdot = configuration(craft, q), joint_vector(craft, joint_rates, "joint_rates")
    C = _reduced_bias(craft, eliminate(craft, q), q, qdot, None, None)
    return GeneralizedCoriolis(C, C - generalized_inertia_rate(craft, q, qdot) @ qdot)


def reduced_bias_force(
    craft: Spacecraft, q: Array, joint_rates: Array, *, momentum: Any = None, wrenches: Any = None
) -> Array:
    """The velocity terms of the reduced equation at any momentum, less the effect of wrenches, (nv - 6,).

    With zero momentum and no wrenches it is C*; else (44 corrected) with everything but H* qddot on the left.
    """
    q, qdot = configuration(craft, q), joint_vector(craft, joint_rates, "joint_rates")
    return _reduced_bias(craft, eliminate(craft, q), q, qdot, momentum, wrenches)


def reduced_forward_dynamics(
    craft: Spacecraft, q: Array, joint_rates: Array, joint_efforts: Array, *, momentum: Any = None, wrenches: Any = None
) -> Array:
    """qddot (nv - 6,) of joints and wheels under their efforts (nv - 6,), nothing acting on the base. (44 corrected)

    `momentum`: as in `base_velocity_from_momentum`; it is constant unless wrenches act. When it is not zero the base's
    pose in q matters and must be integrated along with `base_velocity_from_momentum`.
    """
    q, qdot = configuration(craft, q), joint_vector(craft, joint_rates, "joint_rates")
    tau, E = joint_vector(craft, joint_efforts, "joint_efforts"), eliminate(craft, q)
    return solve_spd(E.inertia, tau - _reduced_bias(craft, E, q, qdot, momentum, wrenches))


def reduced_inverse_dynamics(
    craft: Spacecraft,
    q: Array,
    joint_rates: Array,
    joint_accelerations: Array,
    *,
    momentum: Any = None,
    wrenches: Any = None,
) -> Array:
    """Efforts tau (nv - 6,) of joints and wheels that make them accelerate as given while the base floats. (50)

    `H* qddot` and `reduced_bias_force`; what the paper calls the direct dynamics of computed torque control.
    """
    q, qdot = configuration(craft, q), joint_vector(craft, joint_rates, "joint_rates")
    qddot, E = joint_vector(craft, joint_accelerations, "joint_accelerations"), eliminate(craft, q)
    return E.inertia @ qddot + _reduced_bias(craft, E, q, qdot, momentum, wrenches)


def _base_velocity(E: Elimination, q: Array, qdot: Array, momentum: Any) -> Array:
    answer = -(E.X @ qdot)
    if momentum is None:
        return answer
    h, R_BN, p_NB = _momentum(momentum), rotation(q[:4]).T, q[4:7]
    h_B = np.concatenate([R_BN @ (h[:3] - cross(p_NB, h[3:])), R_BN @ h[3:]])
    return solve_base(E.M_0, h_B) + answer


def _reduced_bias(craft: Spacecraft, E: Elimination, q: Array, qdot: Array, momentum: Any, wrenches: Any) -> Array:
    v = np.concatenate([_base_velocity(E, q, qdot, momentum), qdot])
    return E.reduced(bias_force(craft, q, v, wrenches=wrenches))


def _momentum(momentum: Any) -> Array:
    h = np.asarray(momentum)
    if h.shape != (6,):
        raise ValueError(
            f"momentum has shape {h.shape}; expected (6,): [angular; linear] in N about N's origin, as "
            "gs.momentum gives it."
        )
    return h
