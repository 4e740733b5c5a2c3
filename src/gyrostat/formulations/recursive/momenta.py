"""Momentum, kinetic energy and centre of mass of the whole craft."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import Array, cross, rigid_inertia_to_parent, wrench_to_parent
from ...kinematics import (
    bent_inertia,
    body_twists,
    carried,
    center_of_mass,
    inertia_at,
    inertial_poses,
    joint_poses,
    kinetic_energy_of,
    momentum_of,
)
from ...kinematics.arguments import configuration, rates, vector3
from ...kinematics.lean import lean
from ...model import Spacecraft


def momentum(craft: Spacecraft, q: Array, v: Array, about: Any = None) -> Array:
    """[angular; linear] momentum in N about the point `about` (in N; the inertial origin by default), (6,)."""
    q, v = configuration(craft, q), rates(craft, v)
    craft, _ = lean(craft, {}, q, v)
    X_PB = joint_poses(craft, q)
    V = body_twists(craft, q, v, X_PB)
    h = {B: momentum_of(craft, q, v, B, V[B]) for B, _ in craft.base_to_tip}
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
    M = {B: inertia_at(craft, q, B) for B, _ in craft.base_to_tip}
    rf = {body.name: bent_inertia(body, q).rf for body in map(craft.flexible, M) if body is not None}
    columns: dict[str, Array] = {}
    for B, P in reversed(craft.base_to_tip):
        joint = craft.joint(B)
        own = {joint.name: M[B] @ joint.H(q) if joint.nv else np.zeros((6, 0))}
        if B in rf:
            own[f"{B}.modes"] = rf[B]
        for name, column in own.items():
            h = wrench_to_parent(X_NB[B], column)
            columns[name] = np.concatenate([h[:3] - cross(com, h[3:]), h[3:]])
        if P is not None:
            M[P] = M[P] + rigid_inertia_to_parent(X_PB[B], M[B])
        if P is not None and joint.mount is not None:
            rf[P] = rf[P] + wrench_to_parent(X_PB[B], M[B] @ carried(joint, q))
    return np.hstack([columns[joint.name] for joint in craft.joints])


def kinetic_energy(craft: Spacecraft, q: Array, v: Array) -> Any:
    """1/2 sum V^T M V over the bodies, with the rates of their shapes, and that of geared rotors, in J."""
    q, v = configuration(craft, q), rates(craft, v)
    craft, _ = lean(craft, {}, q, v)
    V = body_twists(craft, q, v, joint_poses(craft, q))
    total: Any = 0.0
    for B, _ in craft.base_to_tip:
        joint = craft.joint(B)
        total = total + kinetic_energy_of(craft, q, v, B, V[B])
        if joint.nv:
            total = total + 0.5 * joint.armature * (joint.rate(v) @ joint.rate(v))
    return total
