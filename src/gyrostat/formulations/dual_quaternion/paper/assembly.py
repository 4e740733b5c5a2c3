"""The system of equations (50)-(56), assembled whole, and its solution by the Schur complement (57)-(60).

    [S11 S12] [ydot]   [B1]
    [S21 S22] [ T  ] = [B2]

with ydot the dual accelerations of the bodies, stacked, and T the reduced reactions of the joints, the base's own first
(none for a free base). A joint with a rotor has one more reaction per rate, s = -rotor vdot, and a constraint with
give: L w + s / rotor = L c. So S11 stays block diagonal and S22 holds 1 / rotor there; without rotors S22 = 0 (52).

`elimination` solves the same equations faster. This is the form to read against the paper, and the second opinion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ....algebra import (
    DQ_SWAP,
    Array,
    dq_to_child,
    dq_to_parent,
    is_zero,
    pose_adjoint,
    pose_adjoint_inverse,
    solve_spd,
    twist_from_dual,
    unboxed,
    unswapped,
    wrench_from_dual,
)
from ....kinematics.arguments import Acting, acting, configuration, rates
from ....model import Joint, Spacecraft
from ...common.carriers import carriers, wheel_motions, without_inverse
from ...common.joint_maps import JointMap
from ...common.solution import JointMotion, Solution, in_order
from ...common.support import require
from ..elimination import turned
from ..kinematics import Frames, Motion, frames, joint_bias, motion_of_rates
from ..loads import known_wrench


class System(NamedTuple):
    """S and B of (50) in blocks; where each body stands in ydot, and each joint's reaction (by body) in T."""

    S11: Array
    S12: Array
    S21: Array
    S22: Array
    B1: Array
    B2: Array
    Pi: Array  # permutation with S21 = -Pi S12^T X
    body_at: dict[str, slice]
    joint_at: dict[str, slice]

    @property
    def S(self) -> Array:
        """The whole matrix (57)."""
        return np.block([[self.S11, self.S12], [self.S21, self.S22]])

    @property
    def B(self) -> Array:
        return np.concatenate([self.B1, self.B2])


def assemble(
    craft: Spacecraft,
    q: Array,
    v: Array,
    tau: Array,
    *,
    wrenches: Any = None,
    prescribed: Mapping[str, Any] | None = None,
) -> System:
    """The system (50) at a state. Prescribed joints hold all six components and leave their actuation out of B1."""
    q, v, given = configuration(craft, q), rates(craft, v), acting(craft, tau, wrenches, prescribed)
    require(craft)
    f = frames(craft, q, given.follows)
    return _system(craft, q, f, motion_of_rates(craft, f, v), given)


def _system(craft: Spacecraft, q: Array, f: Frames, m: Motion, given: Acting) -> System:
    tau, _, follows = given
    reacting = {B: _with_rotor(craft.joint(B), f.map[B], B in follows) for B, _ in f.bodies}
    body_at = {B: slice(8 * b, 8 * b + 8) for b, (B, _) in enumerate(f.bodies)}
    joint_at, R = {}, 0
    for B, _ in f.bodies:
        r = reacting[B].V.shape[1]
        joint_at[B], R = slice(R, R + r), R + r
    n = 8 * len(f.bodies)
    S11, S12, S21, S22 = (np.zeros(shape, dtype=object) for shape in ((n, n), (n, R), (R, n), (R, R)))
    B1, B2, Pi = np.zeros(n, dtype=object), np.zeros(R, dtype=object), np.zeros((R, R))
    for B, P in f.bodies:
        b, i, joint, maps = body_at[B], joint_at[B], craft.joint(B), reacting[B]
        V, Lambda = maps.V, maps.Lambda
        S11[b, b] = unswapped(f.M[B])  # (51)
        S12[b, i] = -pose_adjoint_inverse(f.X_ib[B]) @ V  # (53)
        S21[i, b] = Lambda @ pose_adjoint(f.X_ib[B])  # (54)
        Pi[i, i] = maps.Pi
        B1[b] = B1[b] + known_wrench(craft, f, m, B, given)  # (55)
        c = joint_bias(craft, f, q, m, B)
        if B in follows:
            c = c + maps.H @ follows[B]
        elif joint.nv:
            W_act = maps.V_act @ joint.rate(tau)
            B1[b] = B1[b] + dq_to_child(f.X_ib[B], W_act)  # (55)
            if P is not None:
                B1[body_at[P]] = B1[body_at[P]] - dq_to_parent(f.X_ki[B], W_act)  # (55)
            for s in range(i.start + f.map[B].V.shape[1], i.stop):  # the rotor's rows
                S22[s, s] = 1.0 / joint.armature
        B2[i] = Lambda @ c  # (56)
        if P is not None:
            k = body_at[P]
            S12[k, i] = pose_adjoint(f.X_ki[B]) @ V  # (53)
            S21[i, k] = -Lambda @ pose_adjoint_inverse(f.X_ki[B])  # (54)
    S11, S12, S21, S22, B1, B2 = (unboxed(x) for x in (S11, S12, S21, S22, B1, B2))
    return System(S11, S12, S21, S22, B1, B2, Pi, body_at, joint_at)


def _with_rotor(joint: Joint, maps: JointMap, held: bool) -> JointMap:
    """The joint's map, with the load of its rotor as one more reaction per rate."""
    if held or not joint.nv or is_zero(joint.armature):
        return maps
    r, d = maps.V.shape[1], joint.nv
    Pi = np.block([[maps.Pi, np.zeros((r, d))], [np.zeros((d, r)), np.eye(d)]])
    return maps._replace(V=np.hstack([maps.V, maps.V_act]), Lambda=np.vstack([maps.Lambda, maps.L]), Pi=Pi)


def schur_complement(system: System) -> tuple[Array, Array]:
    """A and b with A T = b: (60) made symmetric, A = S12^T M^-1 S12 + Pi^T S22 = -Pi^T (S/S11), positive definite.

    b = S12^T M^-1 B1 + Pi^T B2. Blocks of A are zero unless two joints share a body.
    """
    Minv = _inverse_inertias(system)
    A = system.S12.T @ Minv @ system.S12 + system.Pi.T @ system.S22
    return A, system.S12.T @ (Minv @ system.B1) + system.Pi.T @ system.B2


def _inverse_inertias(system: System) -> Array:
    """M^-1, block by block; S11 = M X, so S11^-1 = X M^-1 (29)."""
    M = system.S11 @ _swaps(len(system.body_at))
    Minv = np.zeros(M.shape, dtype=object)
    for b in system.body_at.values():
        Minv[b, b] = solve_spd(M[b, b], np.eye(8))
    return unboxed(Minv)


def _swaps(n: int) -> Array:
    return np.kron(np.eye(n), DQ_SWAP)


def solve_by_schur_complement(
    craft: Spacecraft,
    q: Array,
    v: Array,
    tau: Array,
    *,
    wrenches: Any = None,
    prescribed: Mapping[str, Any] | None = None,
) -> Solution:
    """`solve` by (60), symmetric: T = A^-1 b, then ydot = X M^-1 (B1 - S12 T). Cost O(nbodies^3) where arms share a
    body.

    M is inverted body by body: each needs mass and three moments of inertia. `solve` inverts none.
    """
    singular = without_inverse(carriers(craft, {}))
    if singular:
        raise ValueError(
            f"body '{singular[0]}' of {craft.name} has no mass, or no inertia about some axis; the Schur complement "
            "(57)-(60) needs the inverse of every body's inertia. Use `solve`, which eliminates bodies with their "
            "joints and needs none."
        )
    system = assemble(craft, q, v, tau, wrenches=wrenches, prescribed=prescribed)
    A, b = schur_complement(system)
    T = solve_spd(A, b) if len(b) else b
    ydot = _swaps(len(system.body_at)) @ (_inverse_inertias(system) @ (system.B1 - system.S12 @ T))
    return solution(craft, q, v, tau, system, ydot, T, wrenches=wrenches, prescribed=prescribed)


def solution(
    craft: Spacecraft,
    q: Array,
    v: Array,
    tau: Array,
    system: System,
    ydot: Array,
    T: Array,
    *,
    wrenches: Any = None,
    prescribed: Mapping[str, Any] | None = None,
) -> Solution:
    """Unknowns (ydot, T) of (50) in gyrostat's order: vdot = L (w^i_{i/k}' - Hdot rate) by (48), W = V T + V_act
    tau.
    """
    q, v, given = configuration(craft, q), rates(craft, v), acting(craft, tau, wrenches, prescribed)
    tau, _, follows = given
    f = frames(craft, q, follows)
    m = motion_of_rates(craft, f, v)
    joints: dict[str, JointMotion] = {}
    for B, P in f.bodies:
        joint, R_Bi = craft.joint(B), f.map[B].R_Bi
        maps = _with_rotor(joint, f.map[B], B in follows)
        a = dq_to_parent(f.X_ib[B], ydot[system.body_at[B]])
        relative = a if P is None else a - dq_to_child(f.X_ki[B], ydot[system.body_at[P]])
        vdot = maps.L @ (relative - joint_bias(craft, f, q, m, B))  # (48)
        wrench = maps.V @ T[system.joint_at[B]]
        if B in follows:
            load = maps.H.T @ DQ_SWAP @ wrench + joint.armature * vdot
        else:
            load = joint.rate(tau)
            wrench = wrench + maps.V_act @ load
        joints[B] = JointMotion(vdot, load, turned(R_Bi, wrench_from_dual(wrench)))
        V_NB, A_NB = (turned(R_Bi, twist_from_dual(x)) for x in (m.w_joint[B] + m.w_parent[B], a))
        joints |= wheel_motions(craft, f.carrier[B], V_NB, A_NB, v, given)
    return in_order(craft, joints)
