"""Mass, centre of mass and inertia of the whole craft."""

from __future__ import annotations

from typing import Any

from ..algebra import Array, RigidInertia, rigid_inertia_to_parent, transform_point
from ..model import Spacecraft
from .arguments import configuration
from .flexible import inertia_at, mass_at
from .poses import inertial_poses, joint_poses


def composite_inertia(craft: Spacecraft, q: Array) -> RigidInertia:
    """Inertia of the whole craft with its joints and shapes locked, about the inertial origin, in N."""
    q = configuration(craft, q)
    X_PB = joint_poses(craft, q)
    M = {B: inertia_at(craft, q, B) for B, _ in craft.base_to_tip}
    for B, P in reversed(craft.base_to_tip):
        up = rigid_inertia_to_parent(X_PB[B], M[B])
        if P is None:
            return up
        M[P] = M[P] + up
    raise AssertionError("unreachable: the base has no parent")


def total_mass(craft: Spacecraft) -> Any:
    """Mass of the whole craft in kg."""
    return sum(body.mass for body in craft.bodies)


def center_of_mass(craft: Spacecraft, q: Array) -> Array:
    """Centre of mass of the whole craft, in N, (3,)."""
    q = configuration(craft, q)
    X_NB = inertial_poses(craft, q)
    own = {B: mass_at(craft, q, B) for B in X_NB}
    return sum(mass * transform_point(X_NB[B], com) for B, (mass, com, _) in own.items()) / total_mass(craft)
