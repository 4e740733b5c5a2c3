"""The state in maximal coordinates: per body position in N, attitude parameters of any kind, velocity in N, angular
velocity in B.

    z = [per body: r_N (3), attitude (nq); per body: v_N (3), w_B (3); wheel speeds],  rdot = v, attitude rate = Gamma w

Each body may have its own parameterisation. The joints are constraints on z: their drift is what Baumgarte's terms and
projection hold back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....algebra import Array, Pose
from ....attitude import AbstractParameterisation, parameterisation
from ....kinematics import body_twists, inertial_poses, joint_poses
from ....kinematics.arguments import configuration, rates
from ....model import Spacecraft
from ...common.carriers import carrier_bodies

Choice = str | Mapping[str, str]


def parameterisations(craft: Spacecraft, attitude: Choice = "quaternion") -> dict[str, AbstractParameterisation]:
    """By body: one name for all, or {body: name}, quaternions where none is given."""
    if isinstance(attitude, str):
        return {B: parameterisation(attitude) for B, _ in carrier_bodies(craft)}
    for B in attitude:
        craft.body(B)
    return {B: parameterisation(attitude.get(B, "quaternion")) for B, _ in carrier_bodies(craft)}


def maximal_state(craft: Spacecraft, q: Array, v: Array, attitude: Choice = "quaternion") -> Array:
    """z at the state (q, v)."""
    q, v = configuration(craft, q), rates(craft, v)
    X_NB, V = inertial_poses(craft, q), body_twists(craft, q, v, joint_poses(craft, q))
    poses, velocities = [], []
    for B, p in parameterisations(craft, attitude).items():
        poses += [X_NB[B].p, p.from_C(X_NB[B].R.T)]
        velocities += [X_NB[B].R @ V[B][3:], V[B][:3]]
    return np.concatenate([*poses, *velocities, *(wheel.joint.rate(v) for wheel in craft.wheels)])


def unpacked(
    craft: Spacecraft, z: Array, attitude: Choice = "quaternion"
) -> tuple[dict[str, Pose], dict[str, Array], Array]:
    """Poses X_NB and twists [w; v_B] of the bodies, and wheel speeds, as they stand in z."""
    X, V, at = {}, {}, 0
    chosen = parameterisations(craft, attitude)
    for B, p in chosen.items():
        X[B] = Pose(p.rotation(z[at + 3 : at + 3 + p.nq]), z[at : at + 3])
        at += 3 + p.nq
    for B in chosen:
        V[B] = np.concatenate([z[at + 3 : at + 6], X[B].R.T @ z[at : at + 3]])
        at += 6
    return X, V, z[at:]


def maximal_state_rate(
    craft: Spacecraft, z: Array, nudot: Array, wheel_rates: Any, attitude: Choice = "quaternion"
) -> Array:
    """d/dt z from the accelerations (bodies but wheels, 6) of the bodies: rdot = v, attitude rate = Gamma w."""
    chosen = parameterisations(craft, attitude)
    size = sum(3 + p.nq for p in chosen.values())
    poses, at = [], 0
    for k, p in enumerate(chosen.values()):
        nu = z[size + 6 * k : size + 6 * k + 6]
        poses += [nu[:3], p.Gamma(z[at + 3 : at + 3 + p.nq]) @ nu[3:]]
        at += 3 + p.nq
    return np.concatenate([*poses, np.asarray(nudot).reshape(-1), np.asarray(wheel_rates)])
