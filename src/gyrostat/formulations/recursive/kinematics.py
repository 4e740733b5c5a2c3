"""Poses, twists and Jacobians, base to tip; configurations as points of a manifold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, Pose, compose, cross, cross_motion, transform_point, twist_to_child
from ...model import Spacecraft
from ..arguments import configuration, rates, vector3

ZERO6 = np.zeros(6)


class Poses(NamedTuple):
    """Of all bodies, in the order of `craft.bodies`."""

    R_NB: Array  # (nbodies, 3, 3)
    p_NB: Array  # (nbodies, 3)


def neutral(craft: Spacecraft) -> Array:
    """Configuration with all joint coordinates zero and the base at the inertial frame, (nq,)."""
    return np.concatenate([joint.motion.neutral() for joint in craft.joints])


def forward_kinematics(craft: Spacecraft, q: Array) -> Poses:
    """Poses X_NB of all bodies."""
    X = inertial_poses(craft, configuration(craft, q))
    return Poses(np.array([X[B].R for B, _ in craft.base_to_tip]), np.array([X[B].p for B, _ in craft.base_to_tip]))


def frame_pose(craft: Spacecraft, q: Array, frame: str) -> Pose:
    """Pose (R_NF, p_NF) of a named frame or body."""
    body, X_BF = craft.locate(frame)
    return compose(inertial_poses(craft, configuration(craft, q))[body], X_BF)


def joint_poses(craft: Spacecraft, q: Array) -> dict[str, Pose]:
    """X_PB of each body on its parent."""
    return {B: craft.joint(B).pose(q) for B, _ in craft.base_to_tip}


def inertial_poses(craft: Spacecraft, q: Array) -> dict[str, Pose]:
    """X_NB of each body."""
    X_NB: dict[str, Pose] = {}
    for B, P in craft.base_to_tip:
        X_PB = craft.joint(B).pose(q)
        X_NB[B] = X_PB if P is None else compose(X_NB[P], X_PB)
    return X_NB


def body_twists(craft: Spacecraft, q: Array, v: Array, X_PB: dict[str, Pose]) -> dict[str, Array]:
    """V_NB = Ad_BP V_NP + H v_B of each body, about Bo in B."""
    V: dict[str, Array] = {}
    for B, P in craft.base_to_tip:
        joint = craft.joint(B)
        V[B] = joint.H(q) @ joint.rate(v) if joint.nv else ZERO6
        if P is not None:
            V[B] = twist_to_child(X_PB[B], V[P]) + V[B]
    return V


def configuration_rate(craft: Spacecraft, q: Array, v: Array) -> Array:
    """d/dt q at velocity v, (nq,)."""
    q, v = configuration(craft, q), rates(craft, v)
    return np.concatenate([j.motion.qdot(q[j.q_at], v[j.v_at]) for j in craft.joints])


def step_configuration(craft: Spacecraft, q: Array, dv: Array) -> Array:
    """Where the craft is after one second at constant velocity dv: q + dv on the manifold, (nq,)."""
    q, dv = configuration(craft, q), rates(craft, dv, "dv")
    return np.concatenate([j.motion.step(q[j.q_at], dv[j.v_at]) for j in craft.joints])


def configuration_difference(craft: Spacecraft, q0: Array, q1: Array) -> Array:
    """dv with `step_configuration(craft, q0, dv) = q1`, shortest way round; zero for wheels, (nv,)."""
    q0, q1 = configuration(craft, q0, "q0"), configuration(craft, q1, "q1")
    return np.concatenate([j.motion.difference(q0[j.q_at], q1[j.q_at]) for j in craft.joints])


def jacobian(craft: Spacecraft, q: Array, body: str, point: Any = (0.0, 0.0, 0.0)) -> Array:
    """J (6, nv) with `[w; velocity of the point] = J v`, in N. `body` names a body or frame, `point` is given in its axes.

    Column of joint A on the way to the body: `[R_NA H_w; R_NA H_v + R_NA H_w x (p_Q - p_A)]`.
    """
    q = configuration(craft, q)
    X_NB = inertial_poses(craft, q)
    B, p_NQ = _point(craft, X_NB, body, point)
    columns = _zero_columns(craft)
    for A in path_from_base(craft, B):
        joint = craft.joint(A)
        if joint.nv:
            H, R, r = joint.H(q), X_NB[A].R, p_NQ - X_NB[A].p
            w = R @ H[:3]
            columns[A] = np.concatenate([w, R @ H[3:] - cross(r, w)])
    return np.hstack([columns[A] for A, _ in craft.base_to_tip])


def jacobian_rate(craft: Spacecraft, q: Array, v: Array, body: str, point: Any = (0.0, 0.0, 0.0)) -> Array:
    """dJ/dt (6, nv) of `jacobian`, at velocity v.

    With h the joint's column as a twist about the moving joint origin, in N: its rate is R_NA (Hdot + w_NA x H) and the arm
    from joint to point changes at their relative velocity. On a wheel, whose frame does not spin, the point spins with it: J vdot +
    Jdot v is the acceleration of the material point.
    """
    q, v = configuration(craft, q), rates(craft, v)
    X_NB = inertial_poses(craft, q)
    V = body_twists(craft, q, v, joint_poses(craft, q))
    B, p_NQ = _point(craft, X_NB, body, point)
    R_NB = X_NB[B].R
    v_Q = R_NB @ V[B][3:] + cross(R_NB @ V[B][:3], p_NQ - X_NB[B].p)
    columns = _zero_columns(craft)
    for A in path_from_base(craft, B):
        joint = craft.joint(A)
        if joint.nv:
            R, r = X_NB[A].R, p_NQ - X_NB[A].p
            rdot = v_Q - R @ V[A][3:]
            H = joint.H(q)
            Hdot = joint.map_rate(q, v) + np.concatenate([cross(V[A][:3], H[:3]), cross(V[A][:3], H[3:])])
            w, wdot = R @ H[:3], R @ Hdot[:3]
            columns[A] = np.concatenate([wdot, R @ Hdot[3:] - cross(r, wdot) - cross(rdot, w)])
    return np.hstack([columns[A] for A, _ in craft.base_to_tip])


def path_from_base(craft: Spacecraft, body: str) -> list[str]:
    """The bodies from the base to `body`, both included."""
    path: list[str] = []
    at: str | None = body
    while at is not None:
        path.append(at)
        at = craft.body(at).parent
    return path[::-1]


def _point(craft: Spacecraft, X_NB: dict[str, Pose], name: str, point: Any) -> tuple[str, Array]:
    body, X_BF = craft.locate(name)
    p_BQ = transform_point(X_BF, vector3(point, "point"))
    return body, transform_point(X_NB[body], p_BQ)


def _zero_columns(craft: Spacecraft) -> dict[str, Array]:
    return {A: np.zeros((6, craft.joint(A).nv)) for A, _ in craft.base_to_tip}


def joint_acceleration_bias(craft: Spacecraft, body: str, q: Array, v: Array, V_NB: Array) -> Array:
    """Hdot v + V_NB x (H v): what the joint adds to its body's acceleration besides H vdot, (6,)."""
    joint = craft.joint(body)
    if not joint.nv:
        return ZERO6
    return joint.bias(q, v) + cross_motion(V_NB, joint.H(q) @ joint.rate(v))


def body_accelerations(
    craft: Spacecraft, q: Array, v: Array, vdot: Array, X_PB: Mapping[str, Pose], V: Mapping[str, Array]
) -> dict[str, Array]:
    """A_NB = d/dt V_NB of each body, about Bo in B; V its twists."""
    A: dict[str, Array] = {}
    for B, P in craft.base_to_tip:
        joint = craft.joint(B)
        A[B] = joint.H(q) @ joint.rate(vdot) if joint.nv else ZERO6
        if P is not None:
            A[B] = twist_to_child(X_PB[B], A[P]) + A[B]
        A[B] = A[B] + joint_acceleration_bias(craft, B, q, v, V[B])
    return A
