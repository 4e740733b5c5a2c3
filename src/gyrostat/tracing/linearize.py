"""The linearised equations of motion, on the manifold of configurations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..algebra import Array, ldl, ldl_solve
from ..formulations.recursive import configuration_rate, forward_dynamics, inverse_dynamics, mass_matrix
from ..model import Spacecraft
from .jacobian import jacobian_of


class Linearization(NamedTuple):
    """d/dt [dq; dv] = A [dq; dv] + B dtau."""

    A: Array  # (2 nv, 2 nv)
    B: Array  # (2 nv, nv)


def linearize(craft: Spacecraft, q: Array, v: Array, tau: Array) -> Linearization:
    """A and B of the motion near (q, v, tau), in tangent coordinates: dq (nv,) as `step_configuration` takes it, and dv (nv,).

    With T(q) the map of velocities to rates of q (qdot = T v, so that q changes by T dq) and vdot = FD(q, v, tau):

        T d(dq)/dt = (d(T v)/dq T - Tdot) dq + T dv           (1)
        d(dv)/dt   = -M^-1 (dID/dq T dq + dID/dv dv - dtau)    (2)

    (2) since ID(q, v, FD(q, v, tau)) = tau holds everywhere: inverse dynamics is short, and so are its derivatives. Columns of T
    are orthogonal, each of constant length.
    """
    q, v = np.asarray(q), np.asarray(v)
    vdot = forward_dynamics(craft, q, v, tau)
    T = jacobian_of(configuration_rate, "v")(craft, q, v)  # (nq, nv)
    Tv_by_q = jacobian_of(configuration_rate, "q")(craft, q, v)
    Tdot = jacobian_of(jacobian_of(configuration_rate, "v"), "q")(craft, q, v) @ (T @ v)
    length = np.array([column @ column for column in T.T])
    still = np.asarray(length == 0, dtype=bool)  # wheels have a speed, and no coordinate
    carried = (T.T @ (Tv_by_q @ T - Tdot)) / np.where(still, 1.0, length)[:, None]  # (1)
    by_q, by_v = jacobian_of(inverse_dynamics, ("q", "v"))(craft, q, v, vdot)
    by_state = _solve(mass_matrix(craft, q), np.hstack([by_q @ T, by_v, -np.eye(craft.nv)]))  # (2)
    A = np.block([[carried, np.diag(np.where(still, 0.0, 1.0))], [-by_state[:, : 2 * craft.nv]]])
    B = np.concatenate([np.zeros((craft.nv, craft.nv)), -by_state[:, 2 * craft.nv :]])
    return Linearization(A, B)


def _solve(M: Array, b: Array) -> Array:
    """M^-1 b, eliminating from the tips to the base: branches of the tree stay apart, so zeros stay zeros."""
    return ldl_solve(*ldl(M[::-1, ::-1]), b[::-1])[::-1]
