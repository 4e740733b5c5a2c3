"""What is balanced in the audit of a run: the momentum of a craft about its own centre of mass,
and the energy it holds.

About the centre of mass c, wherever it moves, with external forces f_i and torques m_i at the points r_i:

    d/dt p = sum f_i,    d/dt l_c = sum (m_i + (r_i - c) x f_i)                                                 (1)

No lever to the origin enters: a craft that is far away, or passes quickly, is audited as well as one at rest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, cross
from ...control.passive import spring_energy
from ...kinematics import body_twists, inertia_at, inertial_poses, joint_poses, kinetic_energy_of, momentum_of
from ...model import Spacecraft


class Held(NamedTuple):
    """What a craft holds at one instant; frames N."""

    momentum: Array  # (6,) [angular about the centre of mass; linear]
    kinetic: Array  # (nbodies,) J, with the rotor of the body's joint
    stored: Any  # J in springs


def held_by(craft: Spacecraft, q: Array, v: Array) -> Held:
    """By sums from the tips to the roots, each about the origin of its own body."""
    X_PB = joint_poses(craft, q)
    V = body_twists(craft, q, v, X_PB)
    h, mass, moment, kinetic = {}, {}, {}, []
    for B, _ in craft.base_to_tip:
        joint, M = craft.joint(B), inertia_at(craft, q, B)
        h[B], mass[B], moment[B] = momentum_of(craft, q, v, B, V[B]), craft.body(B).mass, M.h
        own = kinetic_energy_of(craft, q, v, B, V[B])
        kinetic.append(own + 0.5 * joint.armature * (joint.rate(v) @ joint.rate(v)) if joint.nv else own)
    roots = {body.name for body in craft.roots}
    for B, P in reversed(craft.base_to_tip):
        if B not in roots and P is not None:
            R, p = X_PB[B]
            force = R @ h[B][3:]
            h[P] = h[P] + np.concatenate([R @ h[B][:3] + cross(p, force), force])
            mass[P], moment[P] = mass[P] + mass[B], moment[P] + R @ moment[B] + mass[B] * p
    return Held(_about_center_of_mass(craft, q, h, mass, moment), np.array(kinetic), spring_energy(craft, q))


def _about_center_of_mass(craft: Spacecraft, q: Array, h: Any, mass: Any, moment: Any) -> Array:
    """Of all roots together; positions are counted from the first."""
    poses, first = inertial_poses(craft, q), craft.roots[0].name
    p_N = {body.name: poses[body.name].p - poses[first].p for body in craft.roots}
    R_N = {body.name: poses[body.name].R for body in craft.roots}
    total = sum(mass[B] for B in R_N)
    c = sum(mass[B] * p_N[B] + R_N[B] @ moment[B] for B in R_N) / total
    linear = [R_N[B] @ h[B][3:] for B in R_N]
    angular = [R_N[B] @ h[B][:3] + cross(p_N[B] - c, p) for B, p in zip(R_N, linear, strict=True)]
    return np.concatenate([sum(angular), sum(linear)])
