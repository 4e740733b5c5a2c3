"""Where a floating arm works well: dynamic singularities, manipulability, reach, and how much its motion disturbs the
base.

All of it follows from J*, H* and the base's answer to joint rates, which depend on the joint coordinates alone, and on
the mass properties: unlike a fixed arm's, the singularities of a floating one are dynamic (Papadopoulos & Dubowsky
1993).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .algebra import Array, norm
from .formulations.generalized_jacobian import generalized_inertia, generalized_jacobian_in_base
from .formulations.generalized_jacobian.elimination import eliminate, require
from .formulations.generalized_jacobian.generalized_matrices import base_at_origin
from .kinematics import center_of_mass, frame_pose
from .model import Role, Spacecraft

__all__ = [
    "POSITION",
    "TWIST",
    "Measures",
    "Reach",
    "coupling_matrix",
    "dynamic_singularities",
    "joint_grid",
    "measures",
    "path_dependent_workspace",
]

POSITION = (3, 4, 5)  # rows of [w; v] that a task may want: the point's velocity
TWIST = (0, 1, 2, 3, 4, 5)  # all of [w; v]


class Measures(NamedTuple):
    """Of a point of the craft, in each of a batch of configurations; `rows` of its twist are the task.

    For the meaning of the products, choose rows of one unit: POSITION (the default) or (0, 1, 2).
    """

    manipulability: Array  # product of the singular values of J*: volume of twists for joint rates of norm one
    dynamic_manipulability: Array  # the same of J* H*^-1: accelerations from rest for joint torques of norm one
    smallest: Array  # smallest singular value of J*: zero at a dynamic singularity
    determinant: Array  # of J*, signed, where it is square; else nan
    coupling: Array  # coupling factor: largest angular rate of the base for joint rates of norm one
    reach: Array  # distance of the point from the craft's centre of mass, which does not move


class Reach(NamedTuple):
    """Distances from the craft's centre of mass: what of the workspace depends on the path."""

    reachable: tuple[float, float]
    singular: Array  # where dynamic singularities were found, sorted; empty if none
    # shells whose points are reached singular or not, depending on the path
    path_dependent: tuple[tuple[float, float], ...]
    path_independent: tuple[tuple[float, float], ...]  # the rest of what is reachable: never singular, however reached


def measures(
    craft: Spacecraft,
    q: Array,
    frame: str,
    point: Any = (0.0, 0.0, 0.0),
    *,
    joints: Sequence[str] | None = None,
    rows: Sequence[int] = POSITION,
) -> Measures:
    """Measures of a point of a frame or body in configurations q, (..., nq). `joints` may move; the others hold still.

    By default those that have a motor move; wheels and passive joints hold.
    """
    return _measures(craft, _kernel(craft, frame, point)(np.asarray(q, dtype=float)), joints, rows)


def joint_grid(craft: Spacecraft, q: Array, axes: dict[str, Array]) -> Array:
    """Configurations like q in which the named one-coordinate joints take all combinations of
    values, (k1, k2, ..., nq).

    Raises ValueError for joints with more than one coordinate.
    """
    values = np.meshgrid(*(np.asarray(v, dtype=float) for v in axes.values()), indexing="ij")
    grid = np.tile(np.asarray(q, dtype=float), (*values[0].shape, 1))
    for name, value in zip(axes, values, strict=True):
        joint = craft.joint_named(name)
        if joint.nq != 1:
            raise ValueError(
                f"joint '{name}' is {joint.kind}, with {joint.nq} coordinates; a grid needs joints with one."
            )
        grid[..., joint.q_at.start] = value
    return grid


def dynamic_singularities(
    craft: Spacecraft,
    q: Array,
    frame: str,
    point: Any = (0.0, 0.0, 0.0),
    *,
    axes: dict[str, Array],
    rows: Sequence[int] = POSITION,
) -> Array:
    """Configurations (k, nq) at which det J* = 0, J* of the joints in `axes` for as many `rows`: found on the lines of
    their grid.

    Every sign change between neighbours on the grid is refined by bisection to round-off. A grid that is too coarse may
    step over a pair of singularities; the determinant must change sign to be seen.
    """
    joints = list(axes)
    if len(joints) != len(rows):
        raise ValueError(
            f"{len(joints)} joints for {len(rows)} rows of the twist: det J* needs as many. Name other joints in axes, "
            "or give rows=, e.g. (3, 4) for x and y in base axes."
        )
    grid, kernel, at = joint_grid(craft, q, axes), _kernel(craft, frame, point), _rates_of(craft, joints)

    def determinant(q: Array) -> Array:
        return np.linalg.det(kernel(q)[0][..., list(rows), :][..., at])

    det, found = determinant(grid), []
    for k in range(len(joints)):
        before, after = _neighbours(grid, k), _neighbours(det, k)
        crossing = np.sign(after[0]) * np.sign(after[1]) < 0
        low, high, sign = before[0][crossing], before[1][crossing], np.sign(after[0][crossing])
        for _ in range(60 if len(low) else 0):
            middle = 0.5 * (low + high)
            same = (np.sign(determinant(middle)) == sign)[:, None]
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        found.append(0.5 * (low + high))
    return np.concatenate(found) if found else np.zeros((0, craft.nq))


def path_dependent_workspace(
    craft: Spacecraft,
    q: Array,
    frame: str,
    point: Any = (0.0, 0.0, 0.0),
    *,
    axes: dict[str, Array],
    rows: Sequence[int] = POSITION,
    gap: float = 0.05,
) -> Reach:
    """Which distances from the centre of mass may be singular (Papadopoulos & Dubowsky 1993), by the grid of `axes`.

    The craft's centre of mass stays; a point at distance R from it can be reached with any attitude of the base, so in
    many joint configurations: where one of them is singular, the point's shell depends on the path taken to it.

    gap: singular distances further apart than this fraction of the reach belong to different shells; a finer grid
    allows less.
    """
    reach = measures(craft, joint_grid(craft, q, axes), frame, point).reach
    singular = dynamic_singularities(craft, q, frame, point, axes=axes, rows=rows)
    low, high = float(reach.min()), float(reach.max())
    if not len(singular):
        return Reach((low, high), np.zeros(0), (), ((low, high),))
    radii = np.sort(measures(craft, singular, frame, point).reach)
    low, high = min(low, float(radii[0])), max(high, float(radii[-1]))
    cuts = np.flatnonzero(np.diff(radii) > gap * (high - low)) + 1
    shells = tuple((float(part[0]), float(part[-1])) for part in np.split(radii, cuts))
    edges = [low, *(edge for shell in shells for edge in shell), high]
    free = tuple((a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a)
    return Reach((low, high), radii, shells, free)


def coupling_matrix(craft: Spacecraft, q: Array) -> Array:
    """(6, nv - 6): the base's twist [w; v], in B, that unit rates of joints and wheels cause at zero momentum. (109)"""
    require(craft)
    return -eliminate(craft, q).X


def _measures(craft: Spacecraft, matrices: Any, joints: Sequence[str] | None, rows: Sequence[int]) -> Measures:
    J, H, W, reach = matrices
    at = _rates_of(craft, joints)
    J, H, W = J[..., list(rows), :][..., at], H[..., at, :][..., at], W[..., at]
    values = np.linalg.svd(J, compute_uv=False)
    square = J.shape[-1] == J.shape[-2]
    return Measures(
        values.prod(axis=-1),
        np.linalg.svd(J @ np.linalg.inv(H), compute_uv=False).prod(axis=-1),
        values[..., -1],
        np.linalg.det(J) if square else np.full(J.shape[:-2], np.nan),
        np.linalg.svd(W, compute_uv=False)[..., 0],
        reach,
    )


def _kernel(craft: Spacecraft, frame: str, point: Any) -> Any:
    """J* in base axes, H*, the base's angular answer and the reach, compiled for configurations (..., nq)."""
    from .tracing import compile

    return compile(_matrices_of, craft, static={"frame": frame, "point": tuple(np.asarray(point, dtype=float))})


def _matrices_of(craft: Spacecraft, q: Array, frame: str, point: Any) -> tuple[Array, Array, Array, Any]:
    at_origin = base_at_origin(craft, q)
    X = frame_pose(craft, at_origin, frame)
    from_center = X.p + X.R @ np.asarray(point) - center_of_mass(craft, at_origin)
    J, H = generalized_jacobian_in_base(craft, q, frame, point), generalized_inertia(craft, q)
    return J, H, coupling_matrix(craft, q)[:3], norm(from_center)


def _rates_of(craft: Spacecraft, joints: Sequence[str] | None) -> list[int]:
    """Places in v[6:]; by default of the joints that have a motor."""
    if joints is None:
        return [int(k) - 6 for k in craft.at(Role.driven)]
    return [
        k - 6 for name in joints for k in range(craft.joint_named(name).v_at.start, craft.joint_named(name).v_at.stop)
    ]


def _neighbours(x: Array, axis: int) -> tuple[Array, Array]:
    """Entries and their next ones along an axis of the grid."""
    n = x.shape[axis]
    return np.take(x, range(n - 1), axis), np.take(x, range(1, n), axis)
