"""A servicing spacecraft with a six-joint arm: tables 5 and 6 of Wilde, Kwok Choon, Grompone, Romano (2018).

The paper leaves the arm's mount open: here joint 1 sits at x = 1.75 m on the base, its axis along the base's +x (the choice that
fits the motions it describes).
"""

from __future__ import annotations

from math import pi

import numpy as np

from ..algebra import rotation_about
from ..model import Body, DHLink, Joint, Spacecraft

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


def servicer() -> Spacecraft:
    """The servicer: base of 1700 kg, links of 2 x 2.5 m and a wrist; end-effector frame "tool"."""
    base = Body("base", 1700.0, inertia=np.array([1434.0, 1434.0, 1735.0]), joint=Joint("base", "free"))
    links = [
        DHLink(d, alpha, half, half, mass=mass, inertia=inertia)
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
