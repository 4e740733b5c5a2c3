"""Rotation and translation apart, constraint forces and torques as unknowns: the classical Newton-Euler baseline.

Stoneking, Newton-Euler dynamic equations of motion for a multi-body spacecraft (2007), as Valverde & Tsiotras (2018)
compare with it. Per body the angular velocity w in its own axes and the velocity u of its centre of mass in INERTIAL
axes:

    I wdot = torque - w x I w + (torques of the joints)                                                        (1)
    m udot = force + (forces of the joints)                                                                    (2)

The joint of body B holds directions N (rows [n_w, n_v] in B) and exerts N^T L = [torque; force] on B at its origin, the
opposite on its parent P. With c the centre of mass in B, d the joint's origin from that of P, both bodies'
accelerations are bound by

    N [wdot_B - R_BP wdot_P;  R_BN (udot_B - udot_P) + c x wdot_B - R_BP (wdot_P x d)] = N [g_w; g_v]          (3)

    g_w = (R_BP w_P) x (H_w rate) + Hdot_w rate                                                                (4)
    g_v = w x (w x c) + R_BP (w_P x (w_P x d)) + (w + R_BP w_P) x (H_v rate) + Hdot_v rate                     (5)

Let G be the matrix of (3) for all joints. Loads enter (1), (2) through G^T, so they solve, with M = diag(I, m),

    (G M^-1 G^T + E) L = N g - G M^-1 F,   F the known forces and torques                                      (6)

E is zero but for rotors: see `held_joints`, which also says what a prescribed joint holds. Cost O(nbodies^3). Bodies
without mass have no M^-1: `joint_loads` solves (1)-(3) together then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, Pose, cross, skew
from ...kinematics import body_twists, inertial_poses, joint_poses
from ...kinematics.arguments import Acting, acting, configuration, rates
from ...model import Joint, Spacecraft
from ..common.carriers import carrier_bodies, carriers, load_on_carrier, wheel_motions, without_inverse
from ..common.held_joints import Held, held, joint_motion
from ..common.joint_loads import JointRows, solve_loads_first, solve_together
from ..common.solution import JointMotion, in_order
from ..common.support import require

ZERO = np.zeros((3, 3))


class DecoupledSolution(NamedTuple):
    """Accelerations, joint wrenches and loads in gyrostat's order, and the accelerations of the bodies in this
    formulation's own.
    """

    vdot: Array  # (nv,)
    reaction_wrenches: Array  # (nbodies, 6), as gs.reaction_wrenches
    tau: Array  # (nv,): given where a joint is free, its holding load where it is prescribed
    body_accelerations: Array  # (bodies but wheels, 6): [wdot in B; udot in N]


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
) -> DecoupledSolution:
    """Accelerations, reaction wrenches and holding loads of prescribed joints."""
    q, v, given = configuration(craft, q), rates(craft, v), acting(craft, tau, wrenches, prescribed)
    require(craft, "the decoupled formulation")
    V = body_twists(craft, q, v, joint_poses(craft, q))
    return newton_euler(craft, q, {B: V[B][:3] for B in V}, v, given)


def newton_euler(craft: Spacecraft, q: Array, w: Mapping[str, Array], v: Array, given: Acting) -> DecoupledSolution:
    """Equations (1)-(6) from the angular velocities w of the bodies and the rates v of the joints."""
    tau, _, follows = given
    X_PB, X_NB = joint_poses(craft, q), inertial_poses(craft, q)
    body, bodies = carriers(craft, follows), carrier_bodies(craft)
    hold: dict[str, Held] = {}
    g: dict[str, Array] = {}
    G: dict[tuple[str, str], Array] = {}
    F: dict[str, Array] = {}
    M: dict[str, Array] = {}
    for B, P in bodies:
        joint, c, R_NB = craft.joint(B), body[B].com, X_NB[B].R
        load = load_on_carrier(craft, B, body[B], w[B], v, given)
        torque = load[:3] - cross(c, load[3:]) - cross(w[B], body[B].inertia @ w[B])  # (1)
        F[B] = np.concatenate([torque, R_NB @ load[3:]])
        M[B] = np.block([[body[B].inertia, ZERO], [ZERO, body[B].mass * np.eye(3)]])
        d = None if P is None else X_PB[B].p - body[P].com
        hold[B] = held(joint, q, follows.get(B))
        g[B] = _known(joint, q, v, c, d, X_PB[B].R, w[B], None if P is None else w[P])
        if B in follows:
            g[B] = g[B] + joint.H(q) @ follows[B]
        G[B, B], drive = _rows(hold[B].N, R_NB, c), hold[B].drive
        F[B] = F[B] + _rows(drive, R_NB, c).T @ joint.rate(tau)[: len(drive)]
        if P is not None and d is not None:
            G[B, P] = _parent_rows(hold[B].N, R_NB, X_PB[B], d)
            F[P] = F[P] + _parent_rows(drive, R_NB, X_PB[B], d).T @ joint.rate(tau)[: len(drive)]

    rows = [
        JointRows({C: G[B, C] for C in (B, P) if C is not None}, -(hold[B].N @ g[B]), hold[B].E)
        for B, P in reversed(bodies)  # outermost joints first: those share the fewest bodies with others
    ]
    solution = solve_together if without_inverse(body) else solve_loads_first
    x, found = solution(M, F, rows)  # (6)
    loads = {B: load for (B, _), load in zip(reversed(bodies), found, strict=True)}

    joints: dict[str, JointMotion] = {}
    for B, P in bodies:
        joint, c, R_NB = craft.joint(B), body[B].com, X_NB[B].R
        relative = _rows(np.eye(6), R_NB, c) @ x[B]
        if P is not None:
            relative = relative + _parent_rows(np.eye(6), R_NB, X_PB[B], X_PB[B].p - body[P].com) @ x[P]
        joints[B] = joint_motion(joint, q, hold[B], loads[B], relative - g[B], tau, follows.get(B))
        a_o = R_NB.T @ x[B][3:] - cross(x[B][:3], c) - cross(w[B], cross(w[B], c))  # of Bo, in B
        # N may be taken to move with Bo: no load depends on a constant velocity
        V_NB = np.concatenate([w[B], np.zeros(3)])
        joints |= wheel_motions(craft, body[B], V_NB, np.concatenate([x[B][:3], a_o]), v, given)
    return DecoupledSolution(*in_order(craft, joints), np.array([x[B] for B, _ in bodies]))


def _known(
    joint: Joint, q: Array, v: Array, c: Array, d: Array | None, R_PB: Array, w: Array, w_P: Array | None
) -> Array:
    """[g_w; g_v], (6,)."""
    H, rate = joint.H(q), joint.rate(v)
    turn, slide = (H[:3] @ rate, H[3:] @ rate) if joint.nv else (np.zeros(3), np.zeros(3))
    bias = joint.bias(q, v) if joint.nv else np.zeros(6)
    g_w, g_v = bias[:3], cross(w, cross(w, c) + slide) + bias[3:]
    if w_P is not None and d is not None:
        felt = R_PB.T @ w_P
        g_w = g_w + cross(felt, turn)  # (4)
        g_v = g_v + R_PB.T @ cross(w_P, cross(w_P, d)) + cross(felt, slide)  # (5)
    return np.concatenate([g_w, g_v])


def _rows(N: Array, R_NB: Array, c: Array) -> Array:
    """Columns of (3) for the joint's own body, (r, 6)."""
    return np.hstack([N[:, :3] + N[:, 3:] @ skew(c), N[:, 3:] @ R_NB.T])


def _parent_rows(N: Array, R_NB: Array, X_PB: Pose, d: Array) -> Array:
    """Columns of (3) for the parent, (r, 6)."""
    R_BP = X_PB.R.T
    return np.hstack([(N[:, 3:] @ R_BP) @ skew(d) - N[:, :3] @ R_BP, -(N[:, 3:] @ R_NB.T)])
