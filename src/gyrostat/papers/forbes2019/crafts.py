"""The systems of the experiments: a tumbling body, a sleigh, a rolling disc, a four-bar,
and a servicer with two arms and its client.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import constraints as gc
from ...algebra import Array, sin
from ...kinematics import neutral
from ...model import Body, Frame, Joint, Spacecraft, Wheel
from ...model.assembly import together

X, Y, Z = np.eye(3)


def tumbling_body() -> Spacecraft:
    """A 40 kg body whose reference point is not its centre of mass, all moments different."""
    inertia = np.array([3.0, 0.2, -0.3, 5.0, 0.4, 6.0])
    return Spacecraft.build("tumbler", [Body("body", 40.0, np.array([0.2, -0.1, 0.3]), inertia)])


def sleigh(a: float = 0.4, m: float = 2.5, J: float = 0.6) -> tuple[Spacecraft, list[gc.AbstractConstraint]]:
    """Chaplygin's sleigh: its blade under the body's origin, the centre of mass `a` ahead along x;
    J about the centre of mass.
    """
    body = Body("sleigh", m, np.array([a, 0.0, 0.0]), np.array([0.7, 0.9, J]))
    craft = Spacecraft.build("sleigh", [body])
    return craft, [gc.planar("N", "sleigh"), gc.knife_edge("N", "sleigh", (0.0, 1.0, 0.0))]


def disc(m: float = 2.0, radius: float = 0.5) -> tuple[Spacecraft, list[gc.AbstractConstraint]]:
    """A thin disc about its own x axis, rolling on the plane z = 0."""
    inertia = m * radius**2 * np.array([0.5, 0.25, 0.25])
    craft = Spacecraft.build("disc", [Body("disc", m, inertia=inertia)])
    return craft, [gc.rolling("N", "disc", radius, axis=(1.0, 0.0, 0.0))]


def four_bar() -> tuple[Spacecraft, list[gc.AbstractConstraint], Array]:
    """A panel deployed by a four-bar: crank, coupler and rocker on a free bus, closed by a hinge;
    three of its five rows are redundant.
    """
    bar = np.array([0.02, 0.2, 0.2])
    crank = Joint("crank", "revolute", "bus", np.array([0.5, 0.0, 0.0]), axis=Z)
    coupler = Joint("coupler", "revolute", "crank", np.array([0.4, 0.0, 0.0]), axis=Z)
    rocker = Joint("rocker", "revolute", "bus", np.array([0.5, 1.0, 0.0]), axis=Z)
    bodies = [
        Body("bus", 200.0, np.zeros(3), np.array([40.0, 50.0, 60.0])),
        Body("crank", 3.0, np.array([0.2, 0.0, 0.0]), bar, crank),
        Body("panel", 12.0, np.array([0.5, 0.1, 0.0]), np.array([0.4, 1.2, 1.5]), coupler),
        Body("rocker", 4.0, np.array([0.3, 0.0, 0.0]), bar, rocker),
    ]
    frames = [
        Frame("panel_end", "panel", np.array([1.1, 0.0, 0.0])),
        Frame("rocker_end", "rocker", np.array([0.6, 0.0, 0.0])),
    ]
    craft = Spacecraft.build("four_bar", bodies, frames=frames)
    constraints = [gc.revolute("panel_end", "rocker_end", Z)]
    q = neutral(craft)
    q[7:] = 0.6, 0.9, 0.4
    q, _ = gc.project(craft, 0.0, q, np.zeros(craft.nv), constraints)
    return craft, constraints, q


LENGTHS, MASSES = (0.2, 1.2, 1.0, 0.3, 0.3, 0.2), (6.0, 12.0, 9.0, 4.0, 3.0, 2.0)
AXES = (Z, Y, Y, X, Y, X)
POSTURE = np.array([0.0, -0.9, 1.7, 0.0, -0.8, 0.0])


def servicer(sides: str = "LR") -> Spacecraft:
    """A 400 kg bus with three wheels and one six-link arm per side:
    joints "L1".."L6", hand "hand_L", and likewise R.
    """
    bodies = [Body("bus", 400.0, np.zeros(3), np.array([90.0, 80.0, 100.0]))]
    frames = []
    for side in sides:
        parent, at = "bus", np.array([0.5, 0.8 if side == "L" else -0.8, 0.0])
        for k, (length, mass, axis) in enumerate(zip(LENGTHS, MASSES, AXES, strict=True), start=1):
            name = f"{side}{k}"
            across = mass * (length**2 / 12.0 + 0.01)
            joint = Joint(name, "revolute", parent, at, axis=axis)
            bodies.append(
                Body(
                    f"link_{name}",
                    mass,
                    np.array([length / 2, 0.0, 0.0]),
                    np.array([0.01 * mass, across, across]),
                    joint,
                )
            )
            parent, at = f"link_{name}", np.array([length, 0.0, 0.0])
        frames.append(Frame(f"hand_{side}", parent, at))
    bodies += [Wheel(f"wheel_{axis}", "bus", np.eye(3)[k], 0.5) for k, axis in enumerate("xyz")]
    return Spacecraft.build("servicer", bodies, frames=frames)


def client(mass: float = 500.0) -> Spacecraft:
    """What is grasped: two grips on a body whose centre of mass is not its origin."""
    body = Body("client", mass, np.array([0.05, 0.02, -0.03]), mass / 500.0 * np.array([120.0, 140.0, 90.0]))
    grips = [
        Frame("grip_L", "client", np.array([-0.6, 0.5, 0.0])),
        Frame("grip_R", "client", np.array([-0.6, -0.5, 0.0])),
    ]
    return Spacecraft.build("target", [body], frames=grips)


def pair(sides: str = "LR") -> tuple[Spacecraft, Array]:
    """Servicer and client side by side, the arms reaching for the grips."""
    both = together("servicing", [servicer(sides), client()])
    q = neutral(both)
    for side in sides:
        for k, angle in enumerate(POSTURE, start=1):
            q[both.joint_named(f"{side}{k}").q_at] = angle
    q[both.joint("client").q_at.start + 4] = 3.2
    return both, q


def two_arms(speed: float = 0.0, seed: int = 1) -> tuple[Spacecraft, list[gc.AbstractConstraint], Array, Array]:
    """Both hands welded to the grips: craft, constraints, and a consistent state, moving at random if speed > 0."""
    craft, q = pair()
    constraints = [gc.weld("hand_L", "grip_L"), gc.weld("hand_R", "grip_R")]
    v = speed * np.random.default_rng(seed).normal(size=craft.nv)
    v[-3:] = 0.0  # wheels at rest
    q, v = gc.project(craft, 0.0, q, v, constraints)
    return craft, constraints, q, v


def wave(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
    """Small sines of different phase in every revolute joint, with damping."""
    tau = []
    for k, joint in enumerate(craft.joints):
        tau.append(
            np.array([2.0 * sin(0.3 * t + k)]) - 5.0 * joint.rate(v) if joint.kind == "revolute" else np.zeros(joint.nv)
        )
    return np.concatenate(tau)
