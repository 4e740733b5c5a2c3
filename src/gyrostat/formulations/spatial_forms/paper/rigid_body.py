"""One rigid body in four forms: about its centre of mass c or any point o fixed on it, with inertial or body rates.

    M V' + C V = F,    V = (w; v),  F = (torque; force),  r = r_c/o, from o to c                    (48)-(51)

Forms 1 and 2 are forms 3 and 4 with o = c, r = 0. Components in one frame throughout: with inertial rates V' is the
derivative of inertial components, with body rates of body components. Mixing the two loses w x v_o, the classic
mistake.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....algebra import Array, cross, skew, solve_spd
from ..coriolis_matrices import coriolis


class Form(NamedTuple):
    """What one of the four forms is written about, and with which rates (table 1)."""

    about_com: bool
    inertial_rates: bool


FORMS = {1: Form(True, True), 2: Form(True, False), 3: Form(False, True), 4: Form(False, False)}


def form(number: int) -> Form:
    if number not in FORMS:
        raise ValueError(f"form {number!r} is not known; expected 1, 2, 3 or 4 (table 1 of Ploen, Hadaegh & Scharf).")
    return FORMS[number]


def shift(r: Array) -> Array:
    """T (6, 6) with V_c = T V_o and F_o = T^T F_c                                                     (26)-(28)"""
    return np.block([[np.eye(3), np.zeros((3, 3))], [-skew(r), np.eye(3)]])


def spatial_inertia(m: Any, J_c: Array, r: Array | None = None) -> Array:
    """M_c = diag(J_c, m 1), or M_o = T^T M_c T about o, (6, 6)                                          (10), (31)"""
    if r is None:
        return np.block([[J_c, np.zeros((3, 3))], [np.zeros((3, 3)), m * np.eye(3)]])
    R = skew(r)
    return np.block([[J_c - m * (R @ R), m * R], [-m * R, m * np.eye(3)]])


def velocity_product(number: int, m: Any, J_c: Array, r: Array | None, V: Array) -> Array:
    """C V (6,): the same for every choice of C.

    1: (w x J_c w; 0)                     2: (w x J_c w; m w x v_c)                                (17), (23)
    3: (w x J_o w; m w x (w x r))         4: (w x J_o w + m r x (w x v_o); m w x v_o + m w x (w x r))   (35), (41)
    """
    which, w, v = form(number), V[:3], V[3:]
    carried = np.zeros(3) if which.inertial_rates else m * cross(w, v)
    if which.about_com:
        return np.concatenate([cross(w, J_c @ w), carried])
    if r is None:
        raise ValueError(f"form {number} is about a point o; give r, the centre of mass from there.")
    R = skew(r)
    torque = cross(w, (J_c - m * (R @ R)) @ w) + cross(r, carried)
    return np.concatenate([torque, m * cross(w, cross(w, r)) + carried])


def acceleration(number: int, m: Any, J_c: Array, r: Array | None, V: Array, F: Array, choice: str = "skew") -> Array:
    """V' (6,) of form `number`, in the rates of that form: M V' = F - C V, with C of `choice`             (48)-(51)"""
    which = form(number)
    M = spatial_inertia(m, J_c, None if which.about_com else r)
    return solve_spd(M, F - coriolis(M, V, choice, inertial_rates=which.inertial_rates) @ V)
