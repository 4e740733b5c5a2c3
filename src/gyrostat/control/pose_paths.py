"""References of a frame: lines, arcs and screws, with their twists and accelerations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import Array, Pose, compose, cross, exp_se3, exp_so3, inverse, log_se3, log_so3, rotation_about
from .references import PosePath, PoseReference
from .timing import Timing


def line(X: Pose, to: Any, timing: Callable[[Any], Timing], *, R: Array | None = None) -> PosePath:
    """The origin moves straight to `to` (in N), while the frame turns evenly about one axis to R (default: it does not
    turn).
    """
    start, step = np.asarray(X.p), np.asarray(to, dtype=float) - np.asarray(X.p)
    turn_N = np.zeros(3) if R is None else log_so3(R @ X.R.T)

    def reference(t: Any) -> PoseReference:
        s = timing(t)
        R_t = X.R if R is None else exp_so3(s.s * turn_N) @ X.R
        return PoseReference(Pose(R_t, start + step * s.s), *(np.concatenate([turn_N, step]) * x for x in s[1:]))

    return reference


def arc(
    X: Pose, center: Any, axis: Any, angle: float, timing: Callable[[Any], Timing], *, turn: bool = False
) -> PosePath:
    """The origin moves by `angle` on a circle about `axis` through `center` (in N); with `turn` the frame turns."""
    c, a = np.asarray(center, dtype=float), np.asarray(axis, dtype=float)
    a = a / np.sqrt(a @ a)
    r0 = np.asarray(X.p) - c

    def reference(t: Any) -> PoseReference:
        s = timing(t)
        about = rotation_about(a, angle * s.s)
        r = about @ r0
        w, wdot = angle * s.rate * a, angle * s.acceleration * a
        v = cross(w, r)
        own_w, own_wdot = (w, wdot) if turn else (np.zeros(3), np.zeros(3))
        return PoseReference(
            Pose(about @ X.R if turn else X.R, c + r),
            np.concatenate([own_w, v]),
            np.concatenate([own_wdot, cross(wdot, r) + cross(w, v)]),
        )

    return reference


def screw_path(X: Pose, to: Pose, timing: Callable[[Any], Timing]) -> PosePath:
    """A screw motion from one pose to the other, the short way round: X exp(s log(X^-1 to)), ScLERP.

    Its body twist xi is constant along s: V_B = s' xi, and in N: w = R w_B, v = R v_B, v' = R (v_B' + w_B x v_B).
    """
    xi = log_se3(compose(inverse(X), to))

    def reference(t: Any) -> PoseReference:
        s = timing(t)
        now = compose(X, exp_se3(s.s * xi))
        V, Vdot = s.rate * xi, s.acceleration * xi
        twist = np.concatenate([now.R @ V[:3], now.R @ V[3:]])
        rate = np.concatenate([now.R @ Vdot[:3], now.R @ (Vdot[3:] + cross(V[:3], V[3:]))])
        return PoseReference(now, twist, rate)

    return reference
