"""Numbers of [[campaign.disperse]], which may carry units: what they are depends on what is dispersed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...io.toml.units import Measure, each, joint_dimension
from ...model import Joint, Spacecraft
from .settings import Made, is_setting

OF_STATES = {"attitude": "angle", "position": "length", "rate": "angular rate", "velocity": "speed"}
OF_BODIES = {"mass": "mass", "com": "length", "inertia": "moment of inertia", "spin_inertia": "moment of inertia"}
OF_JOINTS = {
    "stiffness": "stiffness",
    "damping": "damping",
    "rotor_inertia": "inertia",
    "rest": "position",
    "backlash": "position",
}


def in_si(made_by: Made, what: str, change: str | None) -> Callable[[Any], Any]:
    """What turns values of the file into plain numbers; what is scaled is scaled by numbers without a unit."""
    units = [None] if change == "scaled" else _dimensions(made_by, what)

    def read(one: Measure, place: int) -> float:
        unit = units[place % len(units)]
        return one.plain(f"{what} in SI" if change != "scaled" else "factors") if unit is None else one.of(unit)

    return lambda values: each(values, read)


def _dimensions(made_by: Made, what: str) -> list[str | None]:
    """Of one number, or of each entry; None for plain numbers."""
    craft = made_by.craft
    if is_setting(what):
        return [made_by.dimension(what)]
    kind, colon, of = what.partition(":")
    if kind in OF_STATES and colon:
        return [OF_STATES[kind]]
    if kind in ("q0", "v0") and colon:
        joint = craft.joint_named(of)
        units = joint.motion.q_units if kind == "q0" else joint.motion.v_units
        return [joint_dimension(unit, "position" if kind == "q0" else "rate") if unit else None for unit in units] or [
            None
        ]
    if colon:
        return [None]
    return [_of_parameter(craft, what)]


def _of_parameter(craft: Spacecraft, what: str) -> str | None:
    owner, _, key = what.rpartition(".")
    if key in OF_BODIES or key == "position":
        return OF_BODIES.get(key, "length")
    joints = {joint.name: joint for joint in craft.joints}
    return _of_joint(joints[owner], key) if owner in joints and key in OF_JOINTS else None


def _of_joint(joint: Joint, key: str) -> str:
    return joint_dimension((joint.motion.v_units or ("rad/s",))[0], OF_JOINTS[key])
