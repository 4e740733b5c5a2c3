"""A spacecraft in maximal coordinates: every body by its own pose and nu = (v_N; w_B), every joint a constraint with its wrench.

The joint of body B on P lets V_B - Ad_BP V_P = H rate pass and holds the rows K of what H leaves out. With V = T nu, T = [0 1; C 0],

    K (T_B nudot_B - Ad_BP T_P nudot_P) + gamma = 0,    gamma = K (t_B - Ad_BP t_P - Hdot rate - V_B x (H rate))     (1)

where t = [0; -w x C v] is what Vdot = T nudot + t has besides. Its multipliers are the loads K^T lambda on B at its origin, so that
constraint wrenches and actuation together are the joint's reaction wrench. A geared rotor is one more row with compliance 1/armature; a
prescribed joint holds all six directions. The attitude parameters never enter: `maximal_state` chooses them for the state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, Pose, cross, twist_to_child
from ...model import Joint, Spacecraft
from ..arguments import configuration, external, prescribed_rates, rates
from ..carriers import Carrier, carrier_bodies, carriers, load_on_carrier, wheel_motion, why_not
from ..dual_quaternion.joints import joint_map
from ..dual_quaternion.support import screw_joint_of
from ..recursive.kinematics import body_twists, inertial_poses, joint_acceleration_bias, joint_poses
from .rigid_body import mass_matrix, nonlinear_force, rigid_body
from .several_bodies import BodyRows, sparse_kkt_solution


class MaximalSolution(NamedTuple):
    """Accelerations, joint wrenches and loads in gyrostat's order, and the accelerations of the bodies in this formulation's own."""

    vdot: Array  # (nv,)
    reaction_wrenches: Array  # (nbodies, 6), as gs.reaction_wrenches
    tau: Array  # (nv,): given where a joint is free, its holding load where it is prescribed
    nudot: Array  # (bodies but wheels, 6): (vdot_N; wdot_B)


def supports(craft: Spacecraft) -> str | None:
    """None, or the reason why not: every body's mass matrix is inverted."""
    return screw_joint_of(craft) or why_not(craft)


def forward_dynamics(
    craft: Spacecraft,
    q: Array,
    v: Array,
    tau: Array,
    *,
    wrenches: Any = None,
    prescribed: Mapping[str, Any] | None = None,
) -> Array:
    """Acceleration vdot (nv,) under the generalised force tau and external wrenches; `prescribed = {joint: vdot}`."""
    return solve(craft, q, v, tau, wrenches=wrenches, prescribed=prescribed).vdot


def solve(
    craft: Spacecraft,
    q: Array,
    v: Array,
    tau: Array,
    *,
    wrenches: Any = None,
    prescribed: Mapping[str, Any] | None = None,
) -> MaximalSolution:
    """Accelerations, reaction wrenches and holding loads of prescribed joints."""
    q, v, tau = configuration(craft, q), rates(craft, v), rates(craft, tau, "tau")
    F_ext, follows = external(craft, wrenches), prescribed_rates(craft, prescribed)
    reason = supports(craft)
    if reason:
        raise ValueError(f"attitude_lagrange does not support {craft.name}: {reason}")
    X_NB = inertial_poses(craft, q)
    V = body_twists(craft, q, v, joint_poses(craft, q))
    return maximal_dynamics(craft, q, X_NB, V, v, tau, F_ext, follows)


def maximal_dynamics(
    craft: Spacecraft,
    q: Array,
    X_NB: Mapping[str, Pose],
    V: Mapping[str, Array],
    v: Array,
    tau: Array,
    F_ext: Mapping[str, Array],
    follows: Mapping[str, Array],
) -> MaximalSolution:
    """From the poses and twists of the bodies themselves, and the rates v of the joints."""
    X_PB, parts, bodies = joint_poses(craft, q), carriers(craft, follows), carrier_bodies(craft)
    M: dict[str, Array] = {}
    F: dict[str, Array] = {}
    held: dict[str, Held] = {}
    for B, _ in bodies:
        M[B], F[B] = _body(craft, parts[B], X_NB[B], V[B], v, tau, F_ext, follows, B)
    rows = []
    for B, P in reversed(bodies):  # outermost joints first: those share the fewest bodies with others
        joint = craft.joint(B)
        held[B] = _held(joint, q, follows.get(B))
        motion = joint_acceleration_bias(craft, B, q, v, V[B])
        if B in follows:
            motion = motion + joint.H(q) @ follows[B]
        T, t = {B: _twist_map(X_NB[B])}, _twist_bias(V[B])
        if P is not None:
            T[P], t = -twist_to_child(X_PB[B], _twist_map(X_NB[P])), t - twist_to_child(X_PB[B], _twist_bias(V[P]))
        K, drive = held[B].K, held[B].drive
        rows.append(BodyRows({C: K @ block for C, block in T.items()}, K @ (t - motion), held[B].E))  # (1)
        for C, block in T.items():
            F[C] = F[C] + (drive @ block).T @ joint.rate(tau)[: len(drive)]
    nudot, loads = sparse_kkt_solution(M, F, rows)
    multipliers = {B: load for (B, _), load in zip(reversed(bodies), loads, strict=True)}

    vdots: dict[str, Array] = {}
    taus: dict[str, Array] = {}
    W: dict[str, Array] = {}
    for B, P in bodies:
        joint = craft.joint(B)
        A = _twist_map(X_NB[B]) @ nudot[B] + _twist_bias(V[B])
        W[B] = held[B].K.T @ multipliers[B]
        if B in follows:
            vdots[B] = follows[B]
            taus[B] = joint.H(q).T @ W[B] + joint.armature * vdots[B]
        else:
            relative = A - joint_acceleration_bias(craft, B, q, v, V[B])
            if P is not None:
                relative = relative - twist_to_child(X_PB[B], _twist_map(X_NB[P]) @ nudot[P] + _twist_bias(V[P]))
            vdots[B], taus[B] = held[B].drive @ relative, joint.rate(tau)
            W[B] = W[B] + held[B].drive.T @ taus[B]
        for wheel in parts[B].wheels:
            vdots[wheel.name], taus[wheel.name], W[wheel.name] = wheel_motion(
                craft, wheel, V[B], A, v, tau, F_ext, follows
            )
    order = [B for B, _ in craft.base_to_tip]
    return MaximalSolution(
        np.concatenate([vdots[B] for B in order]),
        np.array([W[B] for B in order]),
        np.concatenate([taus[B] for B in order]),
        np.array([nudot[B] for B, _ in bodies]),
    )


class Held(NamedTuple):
    """What a joint holds and what it drives, as rows on twists about Bo in B."""

    K: Array  # (r, 6): rotor rows last
    drive: Array  # (nv, 6): rates from the relative twist; empty if the joint is prescribed
    E: Array  # (r, r)


def _held(joint: Joint, q: Array, follows: Array | None) -> Held:
    maps = joint_map(joint, q)
    R_iB = maps.R_Bi.T
    K, L = (np.hstack([rows[:, 1:4] @ R_iB, rows[:, 5:] @ R_iB]) for rows in (maps.Lambda, maps.L))
    if follows is not None:
        return Held(np.eye(6), np.zeros((0, 6)), np.zeros((6, 6)))
    r, n = len(K), joint.nv
    if not n or (isinstance(joint.armature, (int, float)) and joint.armature == 0):
        return Held(K, L, np.zeros((r, r)))
    E = np.block([[np.zeros((r, r)), np.zeros((r, n))], [np.zeros((n, r)), np.eye(n) / joint.armature]])
    return Held(np.vstack([K, L]), L, E)


def _body(
    craft: Spacecraft,
    part: Carrier,
    X_NB: Pose,
    V: Array,
    v: Array,
    tau: Array,
    F_ext: Mapping[str, Array],
    follows: Mapping[str, Array],
    B: str,
) -> tuple[Array, Array]:
    """M, and f_non with the loads from outside and from the wheels."""
    body, C, w = rigid_body(part.mass, part.com, part.inertia), X_NB.R.T, V[:3]
    load = load_on_carrier(craft, B, part, w, v, tau, F_ext, follows)
    return mass_matrix(body, C), nonlinear_force(body, C, w) + np.concatenate([C.T @ load[3:], load[:3]])


def _twist_map(X_NB: Pose) -> Array:
    """T with V = [w; v_B] = T nu, (6, 6)."""
    zero = np.zeros((3, 3))
    return np.block([[zero, np.eye(3)], [X_NB.R.T, zero]])


def _twist_bias(V: Array) -> Array:
    """t with Vdot = T nudot + t: Cdot v = -w x (C v)."""
    return np.concatenate([np.zeros(3), -cross(V[:3], V[3:])])
