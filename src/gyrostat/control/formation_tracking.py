"""Six-degree-of-freedom tracking by passivity: the law that the skew Coriolis matrix is for (Slotine & Li, on SE(3)).

    e = (attitude error; position error),  s = v - v_r,  v_r = (desired rates) - Lambda e                      (1)
    tau = M (vdot_r - k s) + C(q, v) v_r - (what the environment does)                                        (2)

With Mdot - 2C skew, d/dt (1/2 s^T M s) = -k s^T M s: s dies out as exp(-k t), base and joints apart, and then e at the rate of
Lambda. With another C it need not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..algebra import (
    Array,
    Pose,
    compose,
    cross,
    cross_motion,
    inverse,
    quat_from_rotation,
    rotation,
    twist_to_child,
    where,
)
from ..environment import Environment
from ..formulations import spatial_forms
from ..kinematics import body_twists, inertial_poses, joint_poses
from ..model import Spacecraft
from .formation_reference import Target


class PoseError(NamedTuple):
    """Of a body B from its target D, in B: e = (twice the vector part of quat_DB; position), and its rate."""

    e: Array  # (6,)
    edot: Array  # (6,)
    Theta: Array  # (6,) twist relative to the target
    carried: Array  # (6,) Ad_BD V_D
    carried_rate: Array  # (6,) its derivative


def pose_error(X_NB: Pose, V: Array, target: Target) -> PoseError:
    """Position and attitude error, the short way round, with their rates."""
    X_DB = compose(inverse(target.X_ND), X_NB)
    carried = twist_to_child(X_DB, target.V)
    Theta = V - carried
    w, v = Theta[:3], Theta[3:]
    quat = quat_from_rotation(X_DB.R)
    short = where(quat[0] < 0.0, -1.0, 1.0)
    eta, eps = short * quat[0], short * quat[1:]
    p_B = X_DB.R.T @ X_DB.p
    e = np.concatenate([2.0 * eps, p_B])
    edot = np.concatenate([eta * w + cross(eps, w), v - cross(w, p_B)])
    rate = twist_to_child(X_DB, target.Vdot) - cross_motion(Theta, carried)
    return PoseError(e, edot, Theta, carried, rate)


def tracking_law(
    target: Callable[..., Target],
    *,
    bandwidth: float = 0.1,
    damping: float | None = None,
    joints: Any = None,
    environment: Environment | None = None,
    choice: str = "skew",
) -> Callable[..., Array]:
    """A control law (craft, t, q, v) -> tau that brings the base to target(craft, t) and the joints to `joints` (1), (2).

    bandwidth: Lambda in 1/s. damping: k in 1/s; twice the bandwidth by default.
    environment: what it knows of gravity and the like, and takes away. joints: coordinates to hold, of joints with one each.
    choice: of the Coriolis matrix (`spatial_forms.coriolis_matrix`).
    """

    def law(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        reference, s = reference_motion(craft, q, v, target(craft, t), bandwidth, joints)
        M = spatial_forms.mass_matrix(craft, q)
        C = spatial_forms.coriolis_matrix(craft, q, v, choice=choice)
        k = 2.0 * bandwidth if damping is None else damping
        tau = M @ (reference.vdot - k * s) + C @ reference.v  # (2)
        if environment is not None:
            tau = tau - generalised_force(craft, q, craft.wrenches(environment.wrenches(craft, t, q, v)))
        return tau

    return law


class Reference(NamedTuple):
    v: Array  # (nv,) v_r
    vdot: Array  # (nv,)


def reference_motion(
    craft: Spacecraft, q: Array, v: Array, target: Target, bandwidth: float, joints: Any = None
) -> tuple[Reference, Array]:
    """v_r with its derivative, and s = v - v_r                                                                (1)"""
    error = pose_error(Pose(rotation(q[:4]), q[4:7]), v[:6], target)
    v_r = [error.carried - bandwidth * error.e]
    vdot_r = [error.carried_rate - bandwidth * error.edot]
    wanted = _joint_targets(craft, joints)
    for joint, goal in zip(craft.joints[1:], wanted, strict=True):
        rate = joint.rate(v)
        if goal is None:  # wheels: left alone, at the speed they have
            v_r.append(rate)
            vdot_r.append(np.zeros(joint.nv))
        else:
            v_r.append(-bandwidth * (q[joint.q_at] - goal))
            vdot_r.append(-bandwidth * rate)
    reference = Reference(np.concatenate(v_r), np.concatenate(vdot_r))
    return reference, v - reference.v


def _joint_targets(craft: Spacecraft, joints: Any) -> list[Any]:
    """The coordinates that each joint shall hold; None for wheels."""
    total = craft.nq - 7
    wanted = np.zeros(total) if joints is None else np.asarray(joints, dtype=float)
    if wanted.shape != (total,):
        raise ValueError(
            f"joints has shape {wanted.shape}; expected ({total},): a coordinate for each joint of {craft.name}."
        )
    found: list[Any] = []
    for joint in craft.joints[1:]:
        if joint.nq == 0:
            found.append(None)
        elif joint.nq == joint.nv:
            found.append(wanted[joint.q_at.start - 7 : joint.q_at.stop - 7])
        else:
            raise ValueError(
                f"joint '{joint.name}' of {craft.name} is {joint.kind}; the tracking law holds simple joints only."
            )
    return found


def generalised_force(craft: Spacecraft, q: Array, wrenches: Array) -> Array:
    """sum_i J_i^T F_i (nv,) of wrenches on the bodies."""
    total: Array = np.zeros(craft.nv, dtype=object)
    jacobians = spatial_forms.body_jacobians(craft, q, np.zeros(craft.nv))
    for body, wrench in zip(craft.bodies, wrenches, strict=True):
        at = list(jacobians[body.name].at)
        total[at] = total[at] + jacobians[body.name].J.T @ wrench
    return np.array(list(total))


def target_of_member(craft: Spacecraft, q: Array, v: Array, vdot: Any = None) -> Target:
    """A leader's base as a target; vdot (6,): its acceleration, zero if not known."""
    X_NB = inertial_poses(craft, q)[craft.base]
    V = body_twists(craft, q, v, joint_poses(craft, q))[craft.base]
    return Target(X_NB, V, np.zeros(6) if vdot is None else np.asarray(vdot))
