"""Figures 5 to 8 of Wilde et al. (2018): motion and momenta of base and arm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..algebra import rotation
from .wilde2018_checks import base_momentum

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..simulation import Trajectory


def motion_figure(trajectory: Trajectory, title: str) -> Figure:
    """Figures 5 and 7: joint rates and base angular velocity; joint angles and base position."""
    R = np.array([rotation(q[:4]) for q in trajectory.q])
    w = np.einsum("tij,tj->ti", R, trajectory.v[:, :3])
    p = trajectory.q[:, 4:7] - trajectory.q[0, 4:7]
    joints = [joint.name for joint in trajectory.craft.joints[1:]]
    figure, panels = _panels(title)
    _lines(panels[0][0], trajectory, trajectory.v[:, 6:], joints, "A: joint rates [rad/s]")
    _lines(panels[1][0], trajectory, w, ["x", "y", "z"], "base angular velocity [rad/s]")
    _lines(panels[0][1], trajectory, trajectory.q[:, 7:], joints, "B: joint angles [rad]")
    _lines(panels[1][1], trajectory, p, ["x", "y", "z"], "base position [m]")
    return figure


def momentum_figure(trajectory: Trajectory, title: str) -> Figure:
    """Figures 6 and 8: linear and angular momentum of the base (solid) and of the arm (dashed); their sum below."""
    base, total = base_momentum(trajectory), trajectory.momentum(about="base")
    arm = total - base
    figure, panels = _panels(title)
    for column, (rows, name, unit) in enumerate(
        ((slice(3, 6), "A: linear", "N s"), (slice(0, 3), "B: angular", "N m s"))
    ):
        at = panels[0][column]
        _lines(at, trajectory, base[:, rows], ["base x", "base y", "base z"], f"{name} momentum [{unit}]")
        at.set_prop_cycle(None)
        at.plot(trajectory.time, arm[:, rows], linestyle="--", label=["arm x", "arm y", "arm z"])
        _legend(at)
        _lines(panels[1][column], trajectory, total[:, rows], ["x", "y", "z"], f"total, about the base [{unit}]")
    return figure


def _panels(title: str) -> tuple[Figure, list[list[Axes]]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 7), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True)
    figure.suptitle(f"Wilde et al. (2018), {title}")
    for at in panels[1]:
        at.set_xlabel("time [s]")
    return figure, panels


def _lines(at: Axes, trajectory: Trajectory, values: np.ndarray, names: list[str], label: str) -> None:
    at.plot(trajectory.time, values, label=names)
    at.set_ylabel(label)
    at.grid(alpha=0.3)
    _legend(at)


def _legend(at: Axes) -> None:
    at.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5))
