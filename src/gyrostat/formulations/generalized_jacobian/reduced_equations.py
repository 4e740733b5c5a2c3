"""Equations (39)-(50), (62)-(65), (80), (81), (109): the full equations of motion, and those with the base eliminated.

Order of the paper. `dH` lists dH/dq_k, k = 1..N, at a fixed pose of the base; `Hdot` is the total time derivative.
"""

from __future__ import annotations

import numpy as np

from ...algebra import Array, cross
from .inertia_blocks import Blocks, momentum


def generalized_inertia(H: Blocks, H_0_inverse: Array) -> Array:
    """H* = H_m - H_0m^T H_0^-1 H_0m, (n, n). (45)"""
    return H.H_m - H.H_0m.T @ H_0_inverse @ H.H_0m


def generalized_inertia_rate(H: Blocks, H_0_inverse: Array, rate: Blocks) -> Array:
    """H*' = H_m' - H_0m'^T X - X^T H_0m' + X^T H_0' X, X = H_0^-1 H_0m, (n, n). (62)-(65) by time, (81) by joint angle

    (H_0^-1)' = -H_0^-1 H_0' H_0^-1 (63), (64): the inverse itself is never differentiated.
    """
    X = H_0_inverse @ H.H_0m
    half = rate.H_0m.T @ X
    return rate.H_m - half - half.T + X.T @ rate.H_0 @ X


def centrifugal(dH_star: list[Array], qdot: Array) -> Array:
    """c*_k = -1/2 qdot^T (dH*/dq_k) qdot, (n,). (48), (80)"""
    return np.array([-0.5 * (qdot @ dH @ qdot) for dH in dH_star])


def generalized_coriolis(Hdot_star: Array, dH_star: list[Array], qdot: Array) -> Array:
    """C* = H*' qdot + c*, (n,). (49)"""
    return Hdot_star @ qdot + centrifugal(dH_star, qdot)


def base_velocity(H: Blocks, H_0_inverse: Array, qdot: Array, M: Array) -> Array:
    """xdot_0 = H_0^-1 (M - H_0m qdot), (6,): (42) solved; (109) where M = 0."""
    return H_0_inverse @ (M - H.H_0m @ qdot)


def momentum_rate(F: Array, N_0: Array, v_0: Array, P: Array) -> Array:
    """d/dt [P; L_0] = [F; N_0 - v_0 x P], (6,). (43 corrected)

    About the moving base nothing is conserved unless P = 0: P, L_0 - r_0C x P and L_0 + r_0 x P are.
    """
    return np.concatenate([F, N_0 - cross(v_0, P)])


def full_bias(H: Blocks, Hdot: Blocks, dH: list[Blocks], xdot_0: Array, qdot: Array) -> tuple[Array, Array]:
    """h_0 (6,), h_m (n,) with `H [xdd_0; qdd] + h = [F; N_0; tau]`. (39), (40 corrected), (41)

        h_0 = H_0' xdot_0 + H_0m' qdot + [0; v_0 x P],   h_m,k = (H_0m'^T xdot_0 + H_m' qdot)_k - 1/2 nu^T (dH/dq_k) nu

    w_0 is no derivative of coordinates: c_0 of (40) read literally, with Euler angles, is wrong unless the momentum is
    zero.
    """
    P = momentum(H, xdot_0, qdot)[:3]
    h_0 = Hdot.H_0 @ xdot_0 + Hdot.H_0m @ qdot + np.concatenate([np.zeros(3), cross(xdot_0[:3], P)])
    c_m = np.array(
        [-0.5 * (xdot_0 @ d.H_0 @ xdot_0 + qdot @ d.H_m @ qdot) - xdot_0 @ d.H_0m @ qdot for d in dH]
    )  # (41)
    return h_0, Hdot.H_0m.T @ xdot_0 + Hdot.H_m @ qdot + c_m


def momentum_torque(
    H: Blocks, H_0_inverse: Array, Hdot: Blocks, dH: list[Blocks], qdot: Array, M: Array, Mdot: Array
) -> Array:
    """What a momentum M = [P; L_0] adds to tau in the reduced equation, (n,). (44 corrected)

        - (H_0m^T H_0^-1)' M + d_q(qdot^T H_0m^T H_0^-1 M) - 1/2 d_q(M^T H_0^-1 M) - H_0m^T H_0^-1 M'

    The second term is missing in print and the sign of the third is wrong: xdot_0 was put into T before d/dq was taken.
    Either correction alone does not help. With X = H_0^-1 H_0m and y = H_0^-1 M:
    """
    X, y = H_0_inverse @ H.H_0m, H_0_inverse @ M
    drift = -(Hdot.H_0m.T - X.T @ Hdot.H_0) @ y
    coupling = np.array([qdot @ (d.H_0m.T - X.T @ d.H_0) @ y for d in dH])
    spin = np.array([0.5 * (y @ d.H_0 @ y) for d in dH])
    return drift + coupling + spin - X.T @ Mdot
