"""Errors of attitude and pose: from where something is to where it should be, in its own axes. One sign, one sense,
everywhere.

With B where it is and D where it should be, an error e closes under `rate = +k e`, as (wanted - actual) does for a
joint.
"""

from __future__ import annotations

import numpy as np

from ..algebra import Array, Pose, cross, left_jacobian_inverse, quat_from_rotation, quat_log
from .references import PoseReference


def attitude_error(quat_NB: Array, quat_ND: Array) -> Array:
    """Rotation vector from B to D in B's axes (and in D's), the short way round, (..., 3); quaternions (..., 4) of any
    norm and sign.

    For quat_NB = quat_ND exp(-e/2): B turned by e about its own axes is D. d/dt e = w_D - w_B for small e, all in B.
    """
    a, b = (np.moveaxis(np.asarray(x), -1, 0) for x in (quat_NB, quat_ND))
    (s, u), (t, w) = (a[0], a[1:]), (b[0], b[1:])
    scalar = s * t + u[0] * w[0] + u[1] * w[1] + u[2] * w[2]  # of conj(a) b
    across = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]]
    vector = [s * w[k] - t * u[k] - across[k] for k in range(3)]
    return np.moveaxis(quat_log(np.array([scalar, *vector])), 0, -1)


def pose_error(X_NB: Pose, X_ND: Pose) -> Array:
    """[rotation vector; displacement] from B to D, in B's axes, (..., 6); poses of R (..., 3, 3) and p (..., 3)."""
    R, R_D = (np.moveaxis(np.asarray(X.R), (-2, -1), (0, 1)) for X in (X_NB, X_ND))
    R_BD = np.array([[sum(R[k, i] * R_D[k, j] for k in range(3)) for j in range(3)] for i in range(3)])
    away = np.moveaxis(np.asarray(X_ND.p) - np.asarray(X_NB.p), -1, 0)
    d = [sum(R[k, i] * away[k] for k in range(3)) for i in range(3)]
    return np.moveaxis(np.array([*quat_log(quat_from_rotation(R_BD)), *d]), 0, -1)


def pose_error_rate(e: Array, X_NB: Pose, V_NB_B: Array, wanted: PoseReference) -> Array:
    """d/dt of `pose_error`, exact at any error, (6,): with w and v of D, carried to B's axes,

    d/dt (rotation vector) = J_l(e)^-1 (w_D - w),    d/dt (displacement) = v_D - v - w x displacement
    """
    R_BN, w, v = X_NB.R.T, V_NB_B[:3], V_NB_B[3:]
    w_D, v_D = R_BN @ wanted.twist[:3], R_BN @ wanted.twist[3:]
    return np.concatenate([left_jacobian_inverse(e[:3]) @ (w_D - w), v_D - v - cross(w, e[3:])])
