"""A servicing spacecraft with a six-joint arm: tables 5 and 6 of Wilde, Kwok Choon, Grompone, Romano (2018).

The paper leaves the arm's mount open: here joint 1 sits at x = 1.75 m on the base, its axis along the base's +x (the
choice that fits the motions it describes).
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
GOLD, SILVER, DARK, CELLS = (
    (0.85, 0.7, 0.3, 1.0),
    (0.75, 0.77, 0.8, 1.0),
    (0.25, 0.27, 0.32, 1.0),
    (0.12, 0.2, 0.5, 1.0),
)
ALONG_X = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # turns a cylinder's z to x
ALONG_Y = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # ... to y


def servicer() -> Spacecraft:
    """The servicer: base of 1700 kg, links of 2 x 2.5 m and a wrist; end-effector frame "tool"."""
    base = Body(
        "base", 1700.0, inertia=np.array([1434.0, 1434.0, 1735.0]), joint=Joint("base", "free"), shapes=tuple(_bus())
    )
    links = [
        DHLink(d, alpha, half, half, mass=mass, inertia=inertia, shapes=_link(d, half, last=i == len(MASS) - 1))
        for i, (d, alpha, half, mass, inertia) in enumerate(zip(D, ALPHA, HALF, MASS, INERTIA, strict=True))
    ]
    return Spacecraft.from_dh(
        "servicer",
        base,
        links,
        convention="wilde",
        mount_position=(1.75, 0.0, 0.0),
        mount_rotation=rotation_about(np.array([0.0, 1.0, 0.0]), pi / 2),
    )


# ---- its look; the paper gives the bus's length alone


def _bus() -> list[Shape]:
    """Hull, engine, antenna, and two wings of three panels."""
    shapes = [
        Shape("box", (3.5, 2.0, 2.0), color=GOLD),
        Shape("cylinder", (0.16, 0.04), (1.76, 0.0, 0.0), ALONG_X, DARK),
        Shape("cylinder", (0.4, 0.4), (-1.95, 0.0, 0.0), ALONG_X, DARK),
        Shape("cylinder", (0.04, 0.5), (-0.9, 0.0, 1.25), color=SILVER),
        Shape("cylinder", (0.55, 0.06), (-0.9, 0.0, 1.5), color=SILVER),
    ]
    for side in (-1.0, 1.0):
        shapes.append(Shape("cylinder", (0.05, 0.6), (0.0, side * 1.3, 0.0), ALONG_Y, SILVER))
        shapes += [Shape("box", (1.9, 1.45, 0.05), (0.0, side * (2.325 + 1.5 * k), 0.0), color=CELLS) for k in range(3)]
    return shapes


def _link(d: float, half: float, *, last: bool) -> tuple[Shape, ...]:
    """A tube along the link (along x from the joint to the next, or, for the first link, along z),
    its motor, and fingers.
    """
    length, position, R = (d, (0.0, 0.0, d / 2), np.eye(3)) if d else (2 * half, (half, 0.0, 0.0), ALONG_X)
    tube = Shape("cylinder", (RADIUS, length), position, R, SILVER)
    motor = Shape("cylinder", (0.09, 0.2), color=DARK)
    fingers = [Shape("box", (0.2, 0.03, 0.08), (2 * half + 0.02, side * 0.06, 0.0), color=DARK) for side in (-1.0, 1.0)]
    return (tube, motor, *fingers) if last else (tube, motor)
