"""Pictures of a floating arm's workspace over a slice of two joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array
from ..kinematics import center_of_mass, frame_pose
from ..model import Spacecraft
from ..workspace import POSITION, Measures, joint_grid, measures, path_dependent_workspace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


def plot_workspace(
    craft: Spacecraft,
    q: Array,
    frame: str,
    point: Any = (0.0, 0.0, 0.0),
    *,
    axes: dict[str, Array],
    rows: Sequence[int] = POSITION,
    plane: str = "xy",
) -> Figure:
    """Four panels over a grid of two joints: manipulability, smallest singular value, base coupling, and the points
    reached.

    White lines are dynamic singularities, where as many rows as joints are chosen. The last panel shows the plane of
    base axes through the craft's centre of mass; shells that depend on the path are between circles.
    """
    from matplotlib.figure import Figure

    if len(axes) != 2:
        raise ValueError(f"axes names {len(axes)} joints; a picture of the workspace needs two.")
    joints = list(axes)
    grid = joint_grid(craft, q, axes)
    m = measures(craft, grid, frame, point, joints=joints, rows=rows)
    figure = Figure(figsize=(11, 9), layout="constrained")
    (a, b), (c, d) = figure.subplots(2, 2)
    units = "m" if set(rows) <= set(POSITION) else ""
    _map(a, axes, m, m.manipulability, "manipulability" + (f" [{units}$^{len(rows)}$]" if units else ""))
    _map(b, axes, m, m.smallest, "smallest singular value of J*" + (f" [{units}]" if units else ""))
    _map(c, axes, m, m.coupling, "coupling: base rate per joint rate")
    _points(d, craft, grid, m, frame, point, plane)
    if len(rows) == 2:
        _shells(d, craft, q, frame, point, axes, rows)
    figure.suptitle(f"{craft.name}: {frame}, joints {joints[0]} and {joints[1]}")
    return figure


def _map(at: Axes, axes: dict[str, Array], m: Measures, values: Array, title: str) -> None:
    (first, x), (second, y) = ((name, np.degrees(value)) for name, value in axes.items())
    colours = at.pcolormesh(x, y, values.T, shading="nearest", cmap="viridis")
    at.figure.colorbar(colours, ax=at, label=title)
    if np.isfinite(m.determinant).all() and m.determinant.min() < 0 < m.determinant.max():
        at.contour(x, y, m.determinant.T, levels=[0.0], colors="white", linewidths=1.2)
    at.set(xlabel=f"{first} [deg]", ylabel=f"{second} [deg]", title=title.split(":")[0].split(" [")[0])


def _points(at: Axes, craft: Spacecraft, grid: Array, m: Measures, frame: str, point: Any, plane: str) -> None:
    i, j = PLANES[plane]
    positions = _positions(craft, grid, frame, point)
    dots = at.scatter(positions[..., i], positions[..., j], c=m.manipulability.ravel(), s=6, cmap="viridis")
    at.figure.colorbar(dots, ax=at, label="manipulability")
    at.plot(0.0, 0.0, "k+", markersize=12)
    at.set(
        xlabel=f"{plane[0]} [m]",
        ylabel=f"{plane[1]} [m]",
        aspect="equal",
        title="reached, from the centre of mass, in base axes",
    )


def _positions(craft: Spacecraft, grid: Array, frame: str, point: Any) -> Array:
    """Of the point from the centre of mass, in base axes, (k, 3)."""
    from ..tracing import compile

    def position(craft: Spacecraft, q: Array) -> Array:
        X = frame_pose(craft, q, frame)
        return X.p + X.R @ np.asarray(point) - center_of_mass(craft, q)

    at_origin = grid.reshape(-1, craft.nq).copy()
    at_origin[:, :7] = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return compile(position, craft)(at_origin)


def _shells(
    at: Axes, craft: Spacecraft, q: Array, frame: str, point: Any, axes: dict[str, Array], rows: Sequence[int]
) -> None:
    from matplotlib.patches import Circle

    reach = path_dependent_workspace(craft, q, frame, point, axes=axes, rows=rows)
    for k, shell in enumerate(reach.path_dependent):
        for radius in shell:
            at.add_patch(Circle((0.0, 0.0), radius, fill=False, color=f"C{k + 1}", linewidth=1.0))
        at.plot([], [], color=f"C{k + 1}", label=f"path dependent: {shell[0]:.2f} to {shell[1]:.2f} m")
    if reach.path_dependent:
        at.legend(loc="upper left", fontsize="small")
