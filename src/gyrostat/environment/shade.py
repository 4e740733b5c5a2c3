"""What a craft's own bodies keep from its plates: sunlight, the light of the planet, the stream of air."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, Pose, transform_point
from ..kinematics.line_of_sight import clear_view
from ..model import Spacecraft
from .surfaces import Plate, Surface

REACH = 200.0  # m: nothing of a craft is farther away from its plates
ABOVE = 1e-6  # of a plate's edge: rays begin that far above it, outside the body that carries it


@dataclass(frozen=True)
class Shade:
    """The shapes (boxes, spheres, cylinders) of these bodies stand before plates.

    rays: along each edge of a plate, taken as a square about its centre; rays^2 of them say which part of it is
    reached. Each ray is either stopped or not, so forces step by 1/rays^2 of the plate's.
    """

    bodies: tuple[str, ...]
    rays: int = 3

    def __post_init__(self) -> None:
        if not self.bodies or self.rays < 1:
            raise ValueError(f"shade: bodies {self.bodies}, rays {self.rays}; expected bodies' names, 1 at least.")

    def checked(self, craft: Spacecraft) -> None:
        """Raise where nothing could cast a shadow."""
        for name in self.bodies:
            if not craft.body(name).shapes:
                raise ValueError(
                    f"shade: body '{name}' of {craft.name} has no shapes. Give it a gs.Shape, or leave it out."
                )

    def reached(self, craft: Spacecraft, q: Array, X_NB: Pose, surface: Surface, towards_B: Array, n_B: Array) -> Any:
        """Part of a surface that is reached from a direction; n_B: of the side that is hit. A sphere is one ray, which
        its own body does not stop.
        """
        from_N = X_NB.R @ towards_B
        bodies = [name for name in self.bodies if isinstance(surface, Plate) or name != surface.body]
        parts = []
        for point in _points(surface, self.rays):
            start = point + ABOVE * np.sqrt(surface.area) * n_B
            a_N = transform_point(X_NB, start)
            parts.append(clear_view(craft, q, a_N, a_N + REACH * from_N, bodies))
        return sum(parts) / len(parts)


def _points(surface: Surface, rays: int) -> list[Array]:
    if not isinstance(surface, Plate):
        return [surface.center]
    x, y = edges(surface)
    steps = ((np.arange(rays) + 0.5) / rays - 0.5) * np.sqrt(surface.area)
    return [surface.center + a * x + b * y for a in steps for b in steps]


def edges(plate: Plate) -> tuple[Array, Array]:
    """Of the square that a plate is taken for: along the body axes where its normal is along one."""
    least = np.eye(3)[int(np.argmin(np.abs(plate.normal)))]
    x = np.cross(least, plate.normal)
    x = x / np.linalg.norm(x)
    return x, np.cross(plate.normal, x)


def named(shade: Any) -> Shade | None:
    """A Shade of bodies' names."""
    if shade is None or isinstance(shade, Shade):
        return shade
    return Shade((shade,) if isinstance(shade, str) else tuple(shade))


def wanted(shade: Shade | None, craft: Spacecraft, surfaces: Sequence[Surface]) -> None:
    """Raise if a surface is on no body, or on one that bends under it, or nothing casts a shadow."""
    for surface in surfaces:
        craft.body(surface.body)
        flexible = craft.flexible(surface.body)
        if flexible is not None:
            node = f"{flexible.name}.{flexible.nodes[-1].name}"
            raise ValueError(
                f"a surface is on flexible body '{flexible.name}', where nothing says how it moves as the body bends. "
                f'Give surfaces of its nodes that carry a frame: \'{node}\', say, beside gs.Frame("panel", "{node}").'
            )
    if shade is not None:
        shade.checked(craft)


def suits(shade: Shade | None, surfaces: Sequence[Surface], further: Any = None) -> Any:
    """A check of an environment that acts on these, before a run; further: another beside it."""

    def check(craft: Spacecraft, t: float, q: Array) -> None:
        wanted(shade, craft, surfaces)
        if further is not None:
            further(craft, t, q)

    return check
