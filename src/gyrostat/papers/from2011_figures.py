"""Pictures of the runs of `from2011`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array, rotation, rpy_from_rotation
from ..formulations.lie_lagrange.equivalent_manipulator import equivalent_state
from .from2011 import END, PASS_AT, Steps
from .from2011_checks import energies, momenta

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..simulation import Trajectory


def tumble_figure(group: dict[int, Steps], euler: dict[int, Steps]) -> Figure:
    """Attitude past both singularities, and the step sizes of both descriptions."""
    figure, panels = _panels(2, 2, "tumbling past the singularities of roll, pitch, yaw")
    for column, sign in enumerate((1, -1)):
        run, other = group[sign], euler[sign]
        rpy = np.degrees([rpy_from_rotation(rotation(y[:4])) for y in run.y])
        above, below = panels[0][column], panels[1][column]
        for k, name in enumerate(("roll", "pitch", "yaw")):
            jumps = np.abs(np.diff(rpy[:, k], prepend=rpy[0, k])) > 90
            above.plot(run.t, np.where(jumps, np.nan, rpy[:, k]), label=name)
        above.set_title(f"pitch {'+' if sign > 0 else '-'}90 deg at {PASS_AT:g} s")
        above.set_ylabel("attitude [deg]")
        below.semilogy(run.t[1:], run.sizes, ".-", label="on SE(3) x R^n")
        below.semilogy(other.t[1:], np.maximum(other.sizes, 1e-18), ".-", label="roll, pitch, yaw: (16), (17)")
        below.set(ylabel="step of DOP853 [s]", xlabel="time [s]", xlim=(0, END))
        for at in (above, below):
            at.grid(alpha=0.3)
            at.legend(fontsize="small")
    return figure


def equivalence_figure(in_space: Trajectory, on_ground: Trajectory) -> Figure:
    """Craft (solid) and equivalent manipulator (dashed) on top of each other; their difference."""
    body, time = in_space.craft, in_space.time
    expected = np.array([equivalent_state(body, q, v).q for q, v in zip(in_space.q, in_space.v, strict=True)])
    tool, tip = in_space.frame("tool")[1] - in_space.center_of_mass(), on_ground.frame("tool")[1]
    figure, panels = _panels(2, 2, "craft (solid) and dynamically equivalent manipulator (dashed)")
    names = [joint.name for joint in body.joints[1:]]
    _pair(panels[0][0], time, expected[:, 4:], on_ground.q[:, 4:], names, "joint coordinates [rad, m scaled]")
    _pair(panels[0][1], time, tool, tip, ["x", "y", "z"], "tool from the centre of mass [m]")
    for at, difference, label in (
        (panels[1][0], expected[:, 4:] - on_ground.q[:, 4:], "difference of joint coordinates"),
        (panels[1][1], tool - tip, "difference of the tip [m]"),
    ):
        at.semilogy(time, np.maximum(np.abs(difference).max(axis=1), 1e-17))
        at.axhline(1e-9, color="gray", linestyle=":", label="required")
        at.set(ylabel=label, xlabel="time [s]")
        at.grid(alpha=0.3)
        at.legend(fontsize="small")
    return figure


def printed_figure(right: Steps, printed: Steps) -> Figure:
    """Energy and momentum of a free tumble with (26') and with (26) as printed."""
    figure, panels = _panels(1, 2, "free tumble with (26) corrected and as printed")
    for run, name in ((right, "(26')"), (printed, "(26) as printed")):
        energy, momentum = energies(run), momenta(run)
        panels[0][0].plot(run.t, energy / energy[0], label=name)
        panels[0][1].plot(run.t, np.linalg.norm(momentum[:, 3:] - momentum[0, 3:], axis=1), label=name)
    for at, label in zip(
        panels[0], ("kinetic energy over its initial value", "change of linear momentum [N s]"), strict=True
    ):
        at.set(ylabel=label, xlabel="time [s]")
        at.grid(alpha=0.3)
        at.legend()
    return figure


def _pair(at: Axes, time: Array, solid: Array, dashed: Array, names: list[str], label: str) -> None:
    at.plot(time, solid, label=names)
    at.set_prop_cycle(None)
    at.plot(time, dashed, linestyle="--", linewidth=2.5, alpha=0.6)
    at.set_ylabel(label)
    at.grid(alpha=0.3)
    at.legend(fontsize="small", ncols=2)


def _panels(rows: int, columns: int, title: str) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3.5 * rows), layout="constrained")
    figure.suptitle(f"From, Pettersen & Gravdahl (2011): {title}")
    return figure, figure.subplots(rows, columns, squeeze=False)
