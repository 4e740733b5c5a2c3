"""Inverse dynamics is linear in the inertial parameters: the matrix of that map."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...algebra import Array, Pose, cross, inertia_components, skew, unboxed, wrench_to_parent
from ...kinematics import body_accelerations, body_twists, joint_poses
from ...kinematics.arguments import configuration, rates
from ...model import Spacecraft
from ..common.rigid_only import require_rigid


def inertial_parameters(craft: Spacecraft) -> Array:
    """pi (10 nbodies,): per body mass, m com (3), inertia about Bo (xx, xy, xz, yy, yz, zz); wheels taken out of
    carriers.
    """
    require_rigid(craft, "inertial_parameters", "Lumps and shapes are no ten parameters.")
    rows = []
    for B, _ in craft.base_to_tip:
        m, h, I_o = craft.inertia(B)
        rows.append(np.concatenate([[m], h, inertia_components(I_o)]))
    return np.concatenate(rows)


def regressor(craft: Spacecraft, q: Array, v: Array, vdot: Array) -> Array:
    """Y (nv, 10 nbodies) with `Y @ inertial_parameters(craft) = inverse_dynamics`, rotor inertias apart.

    Atkeson, An & Hollerbach (1986), in body frames: the wrench on one body is F = W(V, A) pi; it reaches every joint
    below.
    """
    require_rigid(craft, "regressor", "gs.inverse_dynamics has its loads.")
    q, v, vdot = configuration(craft, q), rates(craft, v), rates(craft, vdot, "vdot")
    X_PB = joint_poses(craft, q)
    V = body_twists(craft, q, v, X_PB)
    A = body_accelerations(craft, q, v, vdot, X_PB, V)
    W = {B: body_regressor(V[B], A[B]) for B, _ in craft.base_to_tip}
    return at_the_joints(craft, q, X_PB, W)


def at_the_joints(craft: Spacecraft, q: Array, X_PB: Mapping[str, Pose], W: Mapping[str, Array]) -> Array:
    """Y (nv, 10 nbodies): the wrench W[B] pi_B (6, 10) on each body, as every joint below it feels it."""
    Y = np.zeros((craft.nv, 10 * craft.nbodies), dtype=object)
    for k, (B, _) in enumerate(craft.base_to_tip):
        F: Array = W[B]
        at: str | None = B
        while at is not None:
            below = craft.joint(at)
            if below.nv:
                Y[below.v_at, 10 * k : 10 * k + 10] = below.H(q).T @ F
            F, at = wrench_to_parent(X_PB[at], F), craft.body(at).parent
    return unboxed(Y)


def body_regressor(V: Array, A: Array) -> Array:
    """W (6, 10) with `M A + V x* (M V) = W pi`."""
    w, v, wdot, vdot = V[:3], V[3:], A[:3], A[3:]
    mass = np.concatenate([np.zeros(3), vdot + cross(w, v)])[:, None]
    first = np.vstack([-skew(vdot + cross(w, v)), skew(wdot) + skew(w) @ skew(w)])
    second = np.vstack([_dot(wdot) + skew(w) @ _dot(w), np.zeros((3, 6))])
    return np.hstack([mass, first, second])


def _dot(w: Array) -> Array:
    """(3, 6) with `I w = _dot(w) (xx, xy, xz, yy, yz, zz)`."""
    x, y, z = w
    return np.array([[x, y, z, 0, 0, 0], [0, x, 0, y, z, 0], [0, 0, x, 0, y, z]], dtype=np.asarray(w).dtype)
