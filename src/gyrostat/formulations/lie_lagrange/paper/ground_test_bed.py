"""The equivalent manipulator as hardware for the ground: its ball joint made of three gimbals, ready to be saved as
URDF.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....algebra import Array, cos, rotation, rpy_from_rotation, sin
from ....model import Body, Joint, Spacecraft
from ..equivalent_manipulator import State, equivalent_manipulator, equivalent_state

GIMBALS = (("yaw", (0.0, 0.0, 1.0)), ("pitch", (0.0, 1.0, 0.0)), ("roll", (1.0, 0.0, 0.0)))


def ground_test_bed(craft: Spacecraft) -> Spacecraft:
    """The craft's equivalent manipulator on the link "world", with massless yaw, pitch and roll gimbals for a ball
    joint.

    Only revolute and prismatic joints remain, as URDF needs: `gs.save(ground_test_bed(craft), "test_bed.urdf")`, and
    back with `gs.load("test_bed.urdf", base="fixed")`. Gimbals lock at pitch = +-90 degrees, which the ball joint does
    not; gravity must be balanced out at each link.
    """
    manipulator = equivalent_manipulator(craft)
    base, *links = manipulator.bodies
    ball = base.joint
    bodies = [Body("world", joint=Joint("world_joint", "fixed"))]
    for name, axis in GIMBALS:
        joint = Joint(f"{ball.name}_{name}", "revolute", bodies[-1].name, axis=np.array(axis))
        bodies.append(Body(f"{base.name}_{name}", joint=joint))
    first, last = bodies[1], bodies.pop()
    bodies[1] = replace(first, joint=replace(first.joint, rotation=ball.rotation))
    return Spacecraft.build(
        f"{craft.name}_test_bed",
        [*bodies, replace(base, joint=last.joint), *links],
        frames=manipulator.frames,
        source=craft.source,
    )


def state_on_test_bed(craft: Spacecraft, q: Array, v: Array) -> State:
    """State of the test bed that goes with the craft's: gimbal angles (yaw, pitch, roll) and their rates, then the
    joints'.
    """
    state = equivalent_state(craft, q, v)
    roll, pitch, yaw = rpy_from_rotation(rotation(state.q[:4]))
    roll_rate, pitch_rate, yaw_rate = rpy_rate(np.array([roll, pitch, yaw]), state.v[:3])
    return State(
        np.concatenate([[yaw, pitch, roll], state.q[4:]]),
        np.concatenate([[yaw_rate, pitch_rate, roll_rate], state.v[3:]]),
    )


def rpy_rate(rpy: Array, w_NB_B: Array) -> Array:
    """d/dt (roll, pitch, yaw) of R_NB = Rz(yaw) Ry(pitch) Rx(roll), from the *body* rate; infinite at pitch = +-pi/2
    (16), (17)
    """
    s, c = sin(rpy[0]), cos(rpy[0])
    across = s * w_NB_B[1] + c * w_NB_B[2]
    return np.array(
        [
            w_NB_B[0] + across * sin(rpy[1]) / cos(rpy[1]),
            c * w_NB_B[1] - s * w_NB_B[2],
            across / cos(rpy[1]),
        ]
    )
