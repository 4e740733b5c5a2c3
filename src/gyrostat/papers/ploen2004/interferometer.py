"""A separated-spacecraft interferometer in deep space: four collectors and a combiner that turn as one rigid body.

The kind of mission the paper names. The combiner leads; the collectors take slots on a line through it, in a frame that
turns about the line of sight, and hold them by the passivity law that a skew Mdot - 2C makes possible.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import Array, Pose, quat_from_rotation, rotation_about
from ...control.moving_references import base_as_reference, offset_reference
from ...control.passivity import passivity_tracking
from ...control.references import PoseReference
from ...formation import Coupling, Formation, FormationTrajectory, Group, simulate
from ...formulations.recursive import forward_dynamics
from ...model import Spacecraft
from .crafts import craft

BASELINE = np.array([-37.5, -12.5, 12.5, 37.5])  # m, of the collectors along the formation's x axis
TURN = 2 * np.pi / (8 * 3600.0)  # rad/s: one turn of the array in eight hours
BANDWIDTH = 0.02  # 1/s
END = 1200.0  # s
COLLECTORS = tuple(f"collector {k + 1}" for k in range(4))


def formation() -> Formation:
    return Formation(
        {"combiner": Group(craft("combiner"), ("combiner",)), "collectors": Group(craft("collector"), COLLECTORS)}
    )


def array_frame(t: Any) -> PoseReference:
    """The frame that the combiner shall follow: at rest, turning about z, the line of sight."""
    R = rotation_about(np.array([0.0, 0.0, 1.0]), TURN * t)
    return PoseReference(Pose(R, np.zeros(3)), np.array([0.0, 0.0, TURN, 0.0, 0.0, 0.0]))


def start() -> dict[str, tuple[Array, Array]]:
    """Released with errors of metres and degrees, as after deployment."""
    rng = np.random.default_rng(11)
    fleet = formation()
    state = fleet.neutral()
    for group, slots in (("combiner", np.zeros((1, 3))), ("collectors", np.outer(BASELINE, [1.0, 0.0, 0.0]))):
        q, v = state[group]
        for k, slot in enumerate(slots):
            axis = rng.normal(size=3)
            q[k, :4] = quat_from_rotation(rotation_about(axis / np.linalg.norm(axis), rng.uniform(0.05, 0.3)))
            q[k, 4:7] = slot + rng.uniform(-3, 3, size=3)
            v[k] = np.concatenate([1e-3 * rng.normal(size=3), 0.01 * rng.normal(size=3)])
    return state


def follow(combiner: Spacecraft) -> Any:
    """Each collector's law: the slot beside the combiner it sees, whose acceleration follows from its own law."""
    lead = passivity_tracking(array_frame, bandwidth=BANDWIDTH)

    def law(craft: Spacecraft, t: Any, q: Array, v: Array, q_leader: Array, v_leader: Array, slot: Array) -> Array:
        acceleration = forward_dynamics(combiner, q_leader, v_leader, lead(combiner, t, q_leader, v_leader))
        leader = base_as_reference(combiner, q_leader, v_leader, acceleration)
        there = offset_reference(leader, Pose(np.eye(3), slot))
        return passivity_tracking(lambda t: there, bandwidth=BANDWIDTH)(craft, t, q, v)

    return law


def fly() -> FormationTrajectory:
    fleet = formation()
    lead = passivity_tracking(array_frame, bandwidth=BANDWIDTH)
    return simulate(
        fleet,
        start(),
        (0.0, END),
        control={
            "combiner": lead,
            "collectors": Coupling(follow(fleet.groups["combiner"].craft), {"leader": "combiner"}),
        },
        inputs={"collectors": {"slot": np.outer(BASELINE, [1.0, 0.0, 0.0])}},
        rtol=1e-10,
        atol=1e-12,
    )


def slot_errors(run: FormationTrajectory) -> tuple[Array, Array]:
    """Position error (collectors, times) in m and attitude error in rad, in the combiner's frame."""
    position, angle = [], []
    for name, x in zip(COLLECTORS, BASELINE, strict=True):
        seen = run.relative(name, to="combiner")
        position.append(np.linalg.norm(seen.position - [x, 0.0, 0.0], axis=1))
        angle.append(seen.angle)
    return np.array(position), np.array(angle)
