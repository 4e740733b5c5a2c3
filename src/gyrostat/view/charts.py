"""A panel as a card of a page: SVG that stands without any script, and the numbers with which `charts.js` zooms it.

Widths and heights are those of the picture's own coordinates; the card gives it its size on the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array
from .decimated import kept
from .panels import AnyPanel, Panel, Plane, limits_of, quantiles
from .style import color_of

WIDTH, HEIGHT = 460.0, 230.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 12.0, 20.0, 34.0
MOST_PLACES = 2000  # of a path in a plane or in space
DIGITS = 6  # of the numbers on the page
LETTER = 6.0  # width of one, in units of the drawing
SLANT = (np.cos(np.pi / 6), np.sin(np.pi / 6))  # of axes in space, seen along (1, 1, 1)


class Mark(NamedTuple):
    """A line across all charts over time."""

    t: float
    label: str


class Card(NamedTuple):
    """One chart of the page: its words, its picture, its legend [(label, colour, dashed)], its numbers."""

    title: str
    svg: str
    legend: list[tuple[str, str, bool]]
    data: dict[str, Any]


def card(time: Array, panel: AnyPanel, marks: Sequence[Mark] = (), other: tuple[Array, Any] | None = None) -> Card:
    """other: another run's times and panel, dashed."""
    if isinstance(panel, Plane):
        return _plane(time, panel)
    lines = _lines(time, panel)
    if other is not None:
        lines += [line | {"dash": True, "other": True} for line in _lines(*other)]
    low, high = limits_of([np.array(line[key]) for line in lines for key in ("y", "low", "high") if key in line])
    reached = time[[0, -1]] if other is None else np.array([min(time[0], other[0][0]), max(time[-1], other[0][-1])])
    box = (float(reached[0]), float(reached[1]), low, high)
    seen = [mark for mark in marks if box[0] <= mark.t <= box[1]]
    data: dict[str, Any] = {
        "kind": "lines",
        "box": rounded(box),
        "unit": panel.unit,
        "lines": [_told(line) for line in lines],
    }
    data |= {"marks": [[mark.t, mark.label] for mark in seen], "limits": list(panel.limits)}
    what = f"[{panel.unit}]" if panel.unit else ""
    svg = _svg(_axes(box, "time [s]", what) + _levels(panel.limits, box) + _marks(seen, box) + _paths(lines, box))
    legend = [(label, color_of(panel.place(k)), panel.dashes(k)) for k, label in enumerate(panel.labels)]
    return Card(_title(panel), svg, legend, data)


def _title(panel: Panel) -> str:
    return panel.title + (", median and 5 to 95 % of the runs" if panel.values.ndim == 3 else "")


def _lines(time: Array, panel: Panel) -> list[dict[str, Any]]:
    """Each with its colour, its times and values and, of a batch, its band."""
    found = []
    for k in range(panel.values.shape[-1]):
        own = {"y": panel.values[..., k]}
        if panel.values.ndim == 3:
            own = dict(zip(("low", "y", "high"), quantiles(panel.values[..., k]), strict=True))
        at = kept(list(own.values()))
        line = {"color": color_of(panel.place(k)), "dash": panel.dashes(k), "t": time[at]}
        found.append(line | {key: values[at] for key, values in own.items()})
    return found


def rounded(values: Any) -> list[float | None]:
    """Of JSON: few digits, None for what is no number."""
    return [float(f"{x:.{DIGITS}g}") if np.isfinite(x) else None for x in np.asarray(values, dtype=float).ravel()]


def _told(line: dict[str, Any]) -> dict[str, Any]:
    return {key: rounded(x) if isinstance(x, np.ndarray) else x for key, x in line.items()}


# ---- pictures


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between two others; `charts.js` has the same."""
    span = (high - low) / about
    power = 10.0 ** np.floor(np.log10(span))
    step = next(float(k * power) for k in (1, 2, 2.5, 5, 10) if k * power >= span * (1 - 1e-9))
    first = int(np.ceil(low / step - 1e-9))
    return [k * step for k in range(first, int(np.floor(high / step + 1e-9)) + 1)]


def _text(x: float) -> str:
    return f"{x:.5g}".replace("e-0", "e-").replace("e+0", "e")


def _x(t: Any, box: Sequence[float]) -> Any:
    span = box[1] - box[0] or 1.0
    return LEFT + (np.asarray(t) - box[0]) / span * (WIDTH - LEFT - RIGHT)


def _y(y: Any, box: Sequence[float]) -> Any:
    return HEIGHT - BOTTOM - (np.asarray(y) - box[2]) / (box[3] - box[2]) * (HEIGHT - TOP - BOTTOM)


def _svg(content: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img">{content}</svg>'


def axes_with(box: Sequence[float], across: str, up: str, content: str) -> str:
    """A picture of its own: axes, and what stands on them."""
    return _svg(_axes(box, across, up) + content)


def _axes(box: Sequence[float], across: str, up: str) -> str:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = []
    for y in ticks(box[2], box[3]):
        at = _y(y, box)
        parts.append(f'<path class="grid" d="M{LEFT:g} {at:.1f}H{right:g}"/>')
        parts.append(f'<text x="{LEFT - 6:g}" y="{at + 3.5:.1f}" text-anchor="end">{_text(y)}</text>')
    for t in ticks(box[0], box[1]) if box[1] > box[0] else [box[0]]:
        at = _x(t, box)
        parts.append(f'<path class="grid" d="M{at:.1f} {TOP:g}V{bottom:g}"/>')
        parts.append(f'<text x="{at:.1f}" y="{bottom + 14:g}" text-anchor="middle">{_text(t)}</text>')
    parts.append(f'<path class="frame" d="M{LEFT:g} {TOP:g}V{bottom:g}H{right:g}"/>')
    words = f'<text class="dim" x="{right:g}" y="{HEIGHT - 5:g}" text-anchor="end">{escape(across)}</text>'
    words += f'<text class="dim" x="4" y="9">{escape(up)}</text>'
    return f'<g class="axes">{"".join(parts)}</g>{words}'


def _levels(limits: Sequence[float], box: Sequence[float]) -> str:
    """Limits that are in the picture, across it."""
    inside = [y for y in limits if box[2] <= y <= box[3]]
    lines = "".join(f'<path class="limit" d="M{LEFT:g} {_y(y, box):.1f}H{WIDTH - RIGHT:g}"/>' for y in inside)
    return f'<g class="limits">{lines}</g>'


def _marks(marks: Sequence[Mark], box: Sequence[float]) -> str:
    """Each a line with its name; a name that would stand on another is told when pointed at."""
    parts, free = [], 0.0
    for mark in marks:
        at = float(_x(mark.t, box))
        parts.append(
            f'<path class="mark" d="M{at:.1f} {TOP:g}V{HEIGHT - BOTTOM:g}"><title>{escape(mark.label)}</title></path>'
        )
        wide = 5.2 * len(mark.label)
        if at >= free and at + wide < WIDTH:
            parts.append(f'<text class="mark" x="{at + 2:.1f}" y="{TOP - 3:g}">{escape(mark.label)}</text>')
            free = at + wide + 6
    return f'<g class="marks">{"".join(parts)}</g>'


def _paths(lines: Sequence[dict[str, Any]], box: Sequence[float]) -> str:
    bands, drawn = [], []
    for line in lines:
        x = _x(line["t"], box)
        if "low" in line:
            edge = path(np.r_[x, x[::-1]], _y(np.r_[line["low"], line["high"][::-1]], box))
            bands.append(f'<path class="band" fill="{line["color"]}" d="{edge}Z"/>' if edge else "<path/>")
        dash = ' stroke-dasharray="5 3"' if line["dash"] else ""
        drawn.append(f'<path class="line" stroke="{line["color"]}"{dash} d="{path(x, _y(line["y"], box))}"/>')
    return f'<g class="lines">{"".join(bands + drawn)}</g><g class="cursor"></g>'


def path(x: Array, y: Array) -> str:
    """Through the points; broken where a number is missing."""
    seen = np.isfinite(x) & np.isfinite(y)
    begins = seen & ~np.r_[False, seen[:-1]]
    points = zip(x, y, seen, begins, strict=True)
    return "".join(f"{'M' if begin else 'L'}{a:.1f} {b:.1f}" for a, b, there, begin in points if there)


# ---- motion in a plane or in space


def _plane(time: Array, panel: Plane) -> Card:
    at = np.arange(0, len(time), max(1, -(-len(time) // MOST_PLACES)))
    places = panel.values[:, at]
    data: dict[str, Any] = {"kind": "plane" if places.shape[-1] == 2 else "space", "unit": panel.unit}
    data |= {"axes": list(panel.axes), "t": rounded(time[at])}
    colors = [color_of(k) for k in range(len(places))]
    data["lines"] = [
        {"color": color, "p": [rounded(one[:, i]) for i in range(one.shape[-1])]}
        for color, one in zip(colors, places, strict=True)
    ]
    flat = places if places.shape[-1] == 2 else seen_aslant(places)
    words = [f"{name} [{panel.unit}]" for name in panel.axes]
    box = square(flat) if places.shape[-1] == 2 else _with_room(square(flat), flat, words)
    data["box"] = rounded(box)
    dots = "".join(_dot(one, color, box) for one, color in zip(flat, colors, strict=True))
    lines = [{"t": one[:, 0], "y": one[:, 1], "color": c, "dash": False} for one, c in zip(flat, colors, strict=True)]
    axes = _axes(box, words[0], words[1]) if places.shape[-1] == 2 else _triad(box, panel, words)
    legend = [(label, color, False) for label, color in zip(panel.labels, colors, strict=True)]
    return Card(panel.title, _svg(axes + _paths(lines, box) + f'<g class="dots">{dots}</g>'), legend, data)


def seen_aslant(places: Array) -> Array:
    """(..., 3) as seen along (-1, -1, -1), z upwards, (..., 2)."""
    x, y, z = np.moveaxis(places, -1, 0)
    return np.stack([SLANT[0] * (y - x), z - SLANT[1] * (x + y)], axis=-1)


def square(places: Array) -> tuple[float, float, float, float]:
    """A box around points (..., 2) and the origin, in which both axes have one scale."""
    finite = np.vstack([np.zeros((1, 2)), places.reshape(-1, 2)[np.isfinite(places).all(axis=-1).ravel()]])
    low, high = finite.min(axis=0), finite.max(axis=0)
    middle, size = (low + high) / 2, np.maximum(high - low, 1e-9)
    across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    scale = 1.12 * max(size[0] / across, size[1] / up)
    half = np.array([across, up]) * scale / 2
    return (
        float(middle[0] - half[0]),
        float(middle[0] + half[0]),
        float(middle[1] - half[1]),
        float(middle[1] + half[1]),
    )


def _dot(one: Array, color: str, box: Sequence[float]) -> str:
    """Where a member is at the end, a point; a ring where it started."""
    seen = one[np.isfinite(one).all(axis=-1)]
    if not len(seen):
        return ""
    (x0, x1), (y0, y1) = _x(seen[[0, -1], 0], box), _y(seen[[0, -1], 1], box)
    ring = f'<circle cx="{x0:.1f}" cy="{y0:.1f}" r="3.4" fill="none" stroke="{color}"/>'
    return f'{ring}<circle cx="{x1:.1f}" cy="{y1:.1f}" r="3" fill="{color}"/>'


def _axis_length(box: Sequence[float]) -> float:
    """A round number, as long as the picture allows."""
    return float(max(t for t in ticks(0.0, 0.32 * (box[3] - box[2])) if t > 0))


def _with_room(
    box: tuple[float, float, float, float], flat: Array, words: Sequence[str]
) -> tuple[float, float, float, float]:
    """A box in which the axes from the origin, and their names, stand as well."""
    tips = seen_aslant(np.eye(3) * _axis_length(box))
    for _ in range(3):  # more room makes what is written wider
        unit = (box[1] - box[0]) / (WIDTH - LEFT - RIGHT)
        aside = np.array([[-1.0, 1.0, 1.0], [-0.5, -0.5, 0.5]]).T * unit
        aside[:, 0] *= [LETTER * len(word) + 6.0 for word in words]
        aside[:, 1] *= 2 * LETTER
        box = square(np.concatenate([flat.reshape(-1, 2), tips + aside]))
    return box


def _triad(box: Sequence[float], panel: Plane, words: Sequence[str]) -> str:
    """The three axes from the origin."""
    length = _axis_length(box)
    parts = []
    for end, word in zip(np.eye(3) * length, words, strict=True):
        tip = seen_aslant(end)
        x0, x1 = _x([0.0, tip[0]], box)
        y0, y1 = _y([0.0, tip[1]], box)
        parts.append(f'<path class="frame" d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"/>')
        wide = LETTER * len(word)
        left = x1 - wide > 0 if x1 < x0 - 1 else x1 + wide > WIDTH  # as the axis points, where there is room
        anchor, aside = ("end", -3) if left else ("start", 3)
        parts.append(f'<text x="{x1 + aside:.1f}" y="{y1:.1f}" text-anchor="{anchor}">{escape(word)}</text>')
    told = f'<text class="dim" x="4" y="{HEIGHT - 5:g}">axes {_text(length)} {escape(panel.unit)} long</text>'
    return f'<g class="axes">{"".join(parts)}</g>{told}'
