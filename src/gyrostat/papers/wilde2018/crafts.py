"""The spacecraft of Wilde et al.

(2018): a planar four-link arm (tables 3, 4) and a spatial six-link one (tables 5, 6) on a base.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...algebra import Array, rotation_from_rpy
from ...formulations.generalized_jacobian.arm import Arm, arm_from_table
from ...model import Body, DHLink, Spacecraft


class Table(NamedTuple):
    """Base, links and mount: arguments of `Spacecraft.from_dh`."""

    name: str
    base: Body
    links: list[DHLink]
    mount_position: tuple[float, float, float]
    mount_rotation: Array

    @property
    def craft(self) -> Spacecraft:
        mount, turn = self.mount_position, self.mount_rotation
        return Spacecraft.from_dh(self.name, self.base, self.links, mount_position=mount, mount_rotation=turn)

    @property
    def arm(self) -> Arm:
        """The same in the paper's own description."""
        return arm_from_table(
            self.base, self.links, mount_position=self.mount_position, mount_rotation=self.mount_rotation
        )


def planar_table() -> Table:
    """Tables 3 and 4."""
    base = Body("base", 10.0, inertia=np.diag([0.5667, 0.5667, 0.0667]))
    link = DHLink(a=0.2, b=0.2, mass=2.0, inertia=(0.0065, 0.0321, 0.0277))
    return Table("wilde_planar", base, [link] * 4, (0.1, 0.0, 0.0), np.eye(3))


def spatial_table() -> Table:
    """Tables 5 and 6."""
    base = Body("base", 1700.0, inertia=np.diag([1434.0, 1434.0, 1735.0]))
    quarter = np.pi / 2
    rows = [
        (0.25, quarter, 0.0, 5.0, (0.0292, 0.0292, 0.0063)),
        (0.0, 0.0, 1.25, 50.0, (0.0625, 26.1, 26.1)),
        (0.0, 0.0, 1.25, 50.0, (0.0625, 26.1, 26.1)),
        (0.0, -quarter, 0.25, 10.0, (0.0125, 0.215, 0.215)),
        (0.0, 0.0, 0.125, 5.0, (0.0063, 0.0292, 0.0292)),
        (0.0, 0.0, 0.125, 5.0, (0.0063, 0.0292, 0.0292)),
    ]
    links = [DHLink(d=d, alpha=alpha, a=a, b=a, mass=mass, inertia=inertia) for d, alpha, a, mass, inertia in rows]
    return Table("wilde_spatial", base, links, (1.75, 0.0, 0.0), rotation_from_rpy(np.array([0.0, quarter, 0.0])))


TABLES: dict[str, Callable[[], Table]] = {"planar": planar_table, "spatial": spatial_table}


def planar_craft() -> Spacecraft:
    """The four-link arm on its base."""
    return planar_table().craft


def spatial_craft() -> Spacecraft:
    """The six-link arm on its base."""
    return spatial_table().craft
