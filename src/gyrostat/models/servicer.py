"""A servicing spacecraft with a six-joint arm: tables 5 and 6 of Wilde, Kwok Choon, Grompone, Romano (2018).

The paper leaves the arm's mount open: here joint 1 sits at x = 1.75 m on the base, its axis along the base's +x (the choice that
fits the motions it describes).
"""

from __future__ import annotations

from math import pi

import numpy as np

from ..algebra import rotation_about
from ..model import Body, DHLink, Joint, Shape, Spacecraft

MASS = (5.0, 50.0, 50.0, 10.0, 5.0, 5.0)  # kg
INERTIA = (  # kg m^2, principal, in the link frames
    (0.0292, 0.0292, 0.0063),
    (0.0625, 26.1, 26.1),
    (0.0625, 26.1, 26.1),
    (0.0125, 0.215, 0.215),
    (0.0063, 0.0292, 0.0292),
    (0.0063, 0.0292, 0.0292),
)
D = (0.25, 0.0, 0.0, 0.0, 0.0, 0.0)  # m
ALPHA = (pi / 2, 0.0, 0.0, -pi / 2, 0.0, 0.0)  # rad
HALF = (0.0, 1.25, 1.25, 0.25, 0.125, 0.125)  # m: joint to centre of mass (a), centre of mass to next joint (b)
RADIUS = 0.05  # m, of the links: the cylinders that have the moments above
GOLD, SILVER = (0.85, 0.7, 0.3, 1.0), (0.75, 0.77, 0.8, 1.0)


def servicer() -> Spacecraft:
    """The servicer: base of 1700 kg, links of 2 x 2.5 m and a wrist; end-effector frame "tool"."""
    hull = Shape("box", (3.5, 2.0, 2.0), color=GOLD)  # the paper gives its length alone
    base = Body("base", 1700.0, inertia=np.array([1434.0, 1434.0, 1735.0]), joint=Joint("base", "free"), shapes=(hull,))
    links = [
        DHLink(d, alpha, half, half, mass=mass, inertia=inertia, shapes=(_tube(d, half),))
        for d, alpha, half, mass, inertia in zip(D, ALPHA, HALF, MASS, INERTIA, strict=True)
    ]
    return Spacecraft.from_dh(
        "servicer",
        base,
        links,
        convention="wilde",
        mount_position=(1.75, 0.0, 0.0),
        mount_rotation=rotation_about(np.array([0.0, 1.0, 0.0]), pi / 2),
    )


def _tube(d: float, half: float) -> Shape:
    """A cylinder along the link: along x from the joint to the next, or, for the first link, along z."""
    along_x = rotation_about(np.array([0.0, 1.0, 0.0]), pi / 2)
    length, position, R = (d, (0.0, 0.0, d / 2), np.eye(3)) if d else (2 * half, (half, 0.0, 0.0), along_x)
    return Shape("cylinder", (RADIUS, length), position, np.where(np.abs(R) < 1e-15, 0.0, R), SILVER)
