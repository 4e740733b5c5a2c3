"""Constraints on a spacecraft's tree: Pi M^-1 Pi^T along the paths of the constrained bodies, never through the whole
mass matrix.

K holds the wrenches of unit multipliers on a body. From tip to base, with the articulated inertia's U, D of each joint:

    y = H^T K,   A += y^T D^-1 y,   K_P += Ad_BP^T (K - U D^-1 y)                                                    (1)

and for a flexible body before its joint, with K_f (n, rows) on its modes, the sum of S^T (K - U D^-1 y) over its nodes,

    A += K_f^T M_ff^-1 K_f,   K -= M_rf M_ff^-1 K_f                                                                  (2)

leaves A = Pi M^-1 Pi^T: only joints on the way from a constrained body to the base contribute, so a loop costs its own
size. A prescribed joint hands K on as it is. Wensing, Featherstone & Orin, A reduced-order recursive algorithm (2012).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..algebra import Array, Pose, inertia_to_parent, is_zero, ldl, ldl_solve, mirror, wrench_to_parent
from ..kinematics import bent_inertia, carried
from ..model import Spacecraft


class Articulated(NamedTuple):
    """U = M^A H and the factors of D = H^T U + armature of each joint that is free to move; M_rf and the factors of
    M_ff of each flexible body, with all that its nodes carry.
    """

    U: Mapping[str, Array]
    D: Mapping[str, tuple[Array, Array]]
    M_rf: Mapping[str, Array]
    D_f: Mapping[str, tuple[Array, Array]]


def articulated_inertias(
    craft: Spacecraft, q: Array, X_PB: Mapping[str, Pose], follows: Mapping[str, Array]
) -> Articulated:
    """As in forward dynamics, whose recorded operations these are when both are traced."""
    bent = {B: bent_inertia(body, q) for B, _ in craft.base_to_tip if (body := craft.flexible(B))}
    M_A = {B: (bent[B].rr if B in bent else craft.inertia(B)).matrix for B, _ in craft.base_to_tip}
    M_rf, M_ff = {B: M.rf for B, M in bent.items()}, {B: M.ff for B, M in bent.items()}
    D_f: dict[str, tuple[Array, Array]] = {}
    U: dict[str, Array] = {}
    D: dict[str, tuple[Array, Array]] = {}
    for B, P in reversed(craft.base_to_tip):
        joint = craft.joint(B)
        if B in bent and f"{B}.modes" not in follows:
            D_f[B] = ldl(M_ff[B])
            M_A[B] = mirror(M_A[B] - M_rf[B] @ ldl_solve(*D_f[B], M_rf[B].T))
        M_a = M_A[B]
        if joint.nv and B not in follows:
            H = joint.H(q)
            U[B] = M_A[B] @ H
            D[B] = ldl(H.T @ U[B] + joint.armature * np.eye(joint.nv))
            if P is not None:
                M_a = mirror(M_A[B] - U[B] @ ldl_solve(*D[B], U[B].T))
        if P is not None:
            M_A[P] = M_A[P] + inertia_to_parent(X_PB[B], M_a)
        if P is not None and joint.mount is not None:
            S = carried(joint, q)
            felt = M_a @ S
            M_rf[P], M_ff[P] = M_rf[P] + wrench_to_parent(X_PB[B], felt), M_ff[P] + mirror(S.T @ felt)
    return Articulated(U, D, M_rf, D_f)


def inverse_inertia_at(
    craft: Spacecraft, q: Array, X_PB: Mapping[str, Pose], factors: Articulated, columns: Mapping[str, Array], rows: int
) -> Array:
    """A = Pi M^-1 Pi^T (rows, rows) of (1); columns: K (6, rows) by body."""
    K = dict(columns)
    K_f: dict[str, Array] = {}
    A = np.zeros((rows, rows))
    for B, P in reversed(craft.base_to_tip):
        if B not in K:
            continue
        joint = craft.joint(B)
        if B in K_f and B in factors.D_f:
            solved = ldl_solve(*factors.D_f[B], K_f[B])
            A = A + K_f[B].T @ solved  # (2)
            K[B] = K[B] - factors.M_rf[B] @ solved
        onward = K[B]
        if B in factors.D:
            y = joint.H(q).T @ K[B]
            solved = ldl_solve(*factors.D[B], y)
            A = A + y.T @ solved
            onward = K[B] - factors.U[B] @ solved if P is not None else onward
        if P is not None:
            up = wrench_to_parent(X_PB[B], onward)
            K[P] = K[P] + up if P in K else up
        if P is not None and joint.mount is not None:
            moved = carried(joint, q).T @ onward
            K_f[P] = K_f[P] + moved if P in K_f else moved
    return mirror(A)


def free_response(craft: Spacecraft, columns: Mapping[str, Array], rows: int) -> Array:
    """About the diagonal (rows,) that A would have if the constrained bodies were free, each by itself.

    What of A is far below that is round-off of a row that the joints already imply. Bodies without mass say nothing.
    """
    found = np.zeros(rows)
    for B, K in columns.items():
        flexible = craft.flexible(B)
        M = craft.inertia(B) if flexible is None else flexible.undeformed
        for part, inertia in ((K[:3], np.trace(M.I_o)), (K[3:], M.m)):
            if not is_zero(inertia):
                found = found + (part * part).sum(axis=0) / inertia
    return found
