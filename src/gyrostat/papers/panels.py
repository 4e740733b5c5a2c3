"""Figures of a reproduction: a grid of panels, and where it is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..io.writing import write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FLOOR = 1e-18  # zero cannot be drawn on a logarithmic axis


def panels(rows: int, columns: int, title: str, **options: Any) -> tuple[Figure, Any]:
    """A figure with a title, and its panels as an array (rows, columns) with grids."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * columns + 1.0, 3.1 * rows + 0.6), layout="constrained")
    figure.suptitle(title)
    grid = figure.subplots(rows, columns, squeeze=False, **options)
    for panel in grid.flat:
        panel.grid(alpha=0.3)
    return figure, grid


def lines(at: Axes, time: np.ndarray, values: np.ndarray, names: list[str], label: str, **options: Any) -> None:
    """One line per column, and a legend beside the panel."""
    at.plot(time, values, label=names, **options)
    at.set_ylabel(label)
    legend_beside(at)


def legend_beside(at: Axes) -> None:
    at.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5))


def drawable(values: np.ndarray) -> np.ndarray:
    """Absolute values that a logarithmic axis takes."""
    return np.maximum(np.abs(values), FLOOR)


def lengths(rows: np.ndarray) -> np.ndarray:
    """Of each row, for a logarithmic axis."""
    return drawable(np.linalg.norm(rows, axis=1))


def write(figures: Mapping[str, Figure], folder: Path, paper: str) -> list[Path]:
    """Each figure as PNG in the folder, named after paper and figure."""
    folder.mkdir(parents=True, exist_ok=True)
    return [write_figure(folder / f"{paper}_{name}.png", figure) for name, figure in figures.items()]
