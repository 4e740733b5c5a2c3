"""The Coriolis matrix: a choice of three, and the one of the Christoffel symbols by composite bodies."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...algebra import Array, Pose, cross_motion_matrix, inertia_to_parent, skew, unboxed, wrench_to_parent
from ...kinematics import body_twists, joint_poses
from ...kinematics.arguments import configuration, rates
from ...kinematics.lean import lean
from ...model import Spacecraft
from ..common.rigid_only import require_rigid

Choice = Literal["christoffel", "skew", "lie"]


def coriolis_matrix(craft: Spacecraft, q: Array, v: Array, *, choice: Choice = "christoffel") -> Array:
    """C (nv, nv) with `C v = bias_force` and `v^T (Mdot - 2 C) v = 0`. Beyond that, C is a choice:

    "christoffel": `Mdot - 2 C` is skew-symmetric and C is free of torsion: C(v) u = C(u) v + M [v, u], with [v, u] the
        bracket of rates within each joint, zero where v is the derivative of q. There it is the C of the Christoffel
        symbols. Every joint kind; the cheapest.
    "skew": `Mdot - 2 C` is skew-symmetric; the momentum stands whole in the blocks of base and spherical joints, as in
        From, Pettersen & Gravdahl (2011) made skew. Joint kinds that are Lie subgroups: not universal.
    "lie": what Lagrange's equations on a Lie group give as they stand, (26') of the same paper; `Mdot - 2 C` is *not*
        skew. Joint kinds that are Lie subgroups.

    Where every rate is the derivative of a coordinate, "christoffel" and "skew" agree; for one rigid body, "skew" and
    "lie" do.

    Raises ValueError for another choice.
    """
    require_rigid(craft, "gs.coriolis_matrix", "gs.bias_force has C v.")
    if choice == "christoffel":
        return christoffel_matrix(craft, q, v)
    from .. import lie_lagrange  # loaded when asked for

    if choice == "skew":
        return lie_lagrange.skew_coriolis_matrix(craft, q, v)
    if choice == "lie":
        return lie_lagrange.coriolis_matrix(craft, q, v)
    raise ValueError(f"choice is {choice!r}; expected 'christoffel', 'skew' or 'lie'.")


def christoffel_matrix(craft: Spacecraft, q: Array, v: Array) -> Array:
    """C (nv, nv) of the Christoffel symbols, `C v = bias_force` and `Mdot - 2 C` skew-symmetric.

    For a body with momentum h = M V = [l; p], let h* be the skew matrix with h* V = V x* h, and

        B = 1/2 (V x* M - M V x + h*)                       so that B V = V x* M V     (1)

    Summed over what each joint carries, M^c and B^c give, with Hdot' = Hdot + V x H, for every ancestor A of B or B
    itself

        C[A, B] = H_A^T (M^c Hdot'_B + B^c H_B),   C[B, A] = (Hdot'_A^T M^c H_B + H_A^T B^c^T H_B)^T      (2)

    Echeandia & Wensing, Numerical methods to compute the Coriolis matrix (2021). Cost O(nbodies * depth).
    """
    q, v = configuration(craft, q), rates(craft, v)
    craft, _ = lean(craft, {}, q, v)
    X_PB = joint_poses(craft, q)
    V = body_twists(craft, q, v, X_PB)
    M_c: dict[str, Array] = {}
    B_c: dict[str, Array] = {}
    for B, _ in craft.base_to_tip:
        M, Vx = craft.inertia(B), cross_motion_matrix(V[B])
        M_c[B] = M.matrix
        B_c[B] = 0.5 * (-Vx.T @ M_c[B] - M_c[B] @ Vx + _momentum_cross(M @ V[B]))  # (1)
    for B, P in reversed(craft.base_to_tip):
        if P is not None:
            M_c[P] = M_c[P] + inertia_to_parent(X_PB[B], M_c[B])
            B_c[P] = B_c[P] + _to_parent(X_PB[B], B_c[B])
    H, Hdot = {}, {}
    for B, _ in craft.base_to_tip:
        joint = craft.joint(B)
        H[B] = joint.H(q)
        Hdot[B] = joint.map_rate(q, v) + cross_motion_matrix(V[B]) @ H[B]
    C = np.zeros((craft.nv, craft.nv), dtype=object)
    for B, _ in craft.base_to_tip:
        if not craft.joint(B).nv:
            continue
        at = craft.joint(B).v_at
        F1 = M_c[B] @ Hdot[B] + B_c[B] @ H[B]
        F2, F3 = M_c[B] @ H[B], B_c[B].T @ H[B]
        C[at, at] = H[B].T @ F1  # (2) with A = B
        A = B
        while (P := craft.body(A).parent) is not None:
            F1, F2, F3 = (wrench_to_parent(X_PB[A], F) for F in (F1, F2, F3))
            A = P
            above = craft.joint(A)
            if above.nv:
                C[above.v_at, at] = H[A].T @ F1  # (2)
                C[at, above.v_at] = (Hdot[A].T @ F2 + H[A].T @ F3).T
    return unboxed(C)


def _momentum_cross(h: Array) -> Array:
    """h* with `h* V = V x* h`, skew-symmetric, (6, 6)."""
    L, P = skew(h[:3]), skew(h[3:])
    return -np.block([[L, P], [P, np.zeros((3, 3))]])


def _to_parent(X_PB: Pose, B: Array) -> Array:
    """`Ad_BP^T B Ad_BP` for a general matrix."""
    half = wrench_to_parent(X_PB, B)  # Ad^T B
    return wrench_to_parent(X_PB, half.T).T
