"""A tumbling target seen by a camera: its pose, motion and ratios of inertia, by an extended or unscented filter."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array, compose, cross, inverse, quat_from_rotation, quat_multiply, rotation, solve_spd
from ..algebra.se3 import Pose
from ..kinematics import frame_pose
from ..model import Spacecraft
from .estimator import QUATERNION, Space
from .kalman import KalmanFilter, Measurement
from .relative_sensors import PoseCamera

SPACE = Space(QUATERNION, 3, 3, 3, 5)


def inertia_ratios(inertia: Any) -> Array:
    """(Iyy, Izz, Ixy, Ixz, Iyz) / Ixx, (5,): what a body that nothing acts on shows of its inertia."""
    I = np.asarray(inertia)
    return np.array([I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]) / I[0, 0]


def inertia_of_ratios(ratios: Array) -> Array:
    """Inertia over Ixx, (3, 3)."""
    yy, zz, xy, xz, yz = ratios
    return np.array([[1.0, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def tumbling(t: Any, x: Array) -> Array:
    """xdot of x = (quat_NT, w_NT_T, p_NT, v_NT_N, ratios), (18,), of a body on which nothing acts:

    quat' = 1/2 quat (0, w),  J w' = -w x J w,  p' = v,  v' = 0
    """
    quat, w, v = x[:4], x[4:7], x[10:13]
    J = inertia_of_ratios(x[13:])
    wdot = -solve_spd(J, cross(w, J @ w))
    turning = 0.5 * quat_multiply(quat, np.concatenate([[0.0], w]))
    return np.concatenate([turning, wdot, v, np.zeros(3), np.zeros(5)])


def tumbling_target(
    camera: PoseCamera, x0: Any, sigma: Any, *, target: str, unscented: bool = False, steps: int = 1, noise: Any = 0.0
) -> KalmanFilter:
    """The filter of x = (quat_NT, w_NT_T, p_NT, v_NT_N, ratios), (18,), from poses that the camera tells, by the noise
    that it has; laws see the estimate in place of the state of `target`, a body that floats freely, with its centre of
    mass at its origin. The camera's own pose is taken from what the other sensors show.

    sigma: how well x0 is known: of its differences, (17,), rad, rad/s, m, m/s and ratios. Aghili and Parsa (2009).

    Raises ValueError for a camera without noise, by which readings are weighed.
    """
    if not np.all(np.asarray(camera.imperfection.noise) > 0):
        raise ValueError(
            f"tumbling target: the camera's noise is {camera.imperfection.noise}; the filter weighs its readings by "
            "it. Give one or six numbers above zero."
        )

    def h(craft: Spacecraft, t: Any, q: Array, v: Array, x: Array) -> Array:
        X_TM = Pose(np.eye(3), np.zeros(3)) if camera.target == target else craft.locate(camera.target)[1]
        X_NM = compose(Pose(rotation(x[:4]), x[7:10]), X_TM)
        X_NF = frame_pose(craft, q, camera.frame)
        X = compose(inverse(X_NF), X_NM)
        quat_NM = quat_multiply(x[:4], quat_from_rotation(X_TM.R))
        return np.concatenate([quat_multiply(quat_from_rotation(X_NF.R.T), quat_NM), X.p])

    def shows(craft: Spacecraft, q: Array, v: Array, x: Array) -> tuple[Array, Array]:
        joint = floating(craft, target)
        seen_q, seen_v = list(q), list(v)
        seen_q[joint.q_at] = [*x[:4], *x[7:10]]
        seen_v[joint.v_at] = [*x[4:7], *(rotation(x[:4]).T @ x[10:13])]
        return np.array(seen_q), np.array(seen_v)

    told = Measurement(h, camera.imperfection.noise, Space(QUATERNION, 3))
    P0 = np.asarray(sigma, dtype=float) ** 2
    return KalmanFilter(tumbling, {camera.name: told}, x0, P0, SPACE, noise, steps, unscented, shows, _truth(target))


def _truth(target: str) -> Any:
    return lambda craft, q, v: true_state(craft, q, v, target)


def floating(craft: Spacecraft, target: str) -> Any:
    """The joint of a body that floats by itself, with its centre of mass at its origin."""
    body = craft.body(target)
    if body.name not in {root.name for root in craft.roots} or not body.joint.motion.unbound:
        raise ValueError(f"tumbling target: '{target}' of {craft.name} does not float by itself; expected a free base.")
    if np.any(np.asarray(body.com) != 0) or np.any(np.asarray(body.joint.rotation) != np.eye(3)):
        raise ValueError(
            f"tumbling target: '{target}' has its centre of mass at {np.asarray(body.com)}; expected it at its origin. "
            "Move the body's frame there, and let the camera look at a frame on it."
        )
    return body.joint


def true_state(craft: Spacecraft, q: Any, v: Any, target: str) -> Array:
    """x of a run's states, (..., 18), for comparison."""
    joint = floating(craft, target)
    q, v = np.asarray(q)[..., joint.q_at], np.asarray(v)[..., joint.v_at]
    ratios = inertia_ratios(craft.body(target).inertia)
    R = np.array([rotation(row[:4]) for row in q.reshape(-1, 7)]).reshape(*q.shape[:-1], 3, 3)
    v_N = np.einsum("...ij,...j->...i", R, v[..., 3:])
    return np.concatenate(
        [q[..., :4], v[..., :3], q[..., 4:], v_N, np.broadcast_to(ratios, (*q.shape[:-1], 5))], axis=-1
    )
