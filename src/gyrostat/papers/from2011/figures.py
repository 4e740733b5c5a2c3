"""Pictures of the runs of the demonstrations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...algebra import Array, rotation, rpy_from_rotation
from ...formulations.lie_lagrange.equivalent_manipulator import equivalent_state
from ..panels import drawable, panels
from .checks import energies, momenta
from .tumbling import END, PASS_AT, Steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...simulation import Trajectory

PAPER = "From, Pettersen & Gravdahl (2011)"


def tumble_figure(group: dict[int, Steps], euler: dict[int, Steps]) -> Figure:
    """Attitude past both singularities, and the step sizes of both descriptions."""
    figure, grid = panels(2, 2, f"{PAPER}: tumbling past the singularities of roll, pitch, yaw")
    for column, sign in enumerate((1, -1)):
        run, other = group[sign], euler[sign]
        rpy = np.degrees([rpy_from_rotation(rotation(y[:4])) for y in run.y])
        above, below = grid[0, column], grid[1, column]
        for k, name in enumerate(("roll", "pitch", "yaw")):
            jumps = np.abs(np.diff(rpy[:, k], prepend=rpy[0, k])) > 90
            above.plot(run.t, np.where(jumps, np.nan, rpy[:, k]), label=name)
        above.set_title(f"pitch {'+' if sign > 0 else '-'}90 deg at {PASS_AT:g} s")
        above.set_ylabel("attitude [deg]")
        below.semilogy(run.t[1:], run.sizes, ".-", label="on SE(3) x R^n")
        below.semilogy(other.t[1:], drawable(other.sizes), ".-", label="roll, pitch, yaw: (16), (17)")
        below.set(ylabel="step of DOP853 [s]", xlabel="time [s]", xlim=(0, END))
        for at in (above, below):
            at.legend(fontsize="small")
    return figure


def equivalence_figure(in_space: Trajectory, on_ground: Trajectory) -> Figure:
    """Craft (solid) and equivalent manipulator (dashed) on top of each other; their difference."""
    body, time = in_space.craft, in_space.time
    expected = np.array([equivalent_state(body, q, v).q for q, v in zip(in_space.q, in_space.v, strict=True)])
    tool, tip = in_space.frame("tool")[1] - in_space.center_of_mass(), on_ground.frame("tool")[1]
    figure, grid = panels(2, 2, f"{PAPER}: craft (solid) and dynamically equivalent manipulator (dashed)")
    names = [joint.name for joint in body.joints[1:]]
    _pair(grid[0, 0], time, expected[:, 4:], on_ground.q[:, 4:], names, "joint coordinates [rad, m scaled]")
    _pair(grid[0, 1], time, tool, tip, ["x", "y", "z"], "tool from the centre of mass [m]")
    for at, difference, label in (
        (grid[1, 0], expected[:, 4:] - on_ground.q[:, 4:], "difference of joint coordinates"),
        (grid[1, 1], tool - tip, "difference of the tip [m]"),
    ):
        at.semilogy(time, drawable(difference).max(axis=1))
        at.axhline(3e-11, color="gray", linestyle=":", label="required")
        at.set(ylabel=label, xlabel="time [s]")
        at.legend(fontsize="small")
    return figure


def printed_figure(right: Steps, printed: Steps) -> Figure:
    """Energy and momentum of a free tumble with (26') and with (26) as printed."""
    figure, grid = panels(1, 2, f"{PAPER}: free tumble with (26) corrected and as printed")
    for run, name in ((right, "(26')"), (printed, "(26) as printed")):
        energy, momentum = energies(run), momenta(run)
        grid[0, 0].plot(run.t, energy / energy[0], label=name)
        grid[0, 1].plot(run.t, np.linalg.norm(momentum[:, 3:] - momentum[0, 3:], axis=1), label=name)
    for at, label in zip(
        grid[0], ("kinetic energy over its initial value", "change of linear momentum [N s]"), strict=True
    ):
        at.set(ylabel=label, xlabel="time [s]")
        at.legend()
    return figure


def _pair(at: Axes, time: Array, solid: Array, dashed: Array, names: list[str], label: str) -> None:
    at.plot(time, solid, label=names)
    at.set_prop_cycle(None)
    at.plot(time, dashed, linestyle="--", linewidth=2.5, alpha=0.6)
    at.set_ylabel(label)
    at.legend(fontsize="small", ncols=2)
