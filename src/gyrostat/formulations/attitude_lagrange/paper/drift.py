"""Drift of constraints in maximal coordinates, held back by Baumgarte's terms or taken out by projection.

    Baumgarte:   gamma + 2 z w (Pi nu + beta) + w^2 Psi in place of gamma; Psi is zero in nonholonomic rows          (1)
    velocities:  nu - M^-1 Pi^T (Pi M^-1 Pi^T)^+ (Pi nu + beta)                                                      (2)
    poses:       d = -M^-1 Pi^T (Pi M^-1 Pi^T)^+ Psi;  r + d_v,  exp(-d_w^) C;  repeated                             (3)

(2) and (3) are corrections by impulses in the constraints: the nearest state in the metric of the kinetic energy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....algebra import Array, exp_so3, mirror, solve_spd
from ....algebra.semidefinite import least_norm_solution


class BodyPose(NamedTuple):
    """Position r in N and C = C_BN of one body."""

    r: Array
    C: Array


def stabilised(gamma: Array, rate: Array, psi: Array, frequency: Any, damping: Any = 1.0) -> Array:
    """gamma of (1); rate = Pi nu + beta, psi zero in rows that are not holonomic."""
    return gamma + 2.0 * damping * frequency * rate + frequency * frequency * psi


def project_velocities(M: Array, nu: Array, Pi: Array, beta: Any = 0.0) -> Array:
    """nu with Pi nu + beta = 0, by (2)."""
    return nu + _correction(M, Pi, Pi @ nu + beta)


def project_poses(
    poses: Sequence[BodyPose],
    system: Callable[[Sequence[BodyPose]], tuple[Array, Array, Array]],
    *,
    tolerance: float = 1e-13,
    iterations: int = 30,
) -> list[BodyPose]:
    """Poses with Psi = 0, by (3). system(poses) -> M (6N, 6N), Pi (r, 6N), Psi (r,)."""
    poses = list(poses)
    psi = np.array([np.inf])
    for _ in range(iterations):
        M, Pi, psi = system(poses)
        if np.abs(psi).max(initial=0.0) <= tolerance:
            return poses
        d = _correction(M, Pi, psi)
        poses = [
            BodyPose(r + d[6 * i : 6 * i + 3], exp_so3(-d[6 * i + 3 : 6 * i + 6]) @ C) for i, (r, C) in enumerate(poses)
        ]
    raise ValueError(
        f"after {iterations} corrections the constraints are still open by {np.abs(psi).max():.3g}. Start nearer, or "
        "check that they can be closed."
    )


def _correction(M: Array, Pi: Array, error: Array) -> Array:
    """-M^-1 Pi^T (Pi M^-1 Pi^T)^+ error."""
    through = solve_spd(M, Pi.T)
    return -(through @ least_norm_solution(mirror(Pi @ through), error))
