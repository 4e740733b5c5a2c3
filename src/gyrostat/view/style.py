"""How plots look: one palette, and SVG whose ink follows the page it stands on, light or dark."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Twenty that differ on a light page and on a dark one, each from all others by 22 in CIE Lab at least
PALETTE = (
    "#3b82f6", "#f97316", "#10b981", "#a855f7", "#ef4444", "#06b6d4", "#ec4899", "#ca8a04", "#84cc16", "#6366f1",
    "#735450", "#cc98d9", "#62731d", "#f29d79", "#465b8c", "#f200da", "#007367", "#b2b22d", "#008c1c", "#a0b298",
)  # fmt: skip
INK, FAINT = "#010203", "#040506"  # stand for the page's own colours in SVG


def color_of(k: int) -> str:
    """Of the series with this number."""
    return PALETTE[k % len(PALETTE)]


def _settings(ink: str, faint: str) -> dict[str, Any]:
    from cycler import cycler

    return {
        "axes.prop_cycle": cycler(color=PALETTE),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.titlesize": 10.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.labelsize": 9,
        "axes.edgecolor": ink,
        "axes.labelcolor": ink,
        "axes.facecolor": "none",
        "figure.facecolor": "none" if ink == INK else "white",
        "savefig.facecolor": "none" if ink == INK else "white",
        "grid.color": faint,
        "grid.linewidth": 0.6,
        "legend.fontsize": 8,
        "legend.frameon": False,
        "lines.linewidth": 1.5,
        "text.color": ink,
        "text.parse_math": False,  # a joint may be called $x$
        "xtick.color": ink,
        "ytick.color": ink,
        "xtick.labelsize": 8.5,
        "ytick.labelsize": 8.5,
        "axes.formatter.useoffset": False,
        "axes.formatter.limits": (-4, 5),
        "svg.fonttype": "none",
        "svg.hashsalt": "gyrostat",
        "font.family": "sans-serif",
    }


@contextmanager
def figure_style(*, adaptive: bool = False) -> Iterator[None]:
    """matplotlib's settings, restored afterwards. adaptive: ink that `adaptive_svg` turns into the page's."""
    import matplotlib as mpl

    settings: Any = _settings(INK, FAINT) if adaptive else _settings("#1f2933", "#e1e5ea")
    with mpl.rc_context(settings):
        yield


def adaptive_svg(figure: Figure) -> str:
    """The figure as an <svg> element that scales with the page and takes its colours from CSS variables."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    return svg.replace(INK, "var(--ink)").replace(FAINT, "var(--grid)")
