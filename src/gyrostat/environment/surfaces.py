"""Flat plates and spheres on bodies: what air and sunlight push on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, absolute, maximum, where


@dataclass(frozen=True, eq=False)
class Plate:
    """A flat plate on a body. normal, center: in B. Only the side that the normal points from feels anything; a panel
    is two plates, or `both_sides`. drag: coefficient.
    specular, diffuse: reflected parts of the light; the rest is absorbed.
    accommodation: (normal, tangential), in place of the coefficient: parts of the air's momentum that the plate takes
    up, 1 where molecules leave it diffusely, 0 where they bounce; less than 1 gives lift. leaving: mean speed of the
    molecules that leave diffusely, as part of that at which they came.
    """

    body: str
    area: float
    normal: Any
    center: Any = (0.0, 0.0, 0.0)
    drag: float = 2.2
    specular: float = 0.1
    diffuse: float = 0.1
    both_sides: bool = False
    accommodation: Any = None
    leaving: float = 0.05

    def __post_init__(self) -> None:
        normal = np.asarray(self.normal, dtype=float)
        if normal.shape != (3,) or not normal.any():
            raise ValueError(f"plate on '{self.body}': normal {self.normal} is no direction; expected three numbers.")
        object.__setattr__(self, "normal", normal / np.linalg.norm(normal))
        object.__setattr__(self, "center", np.asarray(self.center, dtype=float))
        if not self.area >= 0 or self.specular < 0 or self.diffuse < 0 or self.specular + self.diffuse > 1:
            raise ValueError(
                f"plate on '{self.body}': area {self.area}, reflected {self.specular} + {self.diffuse}; expected an "
                "area in m^2, and parts between 0 and 1 that do not add up to more."
            )
        given = self.accommodation
        if given is not None and (len(given) != 2 or not all(0 <= part <= 1 for part in given)):
            raise ValueError(
                f"plate on '{self.body}': accommodation is {given}; expected (normal, tangential), both from 0 to 1."
            )
        if not 0 <= self.leaving <= 1:
            raise ValueError(f"plate on '{self.body}': leaving is {self.leaving}; expected a part, from 0 to 1.")


@dataclass(frozen=True, eq=False)
class Sphere:
    """A sphere of cross-section `area`, or a body that tumbles like one. drag, and reflection:
    coefficients (1: absorbs, 2: mirrors).
    """

    body: str
    area: float
    center: Any = (0.0, 0.0, 0.0)
    drag: float = 2.2
    reflection: float = 1.3

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", np.asarray(self.center, dtype=float))


Surface = Plate | Sphere


def box_plates(body: str, size: Any, center: Any = (0.0, 0.0, 0.0), **coefficients: float) -> tuple[Plate, ...]:
    """The six faces of a box with edges `size` along B's axes."""
    size, center = np.asarray(size, dtype=float), np.asarray(center, dtype=float)
    plates = []
    for axis in range(3):
        for side in (1.0, -1.0):
            normal = side * np.eye(3)[axis]
            area = float(np.prod(np.delete(size, axis)))
            middle = center + normal * size[axis] / 2
            plates.append(Plate(body, area, normal, middle, **coefficients))  # type: ignore[arg-type]
    return tuple(plates)


def facing(plate: Plate, towards_B: Array) -> tuple[Any, Array]:
    """Cosine of the angle to a unit vector, zero for the far side,
    and the normal of the side that is hit, both in B.
    """
    cosine = plate.normal @ towards_B
    if plate.both_sides:
        return absolute(cosine), where(cosine < 0.0, -1.0, 1.0) * plate.normal
    return maximum(cosine, 0.0), plate.normal
