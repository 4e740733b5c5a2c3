"""A spacecraft in maximal coordinates: every body by its own pose and nu = (v_N; w_B), every joint a constraint with
its wrench.

The joint of body B on P lets V_B - Ad_BP V_P = H rate pass and holds the rows K of what H leaves out. With V = T nu, T
= [0 1; C 0],

    K (T_B nudot_B - Ad_BP T_P nudot_P) + gamma = 0,    gamma = K (t_B - Ad_BP t_P - Hdot rate - V_B x (H rate))     (1)

where t = [0; -w x C v] is what Vdot = T nudot + t has besides. Its multipliers are the loads K^T lambda on B at its
origin, so that constraint wrenches and actuation together are the joint's reaction wrench; rotors and prescribed joints
as in `held_joints`, whose N is K here. The attitude parameters never enter: `maximal_state` chooses them for the state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, Pose, cross, twist_to_child
from ...kinematics import body_twists, inertial_poses, joint_acceleration_bias, joint_poses
from ...kinematics.arguments import Acting, acting, configuration, rates
from ...model import Spacecraft
from ..common.carriers import Carrier, carrier_bodies, carriers, load_on_carrier, wheel_motions, without_inverse
from ..common.held_joints import Held, held, joint_motion
from ..common.joint_loads import JointRows, solve_loads_first, solve_together
from ..common.solution import JointMotion, in_order
from ..common.support import require
from .one_body import mass_matrix, nonlinear_force, rigid_body


class MaximalSolution(NamedTuple):
    """Accelerations, joint wrenches and loads in gyrostat's order, and the accelerations of the bodies in this
    formulation's own.
    """

    vdot: Array  # (nv,)
    reaction_wrenches: Array  # (nbodies, 6), as gs.reaction_wrenches
    tau: Array  # (nv,): given where a joint is free, its holding load where it is prescribed
    nudot: Array  # (bodies but wheels, 6): (vdot_N; wdot_B)


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
    q, v, given = configuration(craft, q), rates(craft, v), acting(craft, tau, wrenches, prescribed)
    require(craft, "attitude_lagrange")
    X_NB = inertial_poses(craft, q)
    V = body_twists(craft, q, v, joint_poses(craft, q))
    return maximal_dynamics(craft, q, X_NB, V, v, given)


def maximal_dynamics(
    craft: Spacecraft, q: Array, X_NB: Mapping[str, Pose], V: Mapping[str, Array], v: Array, given: Acting
) -> MaximalSolution:
    """From the poses and twists of the bodies themselves, and the rates v of the joints."""
    tau, _, follows = given
    X_PB, parts, bodies = joint_poses(craft, q), carriers(craft, follows), carrier_bodies(craft)
    M: dict[str, Array] = {}
    F: dict[str, Array] = {}
    hold: dict[str, Held] = {}
    for B, _ in bodies:
        M[B], F[B] = _body(craft, B, parts[B], X_NB[B], V[B], v, given)
    rows = []
    for B, P in reversed(bodies):  # outermost joints first: those share the fewest bodies with others
        joint = craft.joint(B)
        hold[B] = held(joint, q, follows.get(B))
        motion = joint_acceleration_bias(craft, B, q, v, V[B])
        if B in follows:
            motion = motion + joint.H(q) @ follows[B]
        T, t = {B: _twist_map(X_NB[B])}, _twist_bias(V[B])
        if P is not None:
            T[P], t = -twist_to_child(X_PB[B], _twist_map(X_NB[P])), t - twist_to_child(X_PB[B], _twist_bias(V[P]))
        K, drive, E = hold[B]
        rows.append(JointRows({C: K @ block for C, block in T.items()}, K @ (t - motion), E))  # (1)
        for C, block in T.items():
            F[C] = F[C] + (drive @ block).T @ joint.rate(tau)[: len(drive)]
    solution = solve_together if without_inverse(parts) else solve_loads_first
    nudot, loads = solution(M, F, rows)
    multipliers = {B: load for (B, _), load in zip(reversed(bodies), loads, strict=True)}

    joints: dict[str, JointMotion] = {}
    A = {B: _twist_map(X_NB[B]) @ nudot[B] + _twist_bias(V[B]) for B, _ in bodies}
    for B, P in bodies:
        joint = craft.joint(B)
        relative = A[B] - joint_acceleration_bias(craft, B, q, v, V[B])
        if P is not None:
            relative = relative - twist_to_child(X_PB[B], A[P])
        joints[B] = joint_motion(joint, q, hold[B], multipliers[B], relative, tau, follows.get(B))
        joints |= wheel_motions(craft, parts[B], V[B], A[B], v, given)
    return MaximalSolution(*in_order(craft, joints), np.array([nudot[B] for B, _ in bodies]))


def _body(
    craft: Spacecraft, B: str, part: Carrier, X_NB: Pose, V: Array, v: Array, given: Acting
) -> tuple[Array, Array]:
    """M, and f_non with the loads from outside and from the wheels."""
    body, C, w = rigid_body(part.mass, part.com, part.inertia), X_NB.R.T, V[:3]
    load = load_on_carrier(craft, B, part, w, v, given)
    return mass_matrix(body, C), nonlinear_force(body, C, w) + np.concatenate([C.T @ load[3:], load[:3]])


def _twist_map(X_NB: Pose) -> Array:
    """T with V = [w; v_B] = T nu, (6, 6)."""
    zero = np.zeros((3, 3))
    return np.block([[zero, np.eye(3)], [X_NB.R.T, zero]])


def _twist_bias(V: Array) -> Array:
    """t with Vdot = T nudot + t: Cdot v = -w x (C v)."""
    return np.concatenate([np.zeros(3), -cross(V[:3], V[3:])])
