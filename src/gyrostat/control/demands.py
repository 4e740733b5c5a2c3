"""What a law asks of the craft it is given: one spacecraft, a base that floats, motors where it wants to act."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..algebra import Array, Pose, is_symbolic, quat_from_rotation, quat_multiply
from ..model import Body, Joint, Role, Spacecraft


class Places(NamedTuple):
    """Where in v the coordinates of each role stand."""

    base: Array
    joints: Array  # driven
    passive: Array  # nothing acts but springs, dampers and friction
    wheels: Array


def places(craft: Spacecraft) -> Places:
    """Raises a ValueError where a law does not know what to make of a coordinate."""
    found = Places(craft.at(Role.base), craft.at(Role.driven), craft.at(Role.passive, Role.modal), craft.at(Role.wheel))
    if sum(map(len, found)) < craft.nv:
        others = sorted({str(role) for role in craft.roles} - {"base", "driven", "passive", "modal", "wheel"})
        raise ValueError(f"{craft.name} has coordinates that are {', '.join(others)}, which this law does not know.")
    return found


def placed(craft: Spacecraft, at: Array, values: Array) -> Array:
    """(nv,) with `values` at those places and zero elsewhere."""
    whole: list[object] = [0.0] * craft.nv
    for k, value in zip(at, values, strict=True):
        whole[k] = value
    return np.array(whole)


def demand_one(craft: Spacecraft, law: str) -> None:
    if craft.memberships:
        names = " and ".join(f"'{m.name}'" for m in craft.memberships)
        raise ValueError(
            f"{law} is for one spacecraft; {craft.name} holds {names}. Say whose it is: "
            f"control.on('{craft.memberships[0].name}', law)."
        )


def demand_free_base(craft: Spacecraft, law: str) -> Joint:
    """The joint of a base that floats freely."""
    demand_one(craft, law)
    base = craft.joints[0]
    if not base.motion.unbound:
        raise ValueError(f"{law} needs a base that is free; that of {craft.name} is {base.kind}.")
    return base


def demand_no_passive(craft: Spacecraft, law: str) -> None:
    passive = passive_joints(craft)
    if passive:
        names = ", ".join(f"'{name}'" for name in passive)
        raise ValueError(
            f"{law} drives every joint, but {names} of {craft.name} {'has' if len(passive) == 1 else 'have'} no motor "
            f"(driven=False, or a spring). Say driven=True where there is one; else make the joint fixed, or use laws "
            f"under which passive joints go along: control.computed_torque for joints, control.wheel_attitude for base."
        )


def passive_joints(craft: Spacecraft) -> list[str]:
    """Names of the joints that move and have no motor; "boom.modes" of what bends."""
    at = set(craft.at(Role.passive, Role.modal).tolist())
    return [joint.name for joint in craft.joints if joint.nv and joint.v_at.start in at]


def driven_joints(craft: Spacecraft) -> list[Joint]:
    """In the order of v."""
    at = set(craft.at(Role.driven).tolist())
    return [joint for joint in craft.joints if joint.nv and joint.v_at.start in at]


def driven_coordinates(craft: Spacecraft, law: str) -> Array:
    """Places in q of the driven joints, of kinds whose rates are the derivatives of their coordinates."""
    demand_one(craft, law)
    joints = driven_joints(craft)
    for joint in joints:
        if not joint.motion.rates_are_derivatives:
            raise ValueError(
                f"{law} takes the difference of coordinates; joint '{joint.name}' of {craft.name} is {joint.kind}, "
                "whose rates are no derivatives of them."
            )
    return np.array([k for joint in joints for k in range(joint.q_at.start, joint.q_at.stop)], dtype=int)


def driven_wheels(craft: Spacecraft) -> list[Body]:
    """The wheels that have a motor, in the order of v."""
    at = set(craft.at(Role.wheel).tolist())
    return [body for body in craft.bodies if body.joint.nv and body.joint.v_at.start in at]


def base_pose(craft: Spacecraft, q: Array) -> Pose:
    """X_NB of the base, whatever its joint."""
    return craft.joints[0].pose(q)


def base_quaternion(craft: Spacecraft, q: Array) -> Array:
    """quat_NB of the base, of any norm."""
    joint = craft.joints[0]
    at = joint.motion.quaternion
    if at is None:
        return quat_from_rotation(base_pose(craft, q).R)
    own = q[joint.q_at][at]
    upright = not is_symbolic(joint.rotation) and np.array_equal(joint.rotation, np.eye(3))
    return own if upright else quat_multiply(quat_from_rotation(joint.rotation), own)
