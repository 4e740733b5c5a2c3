"""Whether a craft's own bodies stand between two points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra import Array, Pose, maximum, minimum, sqrt, where
from ..model import Shape, Spacecraft
from .poses import inertial_poses

ALONG = 1e-9  # in place of a direction's component that is zero, of a segment of length one


def clear_view(craft: Spacecraft, q: Array, a_N: Array, b_N: Array, bodies: Sequence[str]) -> Any:
    """1.0 where no shape (box, sphere, cylinder) of these bodies touches the segment from a to b, both in N; else 0.0.

    A segment that begins or ends within a shape touches it: leave out the bodies that carry the two ends, or keep
    the ends outside.
    """
    X_NB, clear = inertial_poses(craft, q), 1.0
    for name in bodies:
        for shape in craft.body(name).shapes:
            clear = clear * (
                1.0 - _touched(shape, _within(X_NB[name], shape, a_N), _within(X_NB[name], shape, b_N), name)
            )
    return clear


def _within(X: Pose, shape: Shape, point_N: Array) -> Array:
    """In the axes of the shape, from its middle."""
    return np.asarray(shape.rotation).T @ (X.R.T @ (point_N - X.p) - np.asarray(shape.position))


def _touched(shape: Shape, a: Array, b: Array, body: str) -> Any:
    d = b - a
    if shape.kind == "box":
        enter, leave = _between_planes(a, d, [0.5 * edge for edge in shape.size], range(3))
    elif shape.kind == "sphere":
        enter, leave = _within_radius(a, d, shape.size[0], range(3))
    elif shape.kind == "cylinder":
        radius, length = shape.size
        round_ = _within_radius(a, d, radius, range(2))
        ends = _between_planes(a, d, [0.5 * length], [2])
        enter, leave = maximum(round_[0], ends[0]), minimum(round_[1], ends[1])
    else:
        raise ValueError(
            f"line of sight: body '{body}' has a shape that is a {shape.kind}; expected boxes, spheres and cylinders. "
            "Give it one of these, or leave the body out."
        )
    return where(maximum(enter, 0.0) <= minimum(leave, 1.0), 1.0, 0.0)


def _between_planes(a: Array, d: Array, half: Sequence[float], axes: Sequence[int]) -> tuple[Any, Any]:
    """Part s of a + s d that lies between pairs of planes, at +-half along each axis."""
    enter: Any = -np.inf
    leave: Any = np.inf
    for k, h in zip(axes, half, strict=True):
        along = where((d[k] < ALONG) & (d[k] > -ALONG), ALONG, d[k])
        s, t = (-h - a[k]) / along, (h - a[k]) / along
        enter, leave = maximum(enter, minimum(s, t)), minimum(leave, maximum(s, t))
    return enter, leave


def _within_radius(a: Array, d: Array, radius: float, axes: Sequence[int]) -> tuple[Any, Any]:
    """Part s of a + s d nearer than `radius` to the middle, by these components: (a + s d)^2 = radius^2."""
    dd = sum(d[k] * d[k] for k in axes) + ALONG * ALONG
    ad, aa = sum(a[k] * d[k] for k in axes), sum(a[k] * a[k] for k in axes)
    square = ad * ad - dd * (aa - radius * radius)
    root = sqrt(where(square > 0.0, square, 0.0) + 1e-300)
    return where(square > 0.0, (-ad - root) / dd, 2.0), where(square > 0.0, (-ad + root) / dd, -1.0)
