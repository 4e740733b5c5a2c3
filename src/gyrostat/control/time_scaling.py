"""How long a path must take to respect limits, and the same path at another speed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .references import JointPath, PoseReference
from .timing import MinimumJerk


def shortest_duration(
    distance: Any, *, rate: Any = float("inf"), acceleration: Any = float("inf"), timing: Any = MinimumJerk
) -> float:
    """Seconds in which paths of these lengths (one per joint) stay within the largest rates and accelerations.

    Exact for the timing's peaks: T = max(|d| peak_rate / rate, sqrt(|d| peak_acceleration / acceleration)).
    """
    d = np.abs(np.asarray(distance, dtype=float))
    by_rate = d * timing.PEAK_RATE / np.asarray(rate, dtype=float)
    by_acceleration = np.sqrt(d * timing.PEAK_ACCELERATION / np.asarray(acceleration, dtype=float))
    return float(np.maximum(by_rate, by_acceleration).max())


def slowed(path: Callable[[Any], Any], factor: float) -> Callable[[Any], Any]:
    """The same path at `factor` of its speed: rates times factor, accelerations times its square. t = 0 stays."""

    def reference(t: Any) -> Any:
        at = path(factor * t)
        if isinstance(at, PoseReference):
            return PoseReference(at.X, factor * at.twist, factor * factor * at.rate)
        return type(at)(at[0], factor * at[1], factor * factor * at[2])

    return reference


def scale_to_limits(path: JointPath, duration: float, *, rate: Any, acceleration: Any, samples: int = 2001) -> float:
    """The factor for `slowed` that keeps a joint path within its limits; more than one where there is room.

    rates scale with the factor, accelerations with its square: factor = min(rate / peak rate, sqrt(acceleration / peak
    acceleration)).
    """
    references = [path(t) for t in np.linspace(0.0, duration, samples)]
    peak_rate = np.abs([r.qdot for r in references]).max(axis=0)
    peak_acceleration = np.abs([r.qddot for r in references]).max(axis=0)
    with np.errstate(divide="ignore"):
        factors = np.concatenate(
            [
                np.atleast_1d(np.asarray(rate) / peak_rate),
                np.atleast_1d(np.sqrt(np.asarray(acceleration) / peak_acceleration)),
            ]
        )
    return float(factors.min())
