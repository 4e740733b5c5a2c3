"""Joints alone: the base's rate eliminated as well, at zero and at any other angular momentum."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....algebra import Array, mirror, solve_spd
from ....kinematics.arguments import shaped, vector3
from ....model import Spacecraft
from ...recursive.coriolis import Choice
from ..coriolis import bias_force
from ..reduction import linear_elimination, reduced_coriolis_matrix, reduced_mass_matrix


def angular_elimination(craft: Spacecraft, q: Array) -> Array:
    """L (nv - 3, nv - 6) with (w_NB_B, qd) = L qd at zero angular momentum about the centre of mass: L = [-M_ww^-1
    M_wq; 1]  (19)
    """
    M = reduced_mass_matrix(craft, q)
    return np.concatenate([-solve_spd(M[:3, :3], M[:3, 3:]), np.eye(craft.nv - 6)])


def joint_mass_matrix(craft: Spacecraft, q: Array) -> Array:
    """Mr = M_qq - M_qw M_ww^-1 M_wq (nv - 6, nv - 6), with the blocks of M~                          (18), (31')"""
    return mirror((reduced_mass_matrix(craft, q) @ angular_elimination(craft, q))[3:])


def joint_coriolis_matrix(craft: Spacecraft, q: Array, qd: Array, *, choice: Choice = "lie") -> Array:
    """Cr = L^T C~(q, L qd) L (nv - 6, nv - 6), of Mr qdd + Cr qd = tau_q                             (18), (32')

    At zero linear and angular momentum, without load on the base. "lie": Cr = Mrdot - 1/2 [(dMr/dphi_i qd)_j]_ij + K.
    """
    qd = joint_rates(craft, qd, "qd")
    L = angular_elimination(craft, q)
    return L.T @ reduced_coriolis_matrix(craft, q, L @ qd, choice=choice) @ L


def joint_dynamics(craft: Spacecraft, q: Array, qd: Array, tau_q: Array, h_B: Any = (0.0, 0.0, 0.0)) -> Array:
    """qdd (nv - 6,) at angular momentum h_B about the centre of mass, in base axes; any linear momentum, no load on the
    base.

        Mr qdd + L^T C~(q, f) f = tau_q,   f = (w, qd),   w = M_ww^-1 (h_B - M_wq qd)

    For h_B = 0 this is (18), (32'), which as printed ask for zero linear momentum only. h_B turns: d/dt h_B = h_B x w.
    """
    qd, tau_q = joint_rates(craft, qd, "qd"), joint_rates(craft, tau_q, "tau_q")
    N, L = linear_elimination(craft, q), angular_elimination(craft, q)
    f = np.concatenate([base_rate(craft, q, qd, h_B), qd])
    bias = L.T @ (N.T @ bias_force(craft, q, N @ f))
    return solve_spd(joint_mass_matrix(craft, q), tau_q - bias)


def base_rate(craft: Spacecraft, q: Array, qd: Array, h_B: Any = (0.0, 0.0, 0.0)) -> Array:
    """w_NB_B (3,) that goes with the joint rates: M_ww^-1 (h_B - M_wq qd)                            (19)"""
    M = reduced_mass_matrix(craft, q)
    return solve_spd(M[:3, :3], vector3(h_B, "h_B") - M[:3, 3:] @ joint_rates(craft, qd, "qd"))


def joint_rates(craft: Spacecraft, x: Any, name: str) -> Array:
    """`x` as an array of shape (nv - 6,)."""
    return shaped(x, (craft.nv - 6,), name, f"one for each joint rate of {craft.name}, base left out")
