"""Everything in the axes of the base: joint columns, inertias, twists and momenta. Where the base is never enters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...algebra import (
    IDENTITY,
    Array,
    Pose,
    RigidInertia,
    adjoint,
    compose,
    cross_motion_matrix,
    rigid_inertia_to_parent,
    skew,
    unboxed,
    wrench_to_parent,
)
from ...kinematics.arguments import external
from ...model import Spacecraft

ZERO6 = np.zeros(6)


@dataclass(frozen=True, eq=False)
class BaseFrame:
    """Of each body B, about the origin of the base b and in its axes:

    X_bB                                                              (2)
    S    = Ad_bB H,  its joint's columns; those of the base are the selection matrix H       (3), (B.1)
    M_c  = sum over what the joint carries of Ad_Bb^T M_B Ad_Bb       composite inertia, of (9)
    """

    X: Mapping[str, Pose]
    S: Mapping[str, Array]
    M: Mapping[str, RigidInertia]
    M_c: Mapping[str, RigidInertia]


def base_frame(craft: Spacecraft, q: Array) -> BaseFrame:
    """Columns and inertias at the configuration q."""
    X: dict[str, Pose] = {}
    S: dict[str, Array] = {}
    M: dict[str, RigidInertia] = {}
    for B, P in craft.base_to_tip:
        joint = craft.joint(B)
        X[B] = IDENTITY if P is None else compose(X[P], joint.pose(q))  # (2)
        S[B] = joint.H(q) if P is None else adjoint(X[B]) @ joint.H(q)  # (3), (B.1)
        M[B] = rigid_inertia_to_parent(X[B], craft.inertia(B))
    M_c = dict(M)
    for B, P in reversed(craft.base_to_tip):
        if P is not None:
            M_c[P] = M_c[P] + M_c[B]
    return BaseFrame(X, S, M, M_c)


@dataclass(frozen=True, eq=False)
class Motion:
    """Of each body B at the velocity v, about the base's origin and in its axes:

    V    = V_P + S v_B                       twist relative to N           (4)
    W    = W_P + S v_B, zero for the base    twist relative to the base    (4)
    F_c  = sum of M V over what the joint carries: momentum
    Mdot_c = sum of -(W x)^T M - M W x       rate of M_c as seen from the base, by Prop. A.1
    """

    V: Mapping[str, Array]
    W: Mapping[str, Array]
    F_c: Mapping[str, Array]
    Mdot_c: Mapping[str, Array]


def motion(craft: Spacecraft, frame: BaseFrame, v: Array) -> Motion:
    """Twists, momenta and inertia rates at the velocity v."""
    V: dict[str, Array] = {}
    W: dict[str, Array] = {}
    F_c: dict[str, Array] = {}
    Mdot_c: dict[str, Array] = {}
    for B, P in craft.base_to_tip:
        joint = craft.joint(B)
        V_PB = frame.S[B] @ joint.rate(v) if joint.nv else ZERO6
        V[B] = V_PB if P is None else V[P] + V_PB  # (4)
        W[B] = ZERO6 if P is None else W[P] + V_PB
        M = frame.M[B].matrix
        half = M @ cross_motion_matrix(W[B])
        F_c[B], Mdot_c[B] = frame.M[B] @ V[B], -(half + half.T)
    for B, P in reversed(craft.base_to_tip):
        if P is not None:
            F_c[P], Mdot_c[P] = F_c[P] + F_c[B], Mdot_c[P] + Mdot_c[B]
    return Motion(V, W, F_c, Mdot_c)


def momentum_cross(F: Array) -> Array:
    """F* with `F* V = V x* F`, skew-symmetric, (6, 6): K(P) of (22'), for angular first."""
    L, P = skew(F[:3]), skew(F[3:])
    return -np.block([[L, P], [P, np.zeros((3, 3))]])


def external_force(craft: Spacecraft, frame: BaseFrame, wrenches: Any) -> Array:
    """Generalised force (nv,) of external wrenches on the bodies."""
    given = external(craft, wrenches)
    if not given:
        return np.zeros(craft.nv)
    F_c = {B: wrench_to_parent(frame.X[B], given[B]) for B, _ in craft.base_to_tip}
    for B, P in reversed(craft.base_to_tip):
        if P is not None:
            F_c[P] = F_c[P] + F_c[B]
    return np.concatenate([frame.S[B].T @ F_c[B] for B, _ in craft.base_to_tip])


def lines(craft: Spacecraft) -> Iterator[tuple[str, str]]:
    """(A, B) for each body B whose joint moves and each such A on its way to the base, B itself first."""
    for B, _ in craft.base_to_tip:
        if not craft.joint(B).nv:
            continue
        A: str | None = B
        while A is not None:
            if craft.joint(A).nv:
                yield A, B
            A = craft.body(A).parent


def assembled(craft: Spacecraft, blocks: Mapping[tuple[str, str], Array]) -> Array:
    """(nv, nv) from the blocks [A, B]; zero where there is none."""
    matrix = np.zeros((craft.nv, craft.nv), dtype=object)
    for (A, B), block in blocks.items():
        matrix[craft.joint(A).v_at, craft.joint(B).v_at] = block
    return unboxed(matrix)
