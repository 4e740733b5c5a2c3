"""Joints as Lie subgroups of SE(3): which kinds are one, their local coordinates, and the general formula (7')."""

from __future__ import annotations

from math import factorial

import numpy as np

from ...algebra import Array, cross_motion_matrix
from ...model import Joint, Spacecraft
from ..common.rigid_only import why_flexible
from .base_frame import momentum_cross


def supports(craft: Spacecraft) -> str | None:
    """None, or the joints that are no Lie subgroup of SE(3)."""
    reason = why_flexible(craft)
    if reason:
        return reason
    for joint in craft.joints:
        if not is_subgroup(joint):
            return (
                f"joint '{joint.name}' of {craft.name} is {joint.kind}, which is not a Lie subgroup of SE(3): its "
                "columns change with its coordinates. Model it as two revolute joints with a light body between them, "
                "or use the recursive formulation."
            )
    return None


def require(craft: Spacecraft) -> None:
    """Raise with the reason if the craft has a joint that is no Lie subgroup."""
    reason = supports(craft)
    if reason is not None:
        raise ValueError(reason)


def is_subgroup(joint: Joint) -> bool:
    """True if the kind's twists H are constant in the body and closed under the bracket: [H_i, H_j] is in their span.

    A matter of the kind and not of its axes, so asked with the axes z and y.
    """
    kind = type(joint.motion)(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]))
    q = kind.neutral()
    H = kind.H(q)
    brackets = np.hstack([cross_motion_matrix(h) @ H for h in H.T]) if H.size else np.zeros((6, 0))
    constant = not any(kind.map_rate(q, rate).any() for rate in np.eye(joint.nv))
    return constant and not (brackets - H @ (H.T @ brackets)).any()


def velocity_map(H: Array, phi: Array, terms: int = 24) -> Array:
    """S with `v = S phidot` where the pose is g exp(H phi), (m, m).

        S = sum_k (-1)^k ad_phi^k / (k + 1)!          (21), (29)

    `H` (6, m) holds the subgroup's twists, orthonormal; 24 terms are exact to round-off for |phi| <= pi.
    """
    ad = cross_motion_matrix(H @ phi)
    total = power = np.eye(6)
    for k in range(1, terms):
        power = -(ad @ power)
        total = total + power / float(factorial(k + 1))  # beyond 20! an integer makes objects of NumPy 1.26
    return H.T @ total @ H


def velocity_map_derivatives(H: Array) -> Array:
    """dS/dphi_k at phi = 0: -1/2 ad_k in the subgroup's own basis, (m, m, m) with k first."""
    return np.array([-0.5 * (H.T @ cross_motion_matrix(h) @ H) for h in H.T])


def gyroscopic(H: Array, p: Array) -> Array:
    """K with K_ij = p . [e_i, e_j]: what the S terms of (7') leave at phi = 0, skew-symmetric, (m, m).

    `p` (m,) is the momentum conjugate to the joint's rates. SE(3): K(P) of (22'); SO(3): -p^ of (30').
    """
    return H.T @ momentum_cross(H @ p) @ H


def general_coriolis(M: Array, dM: Array, S_inv: Array, dS: Array, v: Array) -> Array:
    """C (n, n) of M vdot + C v = tau for any local coordinates phi with v = S(phi) phidot.

        C_ij = sum_kl (dM_ij/dphi_k Sinv_kl - 1/2 Sinv_ki dM_jl/dphi_k) v_l
             + sum_kms Sinv_mi (dS_km/dphi_s - dS_ks/dphi_m) Sinv_sj (M v)_k                        (7')

    `dM[k]` and `dS[k]` are the derivatives with respect to phi_k, both (n, n, n). The printed (7) exchanges indices of
    S.
    """
    phidot, p = S_inv @ v, M @ v
    n = len(v)
    rate = sum((dM[k] * phidot[k] for k in range(n)), np.zeros((n, n)))
    rows = np.array([dM[k] @ v for k in range(n)])  # [k, j] = (dM/dphi_k v)_j
    curl = np.array([[p @ (dS[s][:, m] - dS[m][:, s]) for s in range(n)] for m in range(n)])
    return rate - 0.5 * (S_inv.T @ rows) + S_inv.T @ curl @ S_inv
