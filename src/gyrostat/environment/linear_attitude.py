"""Small rotations of a rigid body about the Hill frame of a circular orbit, under the gravity gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array


def gravity_gradient_attitude(inertia: Any, n: float) -> Array:
    """A (6, 6) of d/dt (alpha, alphadot) = A (alpha, alphadot), with R_BH = 1 - alpha^ to first order; n: mean motion.

    inertia: principal moments (J1, J2, J3) about the axes near radial (x), along-track (y) and normal (z):

        a1'' =  n (1 + (J2 - J3)/J1) a2' +   n^2 (J2 - J3)/J1 a1
        a2'' = -n (1 + (J1 - J3)/J2) a1' + 4 n^2 (J1 - J3)/J2 a2
        a3'' =                           - 3 n^2 (J2 - J1)/J3 a3
    """
    J1, J2, J3 = _principal(inertia)
    s1, s2, s3 = (J2 - J3) / J1, (J1 - J3) / J2, (J2 - J1) / J3
    A = np.zeros((6, 6))
    A[:3, 3:] = np.eye(3)
    A[3, 4], A[3, 0] = n * (1.0 + s1), n * n * s1
    A[4, 3], A[4, 1] = -n * (1.0 + s2), 4.0 * n * n * s2
    A[5, 2] = -3.0 * n * n * s3
    return A


def libration_periods(inertia: Any, n: float) -> tuple[float, float]:
    """Periods in s of the libration in plane, and of the faster one out of plane (roll with the yaw it brings along).

    Raises a ValueError if the attitude is not stable. For a long body (J2 = J3) the modes are n sqrt(3 k) and n sqrt(1
    + 3 k) with k = (J3 - J1)/J2; the often quoted n sqrt(4 k) leaves out yaw.
    """
    A = gravity_gradient_attitude(inertia, n)
    pitch = -A[5, 2]
    modes = np.linalg.eigvals(A[np.ix_([0, 1, 3, 4], [0, 1, 3, 4])])
    if pitch <= 0 or modes.real.max() > 1e-7 * n:
        J1, J2, J3 = _principal(inertia)
        raise ValueError(
            f"moments of inertia ({J1:.6g}, {J2:.6g}, {J3:.6g}) kg m^2 about radial, along-track and normal axes are "
            "not stable under the gravity gradient. Stable if radial is the smallest and normal the largest."
        )
    return 2.0 * np.pi / float(np.sqrt(pitch)), 2.0 * np.pi / float(np.abs(modes.imag).max())


def _principal(inertia: Any) -> tuple[float, float, float]:
    J = np.asarray(inertia, dtype=float)
    if J.shape == (3, 3):
        if np.abs(J - np.diag(np.diag(J))).max() > 1e-9 * np.abs(J).max():
            raise ValueError(
                "inertia: expected principal moments, or a matrix that is diagonal in the Hill frame's axes."
            )
        J = np.diag(J)
    if J.shape != (3,) or not (J > 0).all():
        raise ValueError(f"inertia is {inertia!r}; expected three positive principal moments.")
    return float(J[0]), float(J[1]), float(J[2])
