"""Momentum, kinetic energy and centre of mass of the whole craft."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import Array, cross, rigid_inertia_to_parent, wrench_to_parent
from ...kinematics import body_twists, center_of_mass, inertial_poses, joint_poses
from ...kinematics.arguments import configuration, rates, vector3
from ...model import Spacecraft


def momentum(craft: Spacecraft, q: Array, v: Array, about: Any = None) -> Array:
    """[angular; linear] momentum in N about the point `about` (in N; the inertial origin by default), (6,)."""
    q, v = configuration(craft, q), rates(craft, v)
    X_PB = joint_poses(craft, q)
    V = body_twists(craft, q, v, X_PB)
    h = {B: craft.inertia(B) @ V[B] for B, _ in craft.base_to_tip}
    total = np.zeros(6)
    for B, P in reversed(craft.base_to_tip):
        up = wrench_to_parent(X_PB[B], h[B])  # momenta add up as wrenches do
        if P is None:
            total = up
        else:
            h[P] = h[P] + up
    if about is None:
        return total
    return np.concatenate([total[:3] - cross(vector3(about, "about"), total[3:]), total[3:]])


def centroidal_momentum_matrix(craft: Spacecraft, q: Array) -> Array:
    """A (6, nv) with `[angular about the centre of mass; linear] momentum in N = A v`. Orin, Goswami & Lee (2013)."""
    q = configuration(craft, q)
    X_PB, X_NB, com = joint_poses(craft, q), inertial_poses(craft, q), center_of_mass(craft, q)
    M = {B: craft.inertia(B) for B, _ in craft.base_to_tip}
    columns: dict[str, Array] = {}
    for B, P in reversed(craft.base_to_tip):
        h = wrench_to_parent(X_NB[B], M[B] @ craft.joint(B).H(q)) if craft.joint(B).nv else np.zeros((6, 0))
        columns[B] = np.concatenate([h[:3] - cross(com, h[3:]), h[3:]])
        if P is not None:
            M[P] = M[P] + rigid_inertia_to_parent(X_PB[B], M[B])
    return np.hstack([columns[B] for B, _ in craft.base_to_tip])


def kinetic_energy(craft: Spacecraft, q: Array, v: Array) -> Any:
    """1/2 sum V^T M V over the bodies, and that of geared rotors, in J."""
    q, v = configuration(craft, q), rates(craft, v)
    V = body_twists(craft, q, v, joint_poses(craft, q))
    twice: Any = 0.0
    for B, _ in craft.base_to_tip:
        joint = craft.joint(B)
        twice = twice + V[B] @ (craft.inertia(B) @ V[B])
        if joint.nv:
            twice = twice + joint.armature * (joint.rate(v) @ joint.rate(v))
    return 0.5 * twice
