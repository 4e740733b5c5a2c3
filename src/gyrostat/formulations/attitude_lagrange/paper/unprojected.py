"""Lagrange's equation before Gamma^T is applied: redundant coordinates, their constraints, and multipliers that mean
nothing.

With S = diag(1, S_B), Xi = [0 Xi_B], and nu = S qdot:

    S^T M nudot + h' = f + Xi^T lambda                                                                     (raw)
    h' = S^T Mdot nu + [0; (Sdot - dw/dq)^T (M nu)_2] + [0; (d(C v)/dq)^T c^ w]
    S^T M S qddot - Xi^T lambda = f - h' - S^T M Sdot qdot,   Xi qddot = -Xidot qdot                       (KKT)

S^T M S has rank 6 only, yet the matrix of (KKT) is regular, since [S; Xi] has full rank. Here it is solved through K =
S^T M S + Xi^T Xi, positive definite, and the Schur complement Xi K^-1 Xi^T. lambda depends on how S is continued off
the constraint: it is no load that anything feels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....algebra import Array, cross, ldl, ldl_solve, mirror, solve_spd
from ....algebra.directional import gradient
from ....attitude import AbstractParameterisation
from ..one_body import RigidBody, mass_matrix, mass_matrix_rate


class RawAccelerations(NamedTuple):
    qddot: Array  # (3 + nq,): of r, and of the attitude parameters
    multipliers: Array  # (nq - 3,), without physical meaning
    nudot: Array  # (6,): (vdot_N; wdot_B)


def velocity_map(p: AbstractParameterisation, q: Array) -> Array:
    """S = diag(1, S_B), (6, 3 + nq)."""
    return _beside_identity(p.S(q))


def rate_map(p: AbstractParameterisation, q: Array) -> Array:
    """Gamma = diag(1, Gamma_B), (3 + nq, 6)."""
    return _beside_identity(p.Gamma(q))


def constraint_matrix(p: AbstractParameterisation, q: Array) -> Array:
    """Xi = [0 Xi_B], (nq - 3, 3 + nq)."""
    return np.hstack([np.zeros((p.nc, 3)), p.Xi(q)])


def generalised_force(p: AbstractParameterisation, q: Array, forces_N: Array, points_B: Array) -> Array:
    """f (3 + nq,) of point forces (k, 3) in N at points (k, 3) from z in B: (sum f; sum (d(C^T r)/dq)^T f). Gamma^T f =
    (sum f; sum r x C f).
    """
    total = np.zeros(3 + p.nq)
    for force, point in zip(np.asarray(forces_N), np.asarray(points_B), strict=True):
        total = total + np.concatenate([force, _lever(p, q, point).T @ force])
    return total


def _lever(p: AbstractParameterisation, q: Array, point_B: Array) -> Array:
    """d(C^T r)/dq, (3, nq)."""
    return gradient(lambda at: p.C(at).T @ point_B, q)


def couple(p: AbstractParameterisation, q: Array, moment_B: Array) -> Array:
    """f (3 + nq,) of a pure couple: S^T m, since Gamma^T S^T = 1."""
    return np.concatenate([np.zeros(3), p.S(q).T @ moment_B])


def velocity_terms(body: RigidBody, p: AbstractParameterisation, q: Array, qdot: Array, v: Array) -> Array:
    """h' of (raw), (3 + nq,)."""
    S, C = p.S(q), p.C(q)
    w = S @ qdot
    nu = np.concatenate([v, w])
    turn = (p.S_rate(q, qdot) - p.w_gradient(q, qdot)).T @ (mass_matrix(body, C) @ nu)[3:]
    shift = gradient(lambda at: p.C(at) @ v, q).T @ cross(body.c, w)
    return _beside_identity(S).T @ (mass_matrix_rate(body, C, w) @ nu) + np.concatenate([np.zeros(3), turn + shift])


def raw_accelerations(
    body: RigidBody, p: AbstractParameterisation, q: Array, qdot: Array, v: Array, force: Array
) -> RawAccelerations:
    """Solution of (KKT). q, qdot: attitude parameters and rates (nq,) with Phi = 0, Xi qdot = 0; v in N; force (3 +
    nq,).
    """
    S, Xi, M = velocity_map(p, q), constraint_matrix(p, q), mass_matrix(body, p.C(q))
    S_rate = np.hstack([np.zeros((3, 3)), p.S_rate(q, qdot)])
    rates = np.concatenate([v, qdot])
    bias = np.concatenate([np.zeros(3), S_rate @ rates])  # nudot = S qddot + bias
    known = force - velocity_terms(body, p, q, qdot, v) - S.T @ (M @ bias)
    e = -(p.Xi_rate(q, qdot) @ qdot)
    K = ldl(mirror(S.T @ M @ S + Xi.T @ Xi))
    if not p.nc:
        qddot = ldl_solve(*K, known)
        return RawAccelerations(qddot, np.zeros(0), S @ qddot + bias)
    free, through = ldl_solve(*K, known + Xi.T @ e), ldl_solve(*K, Xi.T)
    multipliers = solve_spd(mirror(Xi @ through), e - Xi @ free)
    qddot = free + through @ multipliers
    return RawAccelerations(qddot, multipliers, S @ qddot + bias)


def _beside_identity(A: Array) -> Array:
    rows, columns = A.shape
    return np.block([[np.eye(3), np.zeros((3, columns))], [np.zeros((rows, 3)), A]])
