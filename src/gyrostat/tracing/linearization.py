"""The linearised equations of motion, on the manifold of configurations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..algebra import Array
from ..algebra.linear import inverse_spd
from ..formulations.recursive import bias_force, inverse_dynamics, mass_matrix
from ..kinematics import configuration_rate
from ..model import Spacecraft
from .inverse_dynamics_derivatives import inverse_dynamics_derivatives
from .jacobian import jacobian_of


class LinearMotion(NamedTuple):
    """d/dt [dq; dv] = A [dq; dv] + B dtau."""

    A: Array  # (2 nv, 2 nv)
    B: Array  # (2 nv, nv)


def linear_motion(craft: Spacecraft, q: Array, v: Array, tau: Array) -> LinearMotion:
    """A and B of the bare equations of motion near (q, v, tau), in tangent coordinates: dq (nv,) as
    `step_configuration` takes it, dv (nv,).

    Without springs, environment, control and constraints, for which see `gs.linearize`; this one can be compiled.

    With T(q) the map of velocities to rates of q (qdot = T v, so that q changes by T dq) and vdot = M^-1 (tau - C v):

        T d(dq)/dt = (d(T v)/dq T - Tdot) dq + T dv           (1)
        d(dv)/dt   = -M^-1 (dID/dq dq + dID/dv dv - dtau)     (2)

    (2) since ID(q, v, vdot(q, v, tau)) = tau holds everywhere: inverse dynamics is short, and so are its derivatives.
    Columns of T are orthogonal, each of constant length.
    """
    q, v = np.asarray(q), np.asarray(v)
    M_inverse = inverse_spd(mass_matrix(craft, q))
    vdot = M_inverse @ (tau - bias_force(craft, q, v))
    carried, moving = tangent_rates(craft, q, v)  # (1)
    if craft.bends:  # the closed form is for rigid bodies
        T = jacobian_of(configuration_rate, "v")(craft, q, v)
        by_q = jacobian_of(inverse_dynamics, "q")(craft, q, v, vdot) @ T
        by_v = jacobian_of(inverse_dynamics, "v")(craft, q, v, vdot)
    else:
        by_q, by_v = inverse_dynamics_derivatives(craft, q, v, vdot)
    by_state = -M_inverse @ np.hstack([by_q, by_v])  # (2)
    A = np.block([[carried, np.diag(moving)], [by_state]])
    return LinearMotion(A, np.concatenate([np.zeros((craft.nv, craft.nv)), M_inverse]))


def tangent_rates(craft: Spacecraft, q: Array, v: Array) -> tuple[Array, Array]:
    """(1): d(dq)/dt = carried dq + moving dv; moving (nv,) is 1, or 0 for wheels,
    which have a speed and no coordinate.
    """
    T = jacobian_of(configuration_rate, "v")(craft, q, v)  # (nq, nv)
    Tv_by_q = jacobian_of(configuration_rate, "q")(craft, q, v)
    Tdot = jacobian_of(jacobian_of(configuration_rate, "v"), "q")(craft, q, v) @ (T @ v)
    length = np.array([column @ column for column in T.T])
    still = np.asarray(length == 0, dtype=bool)
    carried = (T.T @ (Tv_by_q @ T - Tdot)) / np.where(still, 1.0, length)[:, None]
    return carried, np.where(still, 0.0, 1.0)
