"""The spacecraft and torques of Valverde & Tsiotras (2018): section 4 and the appendix.

The paper gives masses, inertias, offsets and torques,
but neither the orientation of the frames nor the initial angles, so variants:

    A    joint 2 turned by +90 degrees about x: a shoulder; links 2 and 3 stick out sideways      (our assumption)
    B    all axes parallel
    C    joint 2 turned by -90 degrees about x

all at rest with zero angles, the base in the inertial frame.
Three sine pulses turn the joints; nothing acts from outside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import Array, rotation_about, sin, where
from ...model import Body, Frame, Joint, Spacecraft

VARIANTS = {"A": 90.0, "B": 0.0, "C": -90.0}  # degrees that joint 2 is turned about x
PULSES = ((2.0, 5.0), (10.0, 12.0), (20.0, 22.0))  # of joints 1, 2, 3, in s
END = 70.0


def spacecraft(variant: str = "A") -> Spacecraft:
    """Figure 3 without the end effector: a base and three links in series, section 4."""
    if variant not in VARIANTS:
        raise ValueError(f"variant '{variant}' is not known; expected one of {', '.join(VARIANTS)}.")
    tilt = rotation_about(np.array([1.0, 0.0, 0.0]), np.radians(VARIANTS[variant]))
    joint_1 = Joint("joint_1", "revolute", "base", _xyz(0, 0, 2))
    joint_2 = Joint("joint_2", "revolute", "link_1", _xyz(0, 0, 3), tilt)
    joint_3 = Joint("joint_3", "revolute", "link_2", _xyz(3, 0, 0))
    return Spacecraft.build(
        f"valverde2018 {variant}",
        [
            Body("base", 10.0, inertia=_xyz(50, 50, 50)),
            Body("link_1", 5.0, _xyz(0, 0, 1.5), _xyz(2, 2, 1), joint_1),
            Body("link_2", 5.0, _xyz(1.5, 0, 0), _xyz(1, 2, 2), joint_2),
            Body("link_3", 5.0, _xyz(1.5, 0, 0), _xyz(1, 2, 2), joint_3),
        ],
        frames=[Frame("end_effector", "link_3", _xyz(3, 0, 0))],
    )


def two_arms() -> Spacecraft:
    """The appendix's layout: two arms of five links, three joint types each (figures 7, 8).
    Mass data are OURS: the paper has none.

    Arm 1: R, R, P, R, S. Arm 2: R, R, C, R, S, mirrored.
    """
    bodies = [Body("base", 100.0, inertia=_xyz(60, 70, 80))]
    for arm, side, kinds in ((1, 1.0, "RRPRS"), (2, -1.0, "RRCRS")):
        parent, at = "base", _xyz(0, 0.8 * side, 0.5)
        for k, letter in enumerate(kinds, start=1):
            kind = {"R": "revolute", "P": "prismatic", "C": "cylindrical", "S": "spherical"}[letter]
            axis = _xyz(0, 0, 1) if k in (1, 4) else _xyz(1, 0, 0) if k == 2 else _xyz(0, side, 0)
            joint = Joint(f"arm_{arm}_joint_{k}", kind, parent, at, axis=axis)
            length = 0.4 if k < 5 else 0.15
            mass = 6.0 - k
            across = mass * length**2 / 12 + 0.01
            inertia = _xyz(across, across, 0.01) if k == 1 else _xyz(across, 0.01, across)
            along = _xyz(0, 0, length) if k == 1 else _xyz(0, side * length, 0)
            bodies.append(Body(f"arm_{arm}_link_{k}", mass, 0.5 * along, inertia, joint))
            parent, at = f"arm_{arm}_link_{k}", along
    ends = [Frame(f"end_effector_{arm}", f"arm_{arm}_link_5", _xyz(0, 0.15 * s, 0)) for arm, s in ((1, 1), (2, -1))]
    return Spacecraft.build("valverde2018 two arms", bodies, frames=ends)


def torques(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
    """tau (9,) of (77), (78), in N m: 0.5 sin(t - start) while a joint's pulse lasts."""
    pulses = [where(t < start, 0.0, where(t < stop, 0.5 * sin(t - start), 0.0)) for start, stop in PULSES]
    return np.concatenate([np.zeros(6), np.array(pulses)])


def _xyz(x: float, y: float, z: float) -> Array:
    return np.array([x, y, z], dtype=float)
