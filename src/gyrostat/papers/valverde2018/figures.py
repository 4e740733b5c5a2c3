"""Figures 5 and 6 of Valverde & Tsiotras (2018), as measured here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...simulation import Trajectory
from ..panels import lengths, panels
from .checks import condition_numbers
from .crafts import PULSES
from .experiment import own_momentum

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure_5(traj: Trajectory) -> Figure:
    """Deviation of the centre of mass, kinetic energy, condition number of S."""
    com = traj.center_of_mass()
    figure, (deviation, energy, condition) = _over_time(3, f"Figure 5, {traj.craft.name}")
    deviation.semilogy(traj.time, lengths(com - com[0]))
    deviation.set_ylabel("centre of mass\nfrom its start, m")
    energy.plot(traj.time, traj.kinetic_energy())
    energy.set_ylabel("kinetic energy, J")
    condition.plot(traj.time, condition_numbers(traj.craft, traj.q))
    condition.set_ylabel("condition of S\n(SI units)")
    return figure


def figure_6(runs: Mapping[str, Trajectory]) -> Figure:
    """Change of the centre of mass, linear and angular momentum, one line per run;
    each measured on the state that was integrated.
    """
    figure, axes = _over_time(3, f"Figure 6, {next(iter(runs.values())).craft.name}")
    for name, traj in runs.items():
        com, h = traj.center_of_mass(), own_momentum(traj)
        for at, rows in zip(axes, (com - com[0], h[:, 3:], h[:, :3]), strict=True):
            at.semilogy(traj.time, lengths(rows), label=name)
    for at, label in zip(
        axes, ("centre of mass\nfrom its start, m", "linear momentum\nN s", "angular momentum\nN m s"), strict=True
    ):
        at.set_ylabel(label)
    axes[0].legend(loc="lower right")
    return figure


def _over_time(count: int, title: str) -> tuple[Figure, Any]:
    """Panels one above the other over time, the pulses in grey."""
    figure, grid = panels(count, 1, title, sharex=True)
    for panel in grid[:, 0]:
        for start, stop in PULSES:
            panel.axvspan(start, stop, color="0.9", zorder=0)
    grid[-1, 0].set_xlabel("time, s (grey: a torque acts)")
    return figure, grid[:, 0]
