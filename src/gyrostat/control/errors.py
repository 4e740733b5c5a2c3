"""Errors of attitude and pose: from where something is to where it should be, in its own axes. One sign, one sense, everywhere.

With B where it is and D where it should be, an error e closes under `rate = +k e`, as (wanted - actual) does for a joint.
"""

from __future__ import annotations

import numpy as np

from ..algebra import Array, quat_log


def attitude_error(quat_NB: Array, quat_ND: Array) -> Array:
    """Rotation vector from B to D in B's axes (and in D's), the short way round, (..., 3); quaternions (..., 4) of any norm and sign.

    For quat_NB = quat_ND exp(-e/2): B turned by e about its own axes is D. d/dt e = w_D - w_B for small e, all in B.
    """
    a, b = (np.moveaxis(np.asarray(x), -1, 0) for x in (quat_NB, quat_ND))
    (s, u), (t, w) = (a[0], a[1:]), (b[0], b[1:])
    scalar = s * t + u[0] * w[0] + u[1] * w[1] + u[2] * w[2]  # of conj(a) b
    across = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]]
    vector = [s * w[k] - t * u[k] - across[k] for k in range(3)]
    return np.moveaxis(quat_log(np.array([scalar, *vector])), 0, -1)
