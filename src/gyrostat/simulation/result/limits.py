"""Joints beyond their limits of position and rate, which nothing holds by itself: which, when, and how far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...model import Joint

if TYPE_CHECKING:
    from .trajectory import Trajectory

SLIGHT = 1e-9  # of the limit: no more than round-off


class Excess(NamedTuple):
    """One joint that went beyond a limit, at the saved times."""

    joint: str
    what: str  # "position" or "rate"
    first: float  # s
    fraction: float  # of the saved times (of all runs)
    worst: float
    limit: float
    unit: str

    def __str__(self) -> str:
        return (
            f"limits: '{self.joint}' is beyond its {self.what} limit from {self.first:.4g} s, at "
            f"{100 * self.fraction:.1f} % of the saved times: {self.worst:.4g} {self.unit}, limit {self.limit:.4g}"
        )


def slight(limit: float) -> float:
    """Beyond the limit by no more than this is at it."""
    return SLIGHT * max(1.0, abs(limit))


def position_limited(joint: Joint) -> bool:
    """True if its one coordinate has an end."""
    return joint.nq == joint.nv == 1 and bool(np.isfinite([joint.limits.lower, joint.limits.upper]).any())


def rate_limited(joint: Joint) -> bool:
    return joint.nv > 0 and bool(np.isfinite(joint.limits.velocity))


def excesses(trajectory: Trajectory) -> tuple[Excess, ...]:
    """Every joint that went beyond its limits of position or rate."""
    found = []
    for joint in trajectory.craft.joints:
        limits = joint.limits
        if position_limited(joint):
            q = trajectory.q[..., joint.q_at]
            for beyond, limit in ((limits.lower - q, limits.lower), (q - limits.upper, limits.upper)):
                if np.isfinite(limit):
                    found += _excess(trajectory, joint, "position", beyond, q, limit, joint.motion.q_units[0])
        if rate_limited(joint):
            v = trajectory.v[..., joint.v_at]
            found += _excess(
                trajectory, joint, "rate", np.abs(v) - limits.velocity, v, limits.velocity, joint.motion.v_units[0]
            )
    return tuple(found)


def _excess(
    trajectory: Trajectory, joint: Joint, what: str, beyond: Array, values: Array, limit: float, unit: Any
) -> list[Excess]:
    over = (beyond > slight(limit)).any(axis=-1)
    if not over.any():
        return []
    first = float(np.broadcast_to(trajectory.time, over.shape)[over].min())
    worst = float(values.ravel()[np.nanargmax(beyond)])
    return [Excess(joint.name, what, first, float(over.mean()), worst, limit, str(unit))]
