"""H*, J* and their rates for any craft with a free base, in gyrostat's own order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import Array, rotation
from ...kinematics import jacobian, jacobian_rate
from ...kinematics.arguments import configuration, rates
from ...model import Spacecraft
from ..recursive import coriolis_matrix
from .elimination import Elimination, eliminate, joint_vector, require, solve_base

AT_ORIGIN = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def generalized_inertia(craft: Spacecraft, q: Array) -> Array:
    """H* (nv - 6, nv - 6): the inertia that joints and wheels feel while the base floats. (45)

    Symmetric positive definite; the inverse of the joints' block of M^-1. It depends on the joint coordinates alone.
    The kinetic energy is `1/2 qdot^T H* qdot` plus that of the locked craft at the same momentum.
    """
    require(craft)
    return eliminate(craft, configuration(craft, q)).inertia


def generalized_inertia_rate(craft: Spacecraft, q: Array, joint_rates: Array) -> Array:
    """dH*/dt (nv - 6, nv - 6); it depends on the joints' motion alone. (65)"""
    q, qdot = configuration(craft, q), joint_vector(craft, joint_rates, "joint_rates")
    E, Mdot = eliminate(craft, q), mass_matrix_rate(craft, q, np.concatenate([np.zeros(6), qdot]))
    half = Mdot[6:, :6] @ E.X
    return Mdot[6:, 6:] - half - half.T + E.X.T @ Mdot[:6, :6] @ E.X


def generalized_jacobian(craft: Spacecraft, q: Array, frame: str, point: Any = (0.0, 0.0, 0.0)) -> Array:
    """J* (6, nv - 6) with `[w; velocity of the point] = J* qdot` while the momentum is zero, in N. (110)

    `frame` names a frame or body, `point` is given in its axes. With momentum h about Bo add `J_0 M_0^-1 h`, that is,
    use `jacobian(craft, q, frame, point) @ [base_velocity_from_momentum(...); qdot]`. Umetani & Yoshida (1989).
    """
    return turned(rotation(configuration(craft, q)[:4]), generalized_jacobian_in_base(craft, q, frame, point))


def generalized_jacobian_in_base(craft: Spacecraft, q: Array, frame: str, point: Any = (0.0, 0.0, 0.0)) -> Array:
    """J* in base axes, (6, nv - 6): it depends on the joint coordinates alone, and so do its singularities."""
    require(craft)
    q = base_at_origin(craft, q)
    J = jacobian(craft, q, frame, point)
    return J[:, 6:] - J[:, :6] @ eliminate(craft, q).X


def generalized_jacobian_rate(craft: Spacecraft, q: Array, v: Array, frame: str, point: Any = (0.0, 0.0, 0.0)) -> Array:
    """dJ*/dt (6, nv - 6), in N, at velocity v (of the base too: J* turns with it).

    J*' = J_m' - J_0' X - J_0 X',   X' = M_0^-1 (M_0m' - M_0' X).
    """
    require(craft)
    q, v = configuration(craft, q), rates(craft, v)
    E, Mdot = eliminate(craft, q), mass_matrix_rate(craft, q, v)
    J, Jdot = jacobian(craft, q, frame, point), jacobian_rate(craft, q, v, frame, point)
    return Jdot[:, 6:] - Jdot[:, :6] @ E.X - J[:, :6] @ response_rate(E, Mdot)


def response_rate(E: Elimination, Mdot: Array) -> Array:
    """X' = M_0^-1 (M_0m' - M_0' X), (6, n)."""
    return solve_base(E.M_0, Mdot[:6, 6:] - Mdot[:6, :6] @ E.X)


def mass_matrix_rate(craft: Spacecraft, q: Array, v: Array) -> Array:
    """Mdot = C + C^T, since Mdot - 2 C is skew, (nv, nv)."""
    C = coriolis_matrix(craft, q, v)
    return C + C.T


def base_at_origin(craft: Spacecraft, q: Array) -> Array:
    """The same joint coordinates with the base at N: the traced code then holds no base attitude."""
    return np.concatenate([AT_ORIGIN, configuration(craft, q)[7:]])


def turned(R_NB: Array, J: Array) -> Array:
    """Rows [w; v] from B to N, (6, k)."""
    return np.concatenate([R_NB @ J[:3], R_NB @ J[3:]])
