"""Constraints by the names that users know: `first` and `second` name frames or bodies of the spacecraft, "N" is inertial space.

Axes are given in the axes of `first` unless said otherwise. `pose` is where `second` stands in `first`; by default the frames coincide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..algebra import IDENTITY, Array, Pose, atan2, frame_along
from .kinds import (
    AbstractConstraint,
    Aligned,
    Coincidence,
    Combined,
    Distance,
    Driven,
    Holonomic,
    KnifeEdge,
    Perpendicular,
    Rolling,
)

Z = (0.0, 0.0, 1.0)


def point(first: str, second: str, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """The origins coincide: a ball joint, three rows."""
    return Coincidence(first=first, second=second, offset=pose, name=name)


spherical = point


def perpendicular(first: str, second: str, t: Any, a: Any, *, name: str = "") -> AbstractConstraint:
    """The axis t of `first` and the axis a of `second` stay at right angles: one row."""
    return Perpendicular(first=first, second=second, t=_unit(t)[None], a=_unit(a)[None], name=name)


def parallel(first: str, second: str, axis: Any = Z, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """The same axis of both frames stays parallel: two rows."""
    x, y, z = frame_along(_unit(axis)).T
    both = {"t": np.array([x, y]), "a": np.array([z, z])}
    return Perpendicular(first=first, second=second, offset=pose, name=name, **both)


def aligned(first: str, second: str, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """No relative rotation: three rows."""
    return Aligned(first=first, second=second, offset=pose, name=name)


def plane(first: str, second: str, normal: Any = Z, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """The origin of `second` stays in the plane through that of `first`: one row."""
    return Coincidence(first=first, second=second, offset=pose, name=name, along=_unit(normal)[None])


def line(first: str, second: str, axis: Any = Z, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """The origin of `second` stays on the line through that of `first`: two rows."""
    return Coincidence(first=first, second=second, offset=pose, name=name, along=frame_along(_unit(axis)).T[:2])


def weld(first: str, second: str, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """No relative motion: six rows."""
    return _joined("weld", first, second, pose, name, aligned, point)


def revolute(first: str, second: str, axis: Any = Z, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """A hinge about the common axis: coincidence and two perpendicularities, five rows."""
    return _joined("revolute", first, second, pose, name, _about(parallel, axis), point)


def cylindrical(first: str, second: str, axis: Any = Z, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """Turns about and slides along the common axis: four rows."""
    return _joined("cylindrical", first, second, pose, name, _about(parallel, axis), _about(line, axis))


def prismatic(first: str, second: str, axis: Any = Z, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """Slides along the axis: five rows."""
    return _joined("prismatic", first, second, pose, name, aligned, _about(line, axis))


def planar(first: str, second: str, normal: Any = Z, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """Moves in the plane and turns about its normal: three rows."""
    return _joined("planar", first, second, pose, name, _about(parallel, normal), _about(plane, normal))


def universal(first: str, second: str, axis: Any, axis2: Any, *, name: str = "") -> AbstractConstraint:
    """`axis` of `first` stays perpendicular to `axis2` of `second`, origins together: four rows."""
    parts = (perpendicular(first, second, axis, axis2), point(first, second))
    return Combined(first=first, second=second, parts=parts, name=name or f"universal of {first} and {second}")


def distance(first: str, second: str, length: Any, *, name: str = "") -> AbstractConstraint:
    """The origins stay that far apart: one row."""
    if isinstance(length, (int, float)) and not length > 0:
        raise ValueError(
            f"distance of {first} and {second} is {length} m; expected more than zero. Use `point` for zero."
        )
    return Distance(first=first, second=second, length=length, name=name)


def rolling(first: str, second: str, radius: Any, *, axis: Any = None, name: str = "") -> AbstractConstraint:
    """`second`, a ball or (with `axis`, in `second`) a thin disc, rolls without slip on the plane z = 0 of `first`: three rows."""
    return Rolling(first=first, second=second, radius=radius, axis=None if axis is None else _unit(axis), name=name)


def knife_edge(first: str, second: str, axis: Any, *, name: str = "") -> AbstractConstraint:
    """The origin of `second` does not move along `axis` (of `second`) in `first`: one row, nonholonomic."""
    return KnifeEdge(first=first, second=second, a=_unit(axis)[None], name=name)


def holonomic(
    first: str, second: str, function: Callable[[Array, Array], Any], rows: int = 1, *, name: str = ""
) -> AbstractConstraint:
    """function(R_12, p_12) = 0, written with gyrostat.algebra; its derivatives are found exactly."""
    return Holonomic(first=first, second=second, function=function, rows=rows, name=name)


def angle(first: str, second: str, axis: Any = Z, *, name: str = "") -> AbstractConstraint:
    """The angle about the common axis, from -pi to pi, stays zero: one row; to be driven, beside a `revolute`."""
    x, y, _ = frame_along(_unit(axis)).T

    def turned(R: Array, p: Array) -> Any:
        return atan2(y @ (R @ x), x @ (R @ x))

    return Holonomic(first=first, second=second, function=turned, rows=1, name=name or f"angle of {first} and {second}")


def driven(constraint: AbstractConstraint, motion: Callable[[Any], Any]) -> AbstractConstraint:
    """What the constraint holds at zero follows motion(t) instead: a rod that extends, a hinge turned by an ideal motor."""
    c = constraint
    if any(isinstance(part, Aligned) for part in getattr(c, "parts", (c,))):
        raise ValueError(
            f"the {c.title} holds a whole rotation, whose three numbers cannot be driven apart. Drive gs.constraints.angle beside a revolute."
        )
    return Driven(first=c.first, second=c.second, offset=c.offset, part=c, motion=motion, name=f"driven {c.title}")


def as_it_is(constraint: AbstractConstraint, X_12: Pose) -> AbstractConstraint:
    """The same constraint about the relative pose X_12 of its frames at some instant: what a gripper holds where it grasped."""
    R, p = X_12
    return replace(constraint, offset=Pose(np.asarray(R), np.asarray(p)))


def _about(kind: Callable[..., AbstractConstraint], axis: Any) -> Callable[..., AbstractConstraint]:
    return lambda first, second: kind(first, second, axis)


def _joined(
    kind: str, first: str, second: str, pose: Pose, name: str, *parts: Callable[..., AbstractConstraint]
) -> AbstractConstraint:
    made = tuple(part(first, second) for part in parts)
    return Combined(first=first, second=second, offset=pose, parts=made, name=name or f"{kind} of {first} and {second}")


def _unit(axis: Any) -> Array:
    a = np.asarray(axis, dtype=float)
    if a.shape != (3,) or not a.any():
        raise ValueError(f"axis is {axis!r}; expected three components, not all zero.")
    return a / np.sqrt(a @ a)
