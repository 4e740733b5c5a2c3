"""`Trajectory.show`: the scene itself in a notebook's cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from .scene import scene_html

if TYPE_CHECKING:
    from ..simulation import Trajectory


@dataclass(frozen=True)
class Shown:
    """A page in a notebook's cell, or whatever else shows `_repr_html_`."""

    page: str = field(repr=False)
    height: int = 520

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self.height}px;border:0"
        return f'<iframe style="{style}" srcdoc="{escape(self.page, quote=True)}"></iframe>'


def show(trajectory: Trajectory, *, height: int = 520, **options: Any) -> Shown:
    """The scene; options as `scene_html` takes them."""
    return Shown(scene_html(trajectory, **options), height)
