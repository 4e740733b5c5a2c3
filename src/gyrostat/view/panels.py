"""What a picture shows: lines over time, or motion in a plane or in space; and how matplotlib draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array
from .style import color_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..simulation import Trajectory


@dataclass(frozen=True, eq=False)
class Panel:
    """Lines over time: values ([runs,] times, lines), one label each. limits: levels to draw across."""

    title: str
    unit: str
    values: Array
    labels: tuple[str, ...]
    dashed: tuple[str, ...] = ()
    colors: tuple[int, ...] = ()  # places in the palette; in order by default
    limits: tuple[float, ...] = ()

    def place(self, k: int) -> int:
        """Of line k in the palette."""
        return self.colors[k] if self.colors else k

    def dashes(self, k: int) -> bool:
        return self.labels[k] in self.dashed


@dataclass(frozen=True, eq=False)
class Plane:
    """Motion of several in two or three coordinates: values (lines, times, 2 or 3); axes: names of the coordinates."""

    title: str
    unit: str
    values: Array
    labels: tuple[str, ...]
    axes: tuple[str, ...]


AnyPanel = Panel | Plane


def must_match(trajectory: Trajectory, other: Trajectory) -> None:
    """Raises a ValueError unless both runs have the same joints."""
    mine, theirs = ([b.joint.name for b in run.craft.bodies] for run in (trajectory, other))
    if mine != theirs:
        raise ValueError(f"compare: {other.craft!r} and {trajectory.craft!r} do not have the same joints.")


def quantiles(values: Array) -> Array:
    """Of a batch (runs, times): the band that holds nine runs in ten, about the median; NaN where no run is left."""
    reached = np.isfinite(values).any(axis=0)
    found = np.full((3, values.shape[1]), np.nan)
    found[:, reached] = np.nanquantile(values[:, reached], (0.05, 0.5, 0.95), axis=0)
    return found


def limits_of(values: Sequence[Array]) -> tuple[float, float]:
    """Of an axis that shows them all. Round-off around a constant is a straight line, not a mountain range."""
    everything = np.concatenate([np.ravel(x) for x in values]) if values else np.zeros(0)
    finite = everything[np.isfinite(everything)]
    if not finite.size:
        return -1.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    size = max(abs(low), abs(high))
    if high - low <= 1e-9 * size or size < 1e-9:
        middle, half = (low + high) / 2, 1.0 if size < 1e-9 else 0.05 * size
        return middle - half, middle + half
    room = 0.05 * (high - low)
    return low - room, high + room


# ---- matplotlib


def draw(at: Axes, time: Array, panel: AnyPanel, other: tuple[Array, Any] | None = None) -> None:
    """Lines; of a batch, the median and a band that holds nine runs in ten.

    other: another run's times and panel, dashed.
    """
    if isinstance(panel, Plane):
        return _draw_plane(at, panel)
    _lines(at, time, panel)
    if other is not None:
        _lines(at, *other, dashed=True)
    values = [panel.values] if other is None else [panel.values, other[1].values]
    at.set_title(panel.title)
    at.set(xlabel="time [s]", ylabel=f"[{panel.unit}]" if panel.unit else "")
    at.margins(x=0)
    low, high = limits_of(values)
    for level in panel.limits:
        if low <= level <= high:
            at.axhline(level, color="#d03030", linewidth=0.9, linestyle=(0, (1, 2)))
    at.set_ylim(low, high)
    columns = 1 + len(panel.labels) // 13
    at.legend(
        loc="upper left", bbox_to_anchor=(1.0, 1.02), handlelength=1.4, borderaxespad=0.3, ncols=columns,
        fontsize=8 if columns == 1 else 6.5,
    )  # fmt: skip


def _lines(at: Axes, time: Array, panel: Panel, *, dashed: bool = False) -> None:
    for k in range(panel.values.shape[-1]):
        own = panel.values[..., k]
        color = color_of(panel.place(k))
        if panel.values.ndim == 3:
            low, own, high = quantiles(own)
            at.fill_between(time, low, high, color=color, alpha=0.18, linewidth=0)
        label = None if dashed else shown(panel.labels[k])
        dash = dashed or panel.dashes(k)
        at.plot(time, own, color=color, linestyle=(0, (4, 2)) if dash else "-", label=label)


def _draw_plane(at: Any, panel: Plane) -> None:
    for k, (one, label) in enumerate(zip(panel.values, panel.labels, strict=True)):
        at.plot(*one.T, color=color_of(k), label=shown(label))
        seen = one[np.isfinite(one).all(axis=-1)]
        if len(seen):
            at.plot(*seen[-1:].T, "o", color=color_of(k), markersize=4)
    words = [f"{name} [{panel.unit}]" for name in panel.axes]
    at.set(xlabel=words[0], ylabel=words[1])
    if len(words) == 3:
        at.set_zlabel(words[2])
    at.set_title(panel.title)
    at.set_aspect("equal", adjustable="datalim")
    at.legend(loc="best", handlelength=1.4)


def shown(label: str) -> str:
    """As a legend shows it: names that start with an underscore would be left out, control characters break SVG."""
    label = "".join(c if c.isprintable() else "?" for c in label)
    return f" {label}" if label.startswith("_") else label
