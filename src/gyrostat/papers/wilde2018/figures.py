"""Figures 5 to 8 of Wilde et al. (2018): motion and momenta of base and arm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...algebra import rotation
from ..panels import legend_beside, lines, panels
from .checks import base_momentum

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...simulation import Trajectory


def motion_figure(trajectory: Trajectory, title: str) -> Figure:
    """Figures 5 and 7: joint rates and base angular velocity; joint angles and base position."""
    R = np.array([rotation(q[:4]) for q in trajectory.q])
    w = np.einsum("tij,tj->ti", R, trajectory.v[:, :3])
    p = trajectory.q[:, 4:7] - trajectory.q[0, 4:7]
    joints = [joint.name for joint in trajectory.craft.joints[1:]]
    figure, grid = _over_time(title)
    lines(grid[0, 0], trajectory.time, trajectory.v[:, 6:], joints, "A: joint rates [rad/s]")
    lines(grid[1, 0], trajectory.time, w, ["x", "y", "z"], "base angular velocity [rad/s]")
    lines(grid[0, 1], trajectory.time, trajectory.q[:, 7:], joints, "B: joint angles [rad]")
    lines(grid[1, 1], trajectory.time, p, ["x", "y", "z"], "base position [m]")
    return figure


def momentum_figure(trajectory: Trajectory, title: str) -> Figure:
    """Figures 6 and 8: linear and angular momentum of the base (solid) and of the arm (dashed); their sum below."""
    base, total = base_momentum(trajectory), trajectory.momentum(about="base")
    arm = total - base
    figure, grid = _over_time(title)
    for column, (rows, name, unit) in enumerate(
        ((slice(3, 6), "A: linear", "N s"), (slice(0, 3), "B: angular", "N m s"))
    ):
        at = grid[0, column]
        lines(at, trajectory.time, base[:, rows], ["base x", "base y", "base z"], f"{name} momentum [{unit}]")
        at.set_prop_cycle(None)
        at.plot(trajectory.time, arm[:, rows], linestyle="--", label=["arm x", "arm y", "arm z"])
        legend_beside(at)
        lines(grid[1, column], trajectory.time, total[:, rows], ["x", "y", "z"], f"total, about the base [{unit}]")
    return figure


def _over_time(title: str) -> tuple[Figure, Any]:
    figure, grid = panels(2, 2, f"Wilde et al. (2018), {title}", sharex=True)
    for at in grid[1]:
        at.set_xlabel("time [s]")
    return figure, grid
