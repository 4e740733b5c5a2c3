"""Camera and lidar: where another frame is, within a field of view and past the craft's own bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import (
    Array,
    atan2,
    compose,
    inverse,
    norm,
    quat_exp,
    quat_from_rotation,
    quat_multiply,
    transform_point,
    where,
)
from ..kinematics import frame_pose, neutral
from ..kinematics.line_of_sight import clear_view
from ..model import Spacecraft
from .imperfection import PERFECT, Imperfection
from .sensor import AbstractSensor


class _Looking(AbstractSensor):
    """It sees `target` within field_of_view (half angle, rad) of the z axis of `frame`, between nearest and farthest
    (m), where no shape of the bodies named `hidden_by` is in between.
    """

    frame: str
    target: str
    field_of_view: float
    nearest: float
    farthest: float
    hidden_by: Sequence[str]

    def __post_init__(self) -> None:
        if not 0.0 < self.field_of_view <= np.pi or not 0.0 <= self.nearest < self.farthest:
            raise ValueError(
                f"sensor '{self.name}': field_of_view {self.field_of_view} rad, from {self.nearest} to {self.farthest} "
                "m; expected a half angle above 0 and at most pi, and distances that grow."
            )

    def sees(self, craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        F, T = frame_pose(craft, q, self.frame), frame_pose(craft, q, self.target)
        towards = T.p - F.p
        distance = norm(towards)
        clear = where(F.R[:, 2] @ towards >= np.cos(self.field_of_view) * distance, 1.0, 0.0)
        clear = clear * where(distance >= self.nearest, 1.0, 0.0)
        if np.isfinite(self.farthest):
            clear = clear * where(distance <= self.farthest, 1.0, 0.0)
        return clear * clear_view(craft, q, F.p, T.p, self.hidden_by)

    def check(self, craft: Spacecraft) -> None:
        """Raise where no motion can bring the target into view: both frames are on one body."""
        bodies = {craft.locate(name)[0] for name in (self.frame, self.target)}
        if len(bodies) == 1 and not self.sees(craft, 0.0, neutral(craft), np.zeros(craft.nv)):
            raise ValueError(
                f"sensor '{self.name}': '{self.target}' is on the same body as '{self.frame}' and never in its field "
                "of view. Turn the sensor, or look at something that moves."
            )


@dataclass(frozen=True, eq=False)
class PoseCamera(_Looking):
    """Pose of `target` in the axes of `frame`: quat_FT (4,) and p_FT (3,), m. Errors are six: a rotation in the
    target's axes (rad), and a shift in those of the frame (m).
    """

    frame: str
    target: str
    field_of_view: float = np.pi
    nearest: float = 0.0
    farthest: float = np.inf
    hidden_by: Sequence[str] = ()
    imperfection: Imperfection = PERFECT
    name: str = "camera"

    def truth(self, craft: Spacecraft, t: Any, q: Array, v: Array, *before: Any) -> Array:
        return np.zeros(6)

    def value(self, craft: Spacecraft, t: Any, q: Array, v: Array, read: Array) -> Array:
        X = compose(inverse(frame_pose(craft, q, self.frame)), frame_pose(craft, q, self.target))
        return np.concatenate([quat_multiply(quat_from_rotation(X.R), quat_exp(read[:3])), X.p + read[3:]])


@dataclass(frozen=True, eq=False)
class Lidar(_Looking):
    """Range (m), azimuth and elevation (rad) of `target` from `frame`, (3,): along its z axis both angles are 0,
    azimuth grows towards x, elevation towards y.
    """

    frame: str
    target: str
    field_of_view: float = np.pi / 4
    nearest: float = 0.0
    farthest: float = np.inf
    hidden_by: Sequence[str] = ()
    imperfection: Imperfection = PERFECT
    name: str = "lidar"

    def truth(self, craft: Spacecraft, t: Any, q: Array, v: Array, *before: Any) -> Array:
        X = inverse(frame_pose(craft, q, self.frame))
        x, y, z = transform_point(X, frame_pose(craft, q, self.target).p)
        level = norm(np.array([x, z]))
        return np.array([norm(np.array([x, y, z])), atan2(x, z), atan2(y, level)])
