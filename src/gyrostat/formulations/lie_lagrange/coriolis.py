"""Coriolis matrices on SE(3) x R^n: the paper's, corrected, and its skew version."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, cross_force, cross_motion, cross_motion_matrix
from ...kinematics.arguments import configuration, rates
from ...model import Spacecraft
from .base_frame import ZERO6, assembled, base_frame, external_force, lines, momentum_cross, motion
from .subgroups import require


class CoriolisParts(NamedTuple):
    """What every choice is made of, each (nv, nv): C = Mdot - A/2 + K, or C_s = (Mdot + A^T - A)/2 + K."""

    Mdot: Array
    A: Array  # A[k, j] = (dM/dphi_k v)_j: row k is zero for the base
    K: Array  # skew-symmetric, one block for each joint that is a group: K_ij = p . [e_i, e_j]


def coriolis_matrix(craft: Spacecraft, q: Array, v: Array) -> Array:
    """C (nv, nv) of (26'): C v is the bias force and v^T (Mdot - 2 C) v = 0, but Mdot - 2 C is not skew.

        C = Mdot - 1/2 A + K,   A_kj = (dM/dphi_k v)_j,   K(P) = -[h^ p^; p^ 0]  for the base        (22')-(26')

    P = (h; p) is the momentum of the whole craft about the base's origin, in its axes. The printed (22) has ad_P in
    place of K.
    """
    parts = coriolis_parts(craft, q, v)
    return parts.Mdot - 0.5 * parts.A + parts.K  # (26')


def skew_coriolis_matrix(craft: Spacecraft, q: Array, v: Array) -> Array:
    """C_s (nv, nv) with C_s v = C v and Mdot - 2 C_s skew-symmetric.

    C_s = 1/2 (Mdot + A^T - A) + K, with the parts of `coriolis_matrix`.
    """
    parts = coriolis_parts(craft, q, v)
    return 0.5 * (parts.Mdot + parts.A.T - parts.A) + parts.K


def bias_force(craft: Spacecraft, q: Array, v: Array, *, wrenches: Any = None) -> Array:
    """C v (nv,), less what external wrenches contribute; the sums over bodies taken before the products: cost
    O(nbodies).

    At constant v, with (M v)_B = S_B^T F_c the momentum of joint B, P its parent and b the base:

        C v = d/dt (S_B^T F_c) - (V_P x S_B)^T F_c + S_B^T F_c* S_B v_B                                (24)-(26')
            = S_B^T (d/dt F_c + V_b x* F_c)          the three add up to Newton's law in the base's axes
    """
    q, v = configuration(craft, q), rates(craft, v)
    require(craft)
    frame = base_frame(craft, q)
    moving = motion(craft, frame, v)
    V_b = moving.V[craft.bodies[0].name]
    Vdot: dict[str, Array] = {}
    Fdot_c: dict[str, Array] = {}
    for B, P in craft.base_to_tip:
        M, V, W = frame.M[B], moving.V[B], moving.W[B]
        Vdot[B] = ZERO6 if P is None else Vdot[P] + cross_motion(W, V - moving.V[P])  # Sdot = W x S
        Fdot_c[B] = cross_force(W, M @ V) + M @ (Vdot[B] - cross_motion(W, V))
    for B, P in reversed(craft.base_to_tip):
        if P is not None:
            Fdot_c[P] = Fdot_c[P] + Fdot_c[B]
    bias = [frame.S[B].T @ (Fdot_c[B] + cross_force(V_b, moving.F_c[B])) for B, _ in craft.base_to_tip]
    return np.concatenate(bias) - external_force(craft, frame, wrenches)


def coriolis_parts(craft: Spacecraft, q: Array, v: Array) -> CoriolisParts:
    """Mdot, A and K, each dM/dphi_k contracted with v before it is formed: cost O(nbodies * depth).

    About the base's origin and in its axes, with the columns, inertias and twists of `BaseFrame` and `Motion`; P the
    parent of B:

        Mdot[A, B] = d/dt (S_A^T M_c S_B),   Sdot = W x S               (A.1) summed over q_k with rates qdot_k
        A[B, A] = (V_P x S_B)^T M_c(B) S_A + (F_c* S_B)^T S_A      A beyond which B is        (24), (25)
        A[B, D] = (V_P x S_B)^T M_c(D) S_D                         D beyond B, or B itself    (24), (25)
        K[B, B] = S_B^T F_c* S_B                                                              (22'), (30')
    """
    q, v = configuration(craft, q), rates(craft, v)
    require(craft)
    frame = base_frame(craft, q)
    moving = motion(craft, frame, v)
    S = frame.S
    Sdot = {B: cross_motion_matrix(moving.W[B]) @ S[B] for B, _ in craft.base_to_tip}
    Mdot, A, K = {}, {}, {}
    for up, B in lines(craft):
        M_c, P = frame.M_c[B], craft.body(B).parent
        F, Fdot = M_c @ S[B], M_c @ Sdot[B] + moving.Mdot_c[B] @ S[B]
        block = Sdot[up].T @ F + S[up].T @ Fdot
        Mdot[up, B], Mdot[B, up] = block, block.T
        if up == B:
            K[B, B] = S[B].T @ momentum_cross(moving.F_c[B]) @ S[B]  # (22')
        elif P is not None:
            turned = cross_motion_matrix(moving.V[P]) @ S[B]
            A[B, up] = (M_c @ turned + momentum_cross(moving.F_c[B]) @ S[B]).T @ S[up]  # (24)
        over = craft.body(up).parent
        if over is not None:
            A[up, B] = (cross_motion_matrix(moving.V[over]) @ S[up]).T @ F  # (25)
    return CoriolisParts(assembled(craft, Mdot), assembled(craft, A), assembled(craft, K))
