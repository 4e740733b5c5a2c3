"""Figures 5 and 6 of Valverde & Tsiotras (2018), as measured here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...algebra import Array
from ...io.writing import write_figure
from ...simulation import Trajectory
from .checks import condition_numbers
from .crafts import PULSES
from .experiment import own_momentum

FLOOR = 1e-18  # zero cannot be drawn on a logarithmic axis


def figure_5(traj: Trajectory, path: Path) -> Path:
    """Deviation of the centre of mass, kinetic energy, condition number of S."""
    com = traj.center_of_mass()
    figure, axes = _panels(3)
    axes[0].semilogy(traj.time, _lengths(com - com[0]))
    axes[0].set_ylabel("centre of mass\nfrom its start, m")
    axes[1].plot(traj.time, traj.kinetic_energy())
    axes[1].set_ylabel("kinetic energy, J")
    axes[2].plot(traj.time, condition_numbers(traj.craft, traj.q))
    axes[2].set_ylabel("condition of S\n(SI units)")
    return _saved(figure, axes, path, f"Figure 5, {traj.craft.name}")


def figure_6(runs: Mapping[str, Trajectory], path: Path) -> Path:
    """Change of the centre of mass, linear and angular momentum, one line per run; each measured on the state that was integrated."""
    figure, axes = _panels(3)
    for name, traj in runs.items():
        com, h = traj.center_of_mass(), own_momentum(traj)
        axes[0].semilogy(traj.time, _lengths(com - com[0]), label=name)
        axes[1].semilogy(traj.time, _lengths(h[:, 3:]), label=name)
        axes[2].semilogy(traj.time, _lengths(h[:, :3]), label=name)
    axes[0].set_ylabel("centre of mass\nfrom its start, m")
    axes[1].set_ylabel("linear momentum\nN s")
    axes[2].set_ylabel("angular momentum\nN m s")
    axes[0].legend(loc="lower right")
    title = next(iter(runs.values())).craft.name
    return _saved(figure, axes, path, f"Figure 6, {title}")


def _panels(count: int) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 2.1 * count), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(count, 1, sharex=True)


def _saved(figure: Any, axes: Any, path: Path, title: str) -> Path:
    for axis in axes:
        for start, stop in PULSES:
            axis.axvspan(start, stop, color="0.9", zorder=0)
        axis.grid(alpha=0.3)
    axes[-1].set_xlabel("time, s (grey: a torque acts)")
    figure.suptitle(title)
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_figure(path, figure, dpi=130)


def _lengths(rows: Array) -> Array:
    return np.maximum(np.linalg.norm(rows, axis=1), FLOOR)
