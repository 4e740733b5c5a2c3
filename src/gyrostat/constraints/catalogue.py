"""Constraints by the names that users know: `first` and `second` name frames or bodies of the spacecraft, "N" is
inertial space.

Axes are given in the axes of `first` unless said otherwise. `pose` is where `second` stands in `first`; by default the
frames coincide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import IDENTITY, Array, Pose, frame_along
from .kinds import (
    AbstractConstraint,
    Aligned,
    Angle,
    Coincidence,
    Combined,
    Distance,
    Driven,
    Holonomic,
    KnifeEdge,
    Parallel,
    Perpendicular,
    Rolling,
)

Z = (0.0, 0.0, 1.0)


def point(first: str, second: str, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """The origins coincide: a ball joint, three rows."""
    return as_it_is(Coincidence(first=first, second=second, name=name), pose)


spherical = point


def perpendicular(first: str, second: str, t: Any, a: Any, *, name: str = "") -> AbstractConstraint:
    """The axis t of `first` and the axis a of `second` stay at right angles: one row. Driven: at pi/2 - f."""
    return Perpendicular(first=first, second=second, t=_unit(t), a=_unit(a), name=name)


def parallel(first: str, second: str, axis: Any = Z, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """The same axis of both frames stays parallel: two rows."""
    z = _unit(axis)
    return as_it_is(Parallel(first=first, second=second, z=z, a=z, name=name), pose)


def aligned(first: str, second: str, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """No relative rotation: three rows."""
    return as_it_is(Aligned(first=first, second=second, name=name), pose)


def plane(first: str, second: str, normal: Any = Z, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """The origin of `second` stays in the plane through that of `first`: one row. Driven: at the height f."""
    return as_it_is(Coincidence(first=first, second=second, name=name, along=_unit(normal)[None]), pose)


def line(first: str, second: str, axis: Any = Z, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """The origin of `second` stays on the line through that of `first`: two rows."""
    return as_it_is(Coincidence(first=first, second=second, name=name, along=frame_along(_unit(axis)).T[:2]), pose)


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
    """The origins stay that far apart: one row. Driven: by length + f, which must stay above zero."""
    if isinstance(length, (int, float)) and not length > 0:
        raise ValueError(
            f"distance of {first} and {second} is {length} m; expected more than zero. Use `point` for zero."
        )
    return Distance(first=first, second=second, length=length, name=name)


def rolling(first: str, second: str, radius: Any, *, axis: Any = None, name: str = "") -> AbstractConstraint:
    """`second`, a ball or (with `axis`, in `second`) a thin disc, rolls without slip on the plane z = 0 of `first`:
    three rows.

    Driven: the contact slips along x and y at the rates of f, and stands at the height f.
    """
    return Rolling(first=first, second=second, radius=radius, axis=None if axis is None else _unit(axis), name=name)


def knife_edge(first: str, second: str, axis: Any, *, name: str = "") -> AbstractConstraint:
    """The origin of `second` does not move along `axis` (of `second`) in `first`: one row, nonholonomic. Driven: moves
    at df/dt.
    """
    return KnifeEdge(first=first, second=second, a=_unit(axis), name=name)


def holonomic(
    first: str,
    second: str,
    function: Callable[[Array, Array], Any],
    rows: int = 1,
    *,
    period: float | None = None,
    name: str = "",
) -> AbstractConstraint:
    """function(R_12, p_12) = 0, written with gyrostat.algebra; its derivatives are found exactly.

    period: give 2 pi where the function is an angle that jumps by a turn, so that it can be driven past the jump.
    """
    return Holonomic(first=first, second=second, function=function, rows=rows, period=period, name=name)


def angle(first: str, second: str, axis: Any = Z, *, pose: Pose = IDENTITY, name: str = "") -> AbstractConstraint:
    """The angle of `second` about the common axis stays zero: one row; to be driven, by any number of turns, beside a
    `revolute`.
    """
    z = _unit(axis)
    return as_it_is(Angle(first=first, second=second, z=z, a=frame_along(z)[:, 0], name=name), pose)


def driven(constraint: AbstractConstraint, motion: Callable[[Any], Any]) -> AbstractConstraint:
    """What the constraint holds at zero follows f = motion(t) instead: a rod that extends, a hinge turned by an ideal
    motor.

    In m and rad; rows that hold a velocity (`knife_edge`, slip in `rolling`) follow df/dt, f being the way gone. A
    rod's length is its own plus f. f and df/dt must be continuous: a jump would need an impulse (`capture`).
    """
    c = constraint
    if _holds_a_rotation(c):
        raise ValueError(
            f"the {c.title} holds a whole rotation, whose three numbers cannot be driven apart. Drive "
            "gs.constraints.angle beside a revolute."
        )
    return Driven(first=c.first, second=c.second, part=c, follows=motion, name=f"driven {c.title}")


def as_it_is(constraint: AbstractConstraint, X_12: Pose, t: Any = 0.0) -> AbstractConstraint:
    """The same constraint about the relative pose X_12 of its frames at time t: what a gripper holds where it grasped.

    Axes of `first` stay what they are. Poses, lengths and angles that the constraint was given are replaced by those
    found.
    """
    here = Pose(np.asarray(X_12.R), np.asarray(X_12.p))
    return constraint.as_it_is(here, constraint.motion(t))


def _holds_a_rotation(c: AbstractConstraint) -> bool:
    parts = c.parts if isinstance(c, Combined) else (c.part,) if isinstance(c, Driven) else ()
    return isinstance(c, Aligned) or any(_holds_a_rotation(part) for part in parts)


def _about(kind: Callable[..., AbstractConstraint], axis: Any) -> Callable[..., AbstractConstraint]:
    return lambda first, second, pose: kind(first, second, axis, pose=pose)


def _joined(
    kind: str, first: str, second: str, pose: Pose, name: str, *parts: Callable[..., AbstractConstraint]
) -> AbstractConstraint:
    made = tuple(part(first, second, pose=pose) for part in parts)
    return Combined(first=first, second=second, parts=made, name=name or f"{kind} of {first} and {second}")


def _unit(axis: Any) -> Array:
    a = np.asarray(axis, dtype=float)
    if a.shape != (3,) or not a.any():
        raise ValueError(f"axis is {axis!r}; expected three components, not all zero.")
    return a / np.sqrt(a @ a)
