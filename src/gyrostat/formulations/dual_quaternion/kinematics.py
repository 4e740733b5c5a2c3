"""Frames, poses and dual velocities of the bodies (45)-(49), (63), (64).

Frame b of a body sits at its centre of mass, frame i at its joint, both turned alike. k is frame b of the parent; for
the base it is the inertial frame. Poses are `X_ib` (q_{b/i} in the paper: constant, no rotation) and `X_ki` (q_{i/k}:
the joint's motion). Wheels are no bodies here: see `carriers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...algebra import Array, Pose, compose, dq_cross, dq_to_child, dq_to_parent, dual_inertia, dual_twist
from ...model import Spacecraft
from ..common.carriers import Carrier, carrier_bodies, carriers
from ..common.joint_maps import JointMap, all_held, joint_map

ZERO8 = np.zeros(8)


class Frames(NamedTuple):
    """Of each body by name: all that depends on q alone."""

    bodies: list[tuple[str, str | None]]  # (body, parent), base to tip
    carrier: dict[str, Carrier]
    map: dict[str, JointMap]
    M: dict[str, Array]  # dual inertia (22) in frame b
    X_ib: dict[str, Pose]
    X_ki: dict[str, Pose]


def frames(craft: Spacecraft, q: Array, follows: Mapping[str, Array]) -> Frames:
    """Frames of all bodies at the configuration q; joints of the bodies in `follows` are prescribed."""
    body = carriers(craft, follows)
    bodies = carrier_bodies(craft)
    maps: dict[str, JointMap] = {}
    M: dict[str, Array] = {}
    X_ib: dict[str, Pose] = {}
    X_ki: dict[str, Pose] = {}
    for B, P in bodies:
        joint = craft.joint(B)
        maps[B] = all_held(joint_map(joint, q)) if B in follows else joint_map(joint, q)
        R_Bi = maps[B].R_Bi
        X_ib[B] = Pose(np.eye(3), R_Bi.T @ body[B].com)
        M[B] = dual_inertia(body[B].mass, R_Bi.T @ body[B].inertia @ R_Bi)
        X_Pi = compose(joint.pose(q), Pose(R_Bi, np.zeros(3)))
        X_ki[B] = X_Pi if P is None else Pose(maps[P].R_Bi.T @ X_Pi.R, maps[P].R_Bi.T @ (X_Pi.p - body[P].com))
    return Frames(bodies, body, maps, M, X_ib, X_ki)


def pose_of_bodies(f: Frames) -> dict[str, Pose]:
    """X_Nb of each body: q_{b/N} = q_{k/N} q_{i/k} q_{b/i}."""
    X_Nb: dict[str, Pose] = {}
    for B, P in f.bodies:
        X_kb = compose(f.X_ki[B], f.X_ib[B])
        X_Nb[B] = X_kb if P is None else compose(X_Nb[P], X_kb)
    return X_Nb


class Motion(NamedTuple):
    """Dual velocities by body name, (8,) each, and the rates that go with them."""

    v: Array  # (nv,)
    w: dict[str, Array]  # w^b_{b/N}
    w_joint: dict[str, Array]  # w^i_{i/k}
    w_parent: dict[str, Array]  # q*_{i/k} w^k_{k/N} q_{i/k}: the parent's, as felt in frame i


def motion_of_rates(craft: Spacecraft, f: Frames, v: Array) -> Motion:
    """Outward from the rates v: w_b = q*_{b/i} (w^i_{i/k} + q*_{i/k} w_k q_{i/k}) q_{b/i}   (63)."""
    w: dict[str, Array] = {}
    w_joint: dict[str, Array] = {}
    w_parent: dict[str, Array] = {}
    for B, P in f.bodies:
        joint = craft.joint(B)
        w_joint[B] = f.map[B].H @ joint.rate(v) if joint.nv else ZERO8
        w_parent[B] = ZERO8 if P is None else dq_to_child(f.X_ki[B], w[P])
        w[B] = dq_to_child(f.X_ib[B], w_joint[B] + w_parent[B])  # (63)
    return Motion(v, w, w_joint, w_parent)


def motion_of_bodies(craft: Spacecraft, f: Frames, w: dict[str, Array], wheel_speeds: Array) -> Motion:
    """From the dual velocities of the bodies: w^i_{i/k} = q_{b/i} w_b q*_{b/i} - q*_{i/k} w_k q_{i/k}   (46), rate = L
    w^i_{i/k} (47).
    """
    w_joint: dict[str, Array] = {}
    w_parent: dict[str, Array] = {}
    rates = []
    for B, P in f.bodies:
        w_parent[B] = ZERO8 if P is None else dq_to_child(f.X_ki[B], w[P])
        w_joint[B] = dq_to_parent(f.X_ib[B], w[B]) - w_parent[B]  # (46)
        rates.append(f.map[B].L @ w_joint[B])  # (47)
    return Motion(np.concatenate([*rates, wheel_speeds]), w, w_joint, w_parent)


def joint_bias(craft: Spacecraft, f: Frames, q: Array, m: Motion, B: str) -> Array:
    """(q*_{i/k} w_k q_{i/k}) x w^i_{i/k} + Hdot rate: the joint's acceleration that no unknown of (48) accounts for,
    (8,).
    """
    joint = craft.joint(B)
    if not joint.nv:
        return ZERO8
    R_iB, rate = f.map[B].R_Bi.T, joint.bias(q, m.v)
    return dq_cross(m.w_parent[B], m.w_joint[B]) + dual_twist(np.concatenate([R_iB @ rate[:3], R_iB @ rate[3:]]))
