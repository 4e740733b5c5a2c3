"""`Trajectory.plot`: the pictures a person wants first; two runs on the same axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model import nearest
from .groups import GROUPS, panels
from .panels import Plane, draw, must_match
from .style import figure_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..simulation import Trajectory

DEFAULT = ("relative", "joints", "wheels", "base", "momentum", "energy", "actuators")


def plot_trajectory(
    trajectory: Trajectory,
    what: str | Sequence[str] = DEFAULT,
    *,
    compare: Trajectory | None = None,
    names: tuple[str, str] = ("this", "other"),
) -> Figure:
    """A figure with one panel per quantity; `figure.savefig("run.png")` writes it, a notebook shows it.

    what: which groups, out of "relative" (of a formation), "joints", "wheels", "thrust", "base", "quaternions",
    "momentum", "energy", "actuators", "reactions". compare: another run of
    the same craft, dashed on the same axes; names: what to call the two.
    """
    from matplotlib.figure import Figure

    groups = [what] if isinstance(what, str) else list(what)
    for group in groups:
        if group not in GROUPS:
            raise ValueError(f"plot has no group '{group}'. {nearest(group, GROUPS)}")
    if compare is not None:
        must_match(trajectory, compare)
    mine = [panel for group in groups for panel in panels(trajectory, group)]
    others = [panel for group in groups for panel in panels(compare, group)] if compare is not None else []
    columns = 2 if len(mine) > 1 else 1
    rows = max(1, -(-len(mine) // columns))
    with figure_style():
        figure = Figure(figsize=(6.6 * columns, 2.7 * rows), layout="constrained")
        for k, panel in enumerate(mine):
            space = isinstance(panel, Plane) and len(panel.axes) == 3
            at = figure.add_subplot(rows, columns, k + 1, projection="3d" if space else None)
            draw(at, trajectory.time, panel, (compare.time, others[k]) if compare is not None else None)
        figure.suptitle(_title(trajectory, names if others else None), x=0.01, ha="left")
    return figure


def _title(trajectory: Trajectory, names: tuple[str, str] | None) -> str:
    """Whose motion, and what bands are: said once, as it would not fit above each panel."""
    runs = trajectory.q.shape[0] if trajectory.q.ndim == 3 else 1
    many = f", {runs} runs: the median, and a band that holds nine in ten" if runs > 1 else ""
    return trajectory.craft.name + many + (f": {names[0]} and {names[1]} (dashed)" if names else "")
