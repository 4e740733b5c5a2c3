"""What the plumes of thrusters do to plates of the craft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, cross, maximum, sqrt, transform_point, where
from ..environment.shade import edges
from ..environment.surfaces import Plate, facing
from ..kinematics import inertial_poses, jacobian
from ..model import Spacecraft, Thruster


@dataclass(frozen=True, eq=False)
class Plumes:
    """Plates that plumes hit. The momentum of a plume that leaves with the thrust f falls off from its axis by

        f (n + 2)/(2 pi) cos^n(angle)   N per steradian, up to a right angle                                      (1)

    so that its part along the axis is f. A plate takes up what its `accommodation` (normal, tangential) says, all of it
    by default, and what leaves it leaves at `leaving` of that speed:

        df = (1) cos(b) dA / r^2 [s_t u - ((2 - s_n - s_t) cos(b) + s_n leaving) n],  cos(b) = -u.n               (2)

    u: from the nozzle to the plate. tiles: along each edge of a plate, taken as a square, over which (2) is summed. No
    plate keeps a plume from another. spread: n, larger for a narrower plume.
    """

    plates: Sequence[Plate]
    spread: float = 8.0
    tiles: int = 4

    def __post_init__(self) -> None:
        object.__setattr__(self, "plates", tuple(self.plates))
        if not self.plates or not self.spread >= 0 or self.tiles < 1:
            raise ValueError(
                f"plumes: {len(self.plates)} plates, spread {self.spread}, tiles {self.tiles}; expected one plate at "
                "least, a spread not below 0 and whole tiles."
            )

    def check(self, craft: Spacecraft) -> None:
        for plate in self.plates:
            craft.body(plate.body)

    def load(self, craft: Spacecraft, q: Array, thruster: Thruster) -> Array:
        """Generalised force (nv,) on all plates for each newton of thrust."""
        X = inertial_poses(craft, q)
        nozzle, axis = transform_point(X[thruster.body], thruster.position), -(X[thruster.body].R @ thruster.direction)
        total: Any = np.zeros(craft.nv)
        for plate in self.plates:
            R = X[plate.body].R
            force, torque = self._on(plate, R.T @ (nozzle - X[plate.body].p), R.T @ axis)
            J = jacobian(craft, q, plate.body)
            total = total + J[3:].T @ (R @ force) + J[:3].T @ (R @ torque)
        return total

    def _on(self, plate: Plate, nozzle: Array, axis: Array) -> tuple[Array, Array]:
        """Force and torque about Bo on a plate, all in its body's axes."""
        s_n, s_t = plate.accommodation or (1.0, 1.0)
        leaving = plate.leaving if plate.accommodation is not None else 0.0
        x, y = edges(plate)
        steps = ((np.arange(self.tiles) + 0.5) / self.tiles - 0.5) * np.sqrt(plate.area)
        area = plate.area / self.tiles**2
        force: Any = np.zeros(3)
        torque: Any = np.zeros(3)
        for place in (plate.center + a * x + b * y for a in steps for b in steps):
            away = place - nozzle
            r2 = away @ away + 1e-12  # a nozzle in the plate itself
            u = away / sqrt(r2)
            cosine, n = facing(plate, -u)
            ahead = maximum(axis @ u, 0.0)
            fallen = where(ahead > 0.0, maximum(ahead, 1e-12) ** self.spread, 0.0)
            flux = (self.spread + 2.0) / (2.0 * np.pi) * fallen / r2
            push = flux * area * cosine * (s_t * u - ((2.0 - s_n - s_t) * cosine + s_n * leaving) * n)
            force, torque = force + push, torque + cross(place, push)
        return force, torque
