"""Several rigid bodies that share generalised velocities inherit the form and the skewness of each of them.

    V_i = J_i u,   M = sum J_i^T M_i J_i,   C = sum J_i^T (M_i Jdot_i + C_i J_i),   F = sum J_i^T F_i

M' - 2 C = sum (Jdot_i^T M_i J_i - J_i^T M_i Jdot_i - 2 J_i^T C_i J_i) is skew whenever every C_i is. A spacecraft with
arms is such a system: u = v, and every body stands in form 4, about its own origin with body rates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, cross_motion_matrix, mirror, twist_to_child, unboxed
from ...kinematics import joint_poses
from ...kinematics.arguments import configuration, external, prescribed_rates, rates
from ...model import Spacecraft
from ..common.prescribed import by_place, solve_free
from ..common.rigid_only import why_flexible
from .coriolis_matrices import CHOICES, SKEW, coriolis


class BodyJacobian(NamedTuple):
    """V_NB = J v and its rate, both about Bo in B. Only the columns `at` of v move the body."""

    at: tuple[int, ...]
    J: Array  # (6, len(at))
    Jdot: Array  # (6, len(at))


def body_jacobians(craft: Spacecraft, q: Array, v: Array) -> dict[str, BodyJacobian]:
    """J and Jdot of every body, base to tip:

    J_B = [Ad_BP J_P, H],   Jdot_B = [Ad_BP Jdot_P - ad_Theta Ad_BP J_P, Hdot],   Theta = H v_B
    """
    X_PB = joint_poses(craft, q)
    found: dict[str, BodyJacobian] = {}
    for B, P in craft.base_to_tip:
        joint = craft.joint(B)
        own = tuple(range(craft.nv)[joint.v_at])
        H, Hdot = joint.H(q), joint.map_rate(q, v)
        if P is None:
            found[B] = BodyJacobian(own, H, Hdot)
            continue
        up = found[P]
        J = twist_to_child(X_PB[B], up.J)
        Jdot = twist_to_child(X_PB[B], up.Jdot)
        if own:
            Jdot = Jdot - cross_motion_matrix(H @ joint.rate(v)) @ J
        found[B] = BodyJacobian((*up.at, *own), np.hstack([J, H]), np.hstack([Jdot, Hdot]))
    return found


def supports(craft: Spacecraft) -> str | None:
    """None: every spacecraft is supported."""
    return why_flexible(craft)


def mass_matrix(craft: Spacecraft, q: Array) -> Array:
    """M = sum J_i^T M_i J_i, with the joints' armature on the diagonal, (nv, nv)."""
    q = configuration(craft, q)
    M = _zeros(craft)
    for B, body in body_jacobians(craft, q, np.zeros(craft.nv)).items():
        at = np.array(body.at, dtype=int)
        M[np.ix_(at, at)] = M[np.ix_(at, at)] + mirror(body.J.T @ (craft.inertia(B) @ body.J))
    for joint in craft.joints:
        M[joint.v_at, joint.v_at] = M[joint.v_at, joint.v_at] + joint.armature * np.eye(joint.nv)
    return unboxed(M)


def coriolis_matrix(craft: Spacecraft, q: Array, v: Array, *, choice: str = "skew") -> Array:
    """C = sum J_i^T (M_i Jdot_i + C_i J_i), (nv, nv): Mdot - 2 C is skew for the choices "skew", "hat" and "kirchhoff"
    of C_i.
    """
    if choice == "momentum" or choice not in CHOICES:
        raise ValueError(f"Coriolis choice '{choice}' is not known here; expected one of {', '.join((*SKEW, 'lie'))}.")
    q, v = configuration(craft, q), rates(craft, v)
    C = _zeros(craft)
    for B, body in body_jacobians(craft, q, v).items():
        at, M = np.array(body.at, dtype=int), craft.inertia(B)
        V = body.J @ v[at]
        C_B = coriolis(M.matrix, V, choice)
        C[np.ix_(at, at)] = C[np.ix_(at, at)] + body.J.T @ (M @ body.Jdot + C_B @ body.J)
    return unboxed(C)


def bias_force(craft: Spacecraft, q: Array, v: Array, *, wrenches: Any = None) -> Array:
    """C v, less what external wrenches contribute, (nv,)."""
    q, v = configuration(craft, q), rates(craft, v)
    F_ext = external(craft, wrenches)
    bias: Array = np.zeros(craft.nv, dtype=object)
    for B, body in body_jacobians(craft, q, v).items():
        at, M = np.array(body.at, dtype=int), craft.inertia(B)
        V = body.J @ v[at]
        F = M @ (body.Jdot @ v[at]) + coriolis(M.matrix, V) @ V
        bias[at] = bias[at] + body.J.T @ (F - F_ext[B] if B in F_ext else F)
    return unboxed(bias)


def kinetic_energy(craft: Spacecraft, q: Array, v: Array) -> Any:
    """1/2 v^T M v in J."""
    v = rates(craft, v)
    return 0.5 * (v @ (mass_matrix(craft, q) @ v))


def forward_dynamics(
    craft: Spacecraft,
    q: Array,
    v: Array,
    tau: Array,
    *,
    wrenches: Any = None,
    prescribed: Mapping[str, Any] | None = None,
) -> Array:
    """Acceleration vdot (nv,): M vdot + C v = tau + sum J_i^T F_i.

    `prescribed = {joint: vdot}`: those joints follow, whatever tau says of them. Cost O(nbodies * depth^2 + nv^3).
    """
    q, v, tau = configuration(craft, q), rates(craft, v), rates(craft, tau, "tau")
    follows = prescribed_rates(craft, prescribed)
    M, load = mass_matrix(craft, q), tau - bias_force(craft, q, v, wrenches=wrenches)
    return solve_free(M, load, by_place(craft, follows))


def _zeros(craft: Spacecraft) -> Array:
    return np.zeros((craft.nv, craft.nv), dtype=object)
