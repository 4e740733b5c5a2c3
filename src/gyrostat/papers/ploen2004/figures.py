"""Pictures of the interferometer and of the formation in the Hill frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...algebra import Array
from ...formation import FormationTrajectory
from ..panels import panels
from .interferometer import BASELINE, COLLECTORS, slot_errors
from .low_orbit import NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def interferometer_figure(run: FormationTrajectory) -> Figure:
    figure, ((plan, position, attitude),) = panels(1, 3, "a separated interferometer takes its places")
    for name, x in zip(COLLECTORS, BASELINE, strict=True):
        seen = run.relative(name, to="combiner").position
        (line,) = plan.plot(seen[:, 0], seen[:, 1], label=name)
        plan.plot(x, 0.0, "o", color=line.get_color(), markerfacecolor="none")
    plan.set(xlabel="along the baseline [m]", ylabel="across [m]", title="seen from the combiner")
    plan.legend(fontsize="small")
    errors, angles = slot_errors(run)
    for at, rows, label in (
        (position, errors, "position error [m]"),
        (attitude, np.degrees(angles), "attitude error [deg]"),
    ):
        at.semilogy(run.time, np.maximum(rows.T, 1e-12))
        at.set(xlabel="time [s]", ylabel=label)
    return figure


def hill_figure(sphere: FormationTrajectory, oblate: FormationTrajectory, moved: FormationTrajectory) -> Figure:
    """Along-track against radial and cross-track, over a sphere, over the oblate Earth,
    and through the reconfiguration.
    """
    figure, grid = panels(2, 3, "relative orbits about the chief, in its Hill frame")
    titles = ("over a sphere", "over the oblate Earth (J2 to J6)", "two impulses: 500 m to 200 m")
    for column, (run, title) in enumerate(zip((sphere, oblate, moved), titles, strict=True)):
        for name in NAMES[1:]:
            rho, _ = run.hill(name, about="chief")
            for row, (x, y) in enumerate(((1, 0), (1, 2))):
                (line,) = grid[row, column].plot(rho[:, x], rho[:, y], linewidth=0.9, label=name)
                grid[row, column].plot(rho[0, x], rho[0, y], ".", color=line.get_color())
        for row, label in enumerate(("radial [m]", "cross-track [m]")):
            grid[row, column].plot(0.0, 0.0, "k+")
            grid[row, column].set(xlabel="along-track [m]", ylabel=label, title=title if row == 0 else "")
            grid[row, column].set_aspect("equal", "datalim")
    grid[0, 0].legend(fontsize="x-small")
    return figure


def linear_figure(radii: Array, errors: dict[str, list[float]]) -> Figure:
    figure, ((at,),) = panels(1, 1, "linear models after one orbit, against the simulated motion")
    for name, values in errors.items():
        at.loglog(radii, values, "o-", label=name)
    at.set(xlabel="separation [m]", ylabel="error relative to the separation")
    at.legend(fontsize="small")
    return figure
