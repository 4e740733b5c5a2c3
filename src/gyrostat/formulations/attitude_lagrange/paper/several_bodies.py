"""Several bodies with holonomic and nonholonomic constraints: M nudot = F + Pi^T lambda, Pi nudot = -gamma, solved in
three ways.

    KKT:         [M -Pi^T; Pi 0] [nudot; lambda] = [F; -gamma]                                              (1)
    null space:  nu = N u + nu0, Pi N = 0:  (N^T M N) udot = N^T (F - M (Ndot u + nu0dot))                  (2)
    without Ndot: nudot = -Pi^+ gamma + P a,  P = 1 - Pi^+ Pi:  (P M P + Pi^+ Pi) a = P (F + M Pi^+ gamma)     (3)

The parameter multipliers are gone once Gamma^T is applied; lambda is physical: the loads (force in N, moment in B) that
the constraints exert. Redundant rows: accelerations are unique, lambda is that of least norm. N from an SVD is not
smooth in time: never difference it for Ndot; (3) needs no N at all, nor an inverse of M. For the joints of a craft see
`joint_loads`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....algebra import Array, mirror, solve_spd
from ....algebra.semidefinite import least_norm_solution


class Constrained(NamedTuple):
    nudot: Array  # (6 N,)
    multipliers: Array  # (r,)


def kkt_solution(M: Array, F: Array, Pi: Array, gamma: Array) -> Constrained:
    """(1) through the Schur complement Pi M^-1 Pi^T; redundant rows get multipliers of least norm."""
    through = solve_spd(M, np.column_stack([Pi.T, F]))
    MPi, free = through[:, :-1], through[:, -1]
    multipliers = least_norm_solution(mirror(Pi @ MPi), -gamma - Pi @ free)
    return Constrained(free + MPi @ multipliers, multipliers)


def explicit_null_space(M: Array, F: Array, N: Array, Ndot_u: Array) -> Array:
    """udot of (2); Ndot_u = Ndot u + nu0dot."""
    return solve_spd(mirror(N.T @ M @ N), N.T @ (F - M @ Ndot_u))


def null_space_solution(M: Array, F: Array, Pi: Array, gamma: Array) -> Constrained:
    """(3), by the projector P; lambda = argmin |Pi^T lambda - (M nudot - F)|."""
    A = mirror(Pi @ Pi.T)
    held = Pi.T @ least_norm_solution(A, Pi)  # Pi^+ Pi
    particular = Pi.T @ least_norm_solution(A, gamma)  # Pi^+ gamma
    P = np.eye(len(F)) - held
    a = solve_spd(mirror(P @ M @ P + held), P @ (F + M @ particular))
    nudot = P @ a - particular
    return Constrained(nudot, least_norm_solution(A, Pi @ (M @ nudot - F)))
