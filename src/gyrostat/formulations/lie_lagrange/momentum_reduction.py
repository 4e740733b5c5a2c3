"""Joints alone: base rate eliminated as well, at zero and at any other angular momentum."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, cross, mirror, solve_spd, unboxed
from ...model import Spacecraft
from ..arguments import configuration, shaped, vector3
from .reduction import armatures, attitude_reduction, joint_gyroscopic


class MomentumReduction(NamedTuple):
    """Of a craft on a free base, over its n = nv - 6 joint rates. h_B: angular momentum about the centre of mass, in base axes.

    w_NB_B = I^-1 h_B - A qd;  kinetic energy about the centre of mass = 1/2 qd^T M qd + 1/2 h_B^T I^-1 h_B.
    """

    M: Array  # Mr, (n, n)
    dM: Array  # dMr/dphi_k, k first, (n, n, n)
    I: Array  # locked inertia M_ww, (3, 3)
    dI: Array  # (n, 3, 3)
    A: Array  # I^-1 M_wq, (3, n)
    dA: Array  # (n, 3, n)


def momentum_reduction(craft: Spacecraft, q: Array) -> MomentumReduction:
    """Mr = M_qq - M_qw I^-1 M_wq, from M~ = [I M_wq; M_qw M_qq], and the derivatives of all three     (18), (31')

    dA = I^-1 (dM_wq - dI A),   dMr = dM_qq - dM_qw A - A^T dM_wq + A^T dI A
    """
    M, dM, _ = attitude_reduction(craft, q)
    w, j, n = slice(0, 3), slice(3, None), craft.nv - 6
    inertia, joints = M[w, w], dM[3:]
    A = solve_spd(inertia, M[w, j])
    dA = [solve_spd(inertia, d[w, j] - d[w, w] @ A) for d in joints]
    dMr = [d[j, j] - d[j, w] @ A - A.T @ d[w, j] + A.T @ d[w, w] @ A for d in joints]
    dI = [d[w, w] for d in joints]
    return MomentumReduction(
        mirror(M[j, j] - M[j, w] @ A),
        np.array(dMr).reshape(n, n, n),
        inertia,
        np.array(dI).reshape(n, 3, 3),
        A,
        np.array(dA).reshape(n, 3, n),
    )


def zero_momentum_coriolis(craft: Spacecraft, q: Array, qd: Array) -> Array:
    """Cr (n, n) of Mr qdd + Cr qd = tau_q at zero linear and angular momentum, no base load        (18), (32')

    Cr = sum_k dMr/dphi_k qd_k - 1/2 [(dMr/dphi_i qd)_j]_ij + K of the joints that are groups.
    """
    qd = joint_rates(craft, qd, "qd")
    r = momentum_reduction(craft, q)
    K = joint_gyroscopic(craft, configuration(craft, q), r.M @ qd - armatures(craft) * qd)
    return unboxed(_along(r.dM, qd) - 0.5 * np.array([d @ qd for d in r.dM]) + K)


def joint_dynamics(craft: Spacecraft, q: Array, qd: Array, tau_q: Array, h_B: Any = (0.0, 0.0, 0.0)) -> Array:
    """qdd (nv - 6,) at angular momentum h_B about the centre of mass, in base axes; no load on the base (18).

    With xi = I^-1 h_B and w = xi - A qd (Lagrange-Poincare; the printed (18), (32) hold for h_B = 0 only):

        Mr qdd + Mrdot qd - 1/2 qd^T dMr qd - 1/2 xi^T dI xi + (Adot - d(A qd)/dphi)^T h_B + A^T (h_B x w) + K qd = tau_q

    K: the joints that are groups, with their momenta Mr qd + A^T h_B. h_B itself turns: d/dt h_B = h_B x w. Any linear momentum.
    """
    qd, tau_q, h_B = joint_rates(craft, qd, "qd"), joint_rates(craft, tau_q, "tau_q"), vector3(h_B, "h_B")
    r = momentum_reduction(craft, q)
    xi = solve_spd(r.I, h_B)
    w = xi - r.A @ qd
    K = joint_gyroscopic(craft, configuration(craft, q), r.M @ qd + r.A.T @ h_B - armatures(craft) * qd)
    shape = np.array([0.5 * (qd @ d @ qd) for d in r.dM]) + np.array([0.5 * (xi @ d @ xi) for d in r.dI])
    turning = _along(r.dA, qd).T @ h_B - np.array([h_B @ (d @ qd) for d in r.dA])
    bias = _along(r.dM, qd) @ qd - shape + turning + r.A.T @ cross(h_B, w) + K @ qd
    return solve_spd(r.M, unboxed(tau_q - bias))


def base_rate(craft: Spacecraft, q: Array, qd: Array, h_B: Any = (0.0, 0.0, 0.0)) -> Array:
    """w_NB_B (3,) that goes with the joint rates: I^-1 (h_B - M_wq qd)                               (19)"""
    r = momentum_reduction(craft, q)
    return solve_spd(r.I, vector3(h_B, "h_B")) - r.A @ joint_rates(craft, qd, "qd")


def joint_rates(craft: Spacecraft, x: Any, name: str) -> Array:
    """`x` as an array of shape (nv - 6,)."""
    return shaped(x, (craft.nv - 6,), name, f"one for each joint rate of {craft.name}, base left out")


def _along(derivatives: Array, qd: Array) -> Array:
    return sum((d * rate for d, rate in zip(derivatives, qd, strict=True)), np.zeros(derivatives.shape[1:]))
