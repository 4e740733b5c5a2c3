"""A small servicing spacecraft with a redundant seven-joint arm, four reaction wheels and twelve thrusters.

Made up for gyrostat, of usual proportions: 300 kg of bus, 42 kg of arm, 2.2 m of reach. Seven joints leave a
four-dimensional reaction null space: the arm can move without turning the base.
"""

from __future__ import annotations

import numpy as np

from ..algebra import Array
from ..control.wheels import wheel_pyramid
from ..model import Body, Frame, Joint, Limits, Shape, Spacecraft, Thruster

GOLD, SILVER, DARK, CELLS = (
    (0.85, 0.7, 0.3, 1.0),
    (0.75, 0.77, 0.8, 1.0),
    (0.25, 0.27, 0.32, 1.0),
    (0.12, 0.2, 0.5, 1.0),
)
ALONG_X = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))  # turns a cylinder's z to x
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
MOUNT = (0.6, 0.0, 0.4)  # m, of the first joint on the bus
LINKS = (  # axis of the joint, length along x to the next one in m, mass in kg
    ("shoulder_yaw", Z, 0.15, 5.0),
    ("shoulder_pitch", Y, 0.30, 7.0),
    ("upper_arm_roll", X, 0.55, 9.0),
    ("elbow_pitch", Y, 0.30, 7.0),
    ("forearm_roll", X, 0.50, 7.0),
    ("wrist_pitch", Y, 0.20, 4.0),
    ("wrist_roll", X, 0.20, 3.0),
)
RADIUS = 0.06  # m, of the links, as thick rods
MAX_THRUST = 10.0  # N
ISP = 220.0  # s


def servicer7() -> Spacecraft:
    """The craft, with the end-effector frame "tool", wheels "wheel_1".."wheel_4" and thrusters
    "+x at +y" and the like.
    """
    bodies = [
        Body("bus", 300.0, (0.0, 0.0, 0.0), (55.0, 50.0, 60.0), Joint("base", "free"), _look_of_bus()),
    ]
    parent, position = "bus", MOUNT
    for name, axis, length, mass in LINKS:
        limits = Limits(velocity=0.5, effort=60.0)
        joint = Joint(name, "revolute", parent, position, axis=axis, limits=limits)
        bodies.append(
            Body(f"{name}_link", mass, (length / 2, 0.0, 0.0), _rod(mass, length), joint, _look_of_link(length))
        )
        parent, position = f"{name}_link", (length, 0.0, 0.0)
    bodies += wheel_pyramid("bus", 0.08, max_torque=0.5, max_speed=600.0)
    return Spacecraft.build(
        "servicer7", bodies, frames=[Frame("tool", parent, position)], thrusters=thrusters_in_pairs()
    )


def elbow_up(craft: Spacecraft) -> Array:
    """q with the base at the origin and the arm bent, away from singularities.

    (nq,).
    """
    angles = {
        "shoulder_pitch": -0.9,
        "upper_arm_roll": 0.3,
        "elbow_pitch": 1.6,
        "forearm_roll": -0.2,
        "wrist_pitch": 0.8,
    }
    q = np.zeros(craft.nq)
    q[0] = 1.0
    for name, angle in angles.items():
        q[craft.joint_named(name).q_at] = angle
    return q


def thrusters_in_pairs(body: str = "bus", lever: float = 0.7, max_thrust: float = MAX_THRUST) -> tuple[Thruster, ...]:
    """Twelve: along +-x at y = +-lever, along +-y at z = +-lever, along +-z at x = +-lever.

    Any wrench is a sum of theirs.
    """
    thrusters = []
    for k, (axis, across) in enumerate((("x", "y"), ("y", "z"), ("z", "x"))):
        for sign in (1.0, -1.0):
            for side in (1.0, -1.0):
                position, direction = np.zeros(3), np.zeros(3)
                direction[k], position[(k + 1) % 3] = sign, side * lever
                name = f"{'+' if sign > 0 else '-'}{axis} at {'+' if side > 0 else '-'}{across}"
                thrusters.append(Thruster(name, body, position, direction, max_thrust, specific_impulse=ISP))
    return tuple(thrusters)


def _rod(mass: float, length: float) -> tuple[float, float, float]:
    """Principal moments of a cylinder along x."""
    across = mass * (3 * RADIUS**2 + length**2) / 12
    return (mass * RADIUS**2 / 2, across, across)


def _look_of_bus() -> tuple[Shape, ...]:
    wings = [Shape("box", (0.8, 1.6, 0.03), (0.0, side * 1.5, 0.0), color=CELLS) for side in (-1.0, 1.0)]
    return (Shape("box", (1.2, 1.2, 1.2), color=GOLD), *wings)


def _look_of_link(length: float) -> tuple[Shape, ...]:
    tube = Shape("cylinder", (RADIUS, length), (length / 2, 0.0, 0.0), ALONG_X, SILVER)
    return (tube, Shape("sphere", (1.2 * RADIUS,), color=DARK))
