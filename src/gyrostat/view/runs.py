"""Of a batch: how the runs' largest values are spread, and which runs came farthest."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..algebra import Array
from ..simulation.result.figures import sizes_of
from .charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, axes_with, ticks

if TYPE_CHECKING:
    from ..simulation import Trajectory

WORST = 5


class Spread(NamedTuple):
    """Of one figure: its histogram, and its worst runs in words."""

    title: str
    svg: str
    worst: str


def runs_of(trajectory: Trajectory) -> list[Spread]:
    """Nothing for one run."""
    if not trajectory.batched or len(trajectory.state.t) < 2:
        return []
    found = []
    for one in sizes_of(trajectory):
        peaks = one.peaks()
        seen = np.flatnonzero(np.isfinite(peaks))
        if len(seen) > 1 and np.ptp(peaks[seen]) > 1e-9 * np.abs(peaks[seen]).max():
            order = seen[np.argsort(-peaks[seen], kind="stable")][:WORST]
            words = ", ".join(f"run {k}: {peaks[k]:.4g} {one.unit}" for k in order)
            found.append(Spread(f"{one.name}, largest of each run", histogram(peaks[seen], one.unit, one.limit), words))
    return found


def histogram(values: Array, unit: str, limit: float = np.inf) -> str:
    """As SVG: how many of the values lie where; the limit, where it is in the picture."""
    counts, edges = np.histogram(values, bins=min(40, max(6, int(np.sqrt(len(values))))))
    box = (float(edges[0]), float(edges[-1]), 0.0, float(max(ticks(0.0, 1.15 * counts.max())[-1], counts.max())))
    wide, tall = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    across = wide / len(counts)
    bars = "".join(
        f'<rect class="bar" x="{LEFT + k * across + 0.5:.1f}" y="{HEIGHT - BOTTOM - n / box[3] * tall:.1f}" '
        f'width="{across - 1:.1f}" height="{n / box[3] * tall:.1f}"/>'
        for k, n in enumerate(counts)
    )
    at = LEFT + (limit - box[0]) / (box[1] - box[0]) * wide
    line = f'<path class="limit" d="M{at:.1f} {TOP:g}V{HEIGHT - BOTTOM:g}"/>' if LEFT <= at <= WIDTH - RIGHT else ""
    return axes_with(box, f"[{unit}]", "runs", bars + line)
