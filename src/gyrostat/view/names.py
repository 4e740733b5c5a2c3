"""Names and markers of several spacecraft: as large at any zoom, each in its colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array
from ..model import Spacecraft
from ..simulation.result.figures import base_name, bound_bases, free_bases
from .stage import Stage, node, trails
from .style import color_of

if TYPE_CHECKING:
    from ..simulation import Trajectory
    from .scene import Film

Color = tuple[float, float, float]
PIXELS = 11.0  # of a marker


def members_of(trajectory: Trajectory) -> dict[str, str]:
    """Base by name, where there are several spacecraft; nothing for one."""
    found = {base_name(trajectory, body): body.name for body in (*free_bases(trajectory), *bound_bases(trajectory))}
    return found if len(found) > 1 else {}


def color_at(k: int) -> Color:
    """Of member k, as parts of one."""
    text = color_of(k).lstrip("#")
    return (int(text[:2], 16) / 255, int(text[2:4], 16) / 255, int(text[4:], 16) / 255)


class Names:
    """A label and a marker at each base; `place` moves them. Labels are moved by themselves: one that hangs on a node
    lags behind it.
    """

    def __init__(self, stage: Stage, members: dict[str, str]) -> None:
        self._rows = [stage.craft.index(base) for base in members.values() for _ in range(2)]
        self._handles: list[Any] = []
        scene, tiny = stage.server.scene, 1e-4 * stage.size
        dot = np.array([[[0.0, 0.0, -tiny], [0.0, 0.0, tiny]]])
        for k, name in enumerate(members):
            color = np.array([int(255 * x) for x in color_at(k)], dtype=np.uint8)
            marker = scene.add_line_segments(
                f"/names/{node(name)} marker", dot, color, thickness=PIXELS, thickness_units="screen"
            )
            self._handles += [marker, scene.add_label(f"/names/{node(name)}", name, anchor="bottom-left")]

    def place(self, p: Array) -> None:
        """(nbodies, 3)."""
        for handle, row in zip(self._handles, self._rows, strict=True):
            handle.position = p[row]


def visible_trails(
    craft: Spacecraft, shown: Film, size: float, members: dict[str, str] | None = None
) -> list[tuple[str, tuple[float, float, float], Array]]:
    """Those long enough to be seen: of bases by the names of their craft, and of points at the ends of trees."""
    found = [(name, color_at(k), shown.p_NB[:, craft.index(b)]) for k, (name, b) in enumerate((members or {}).items())]
    bases = set((members or {}).values())
    ends = [(name, color, shown.trails[name]) for name, color in trails(craft) if name not in bases]
    return [x for x in found + ends if np.ptp(x[2], axis=0).max() > 0.03 * size]
