"""How one frame moves in another: relative pose, twist, and the derivative of the twist, from the motion of the bodies.

For frames 1, 2 with origins r = p_2 - p_1 apart, all in N; V_12 = [w; v] in the axes of frame 1:

    w = R_1^T (w_2 - w_1),   v = R_1^T (v_2 - v_1 - w_1 x r)                                                         (1)
    wdot = R_1^T (alpha_2 - alpha_1 - w_1 x (w_2 - w_1))                                                             (2)
    vdot = R_1^T (a_2 - a_1 - alpha_1 x r - w_1 x (w_1 x r) - 2 w_1 x R_1 v)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..algebra import IDENTITY, Array, Pose, compose, cross, inverse
from ..model import Spacecraft

ZERO3 = np.zeros(3)


class Kinematics(NamedTuple):
    """Poses X_NB and twists V_NB (about Bo, in B) of all bodies."""

    X_NB: Mapping[str, Pose]
    V: Mapping[str, Array]


class FrameMotion(NamedTuple):
    """Of a frame F on `body` (None: it is fixed in N), in N."""

    body: str | None
    X_NF: Pose
    w: Array
    v: Array


def frame_motion(craft: Spacecraft, at: Kinematics, name: str) -> FrameMotion:
    """Of a named frame or body, or of "N"."""
    if name == "N":
        return FrameMotion(None, IDENTITY, ZERO3, ZERO3)
    body, X_BF = craft.locate(name)
    R, (w, v) = at.X_NB[body].R, (at.V[body][:3], at.V[body][3:])
    return FrameMotion(body, compose(at.X_NB[body], X_BF), R @ w, R @ (v + cross(w, X_BF.p)))


def frame_acceleration(at: Kinematics, frame: FrameMotion, A: Mapping[str, Array]) -> tuple[Array, Array]:
    """alpha and a of the frame's origin in N; A holds the derivatives of the numbers in V."""
    if frame.body is None:
        return ZERO3, ZERO3
    X, V, Vdot = at.X_NB[frame.body], at.V[frame.body], A[frame.body]
    r = frame.X_NF.p - X.p
    alpha, w = X.R @ Vdot[:3], frame.w
    return alpha, X.R @ (Vdot[3:] + cross(V[:3], V[3:])) + cross(alpha, r) + cross(w, cross(w, r))


def relative_pose(one: FrameMotion, two: FrameMotion) -> Pose:
    """X_12."""
    return compose(inverse(one.X_NF), two.X_NF)


def relative_twist(one: FrameMotion, two: FrameMotion) -> Array:
    """V_12 of (1), (6,)."""
    R_1N, r = one.X_NF.R.T, two.X_NF.p - one.X_NF.p
    return np.concatenate([R_1N @ (two.w - one.w), R_1N @ (two.v - one.v - cross(one.w, r))])


def relative_acceleration(
    one: FrameMotion, two: FrameMotion, of_one: tuple[Array, Array], of_two: tuple[Array, Array]
) -> Array:
    """d/dt V_12 of (2), (6,), from (alpha, a) of both frames."""
    R_1N, r, w = one.X_NF.R.T, two.X_NF.p - one.X_NF.p, one.w
    slide = two.v - one.v - cross(w, r)
    turning = of_two[0] - of_one[0] - cross(w, two.w - w)
    moving = of_two[1] - of_one[1] - cross(of_one[0], r) - cross(w, cross(w, r)) - 2.0 * cross(w, slide)
    return np.concatenate([R_1N @ turning, R_1N @ moving])


def load_columns(at: Kinematics, one: FrameMotion, two: FrameMotion, G: Array) -> dict[str, Array]:
    """Wrenches (6, r) about Bo in B that unit multipliers exert on the two bodies: G^T on frame 2, its opposite at the
    same point on 1.
    """
    torque, force = one.X_NF.R @ G[:, :3].T, one.X_NF.R @ G[:, 3:].T  # about the origin of frame 2, in N
    columns: dict[str, Array] = {}
    for frame, sign in ((two, 1.0), (one, -1.0)):
        if frame.body is None:
            continue
        X = at.X_NB[frame.body]
        arm = two.X_NF.p - X.p
        own = sign * np.concatenate([X.R.T @ (torque + cross(arm, force)), X.R.T @ force])
        columns[frame.body] = columns[frame.body] + own if frame.body in columns else own
    return columns
