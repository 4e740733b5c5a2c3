"""Parameters by name: "link_3.mass", "elbow.position". One table says what each attribute is and how to set it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import inertia_components, quat_from_rotation, rotation
from .findings import nearest
from .modes import Mode, mode_named
from .parts import Joint, array
from .roles import Role, role_of

if TYPE_CHECKING:
    from .spacecraft import Spacecraft


@dataclass(frozen=True)
class Attribute:
    """Where an attribute lives ("body", "joint", "thruster"), its shape, and how it is read and written."""

    owner: str
    shape: tuple[int, ...]
    read: Callable[[Any], Any]
    write: Callable[[Any, Any], Any]
    applies: Callable[[Any], bool] = lambda part: True


def _field(owner: str, name: str, shape: tuple[int, ...] = ()) -> Attribute:
    return Attribute(owner, shape, lambda part: getattr(part, name), lambda part, value: replace(part, **{name: value}))


def _spin_inertia(wheel: Any) -> Any:
    return wheel.joint.axis @ wheel.inertia @ wheel.joint.axis


def _with_spin_inertia(wheel: Any, value: Any) -> Any:
    a = wheel.joint.axis
    return replace(wheel, inertia=wheel.inertia + (value - _spin_inertia(wheel)) * np.outer(a, a))


ATTRIBUTES: dict[str, Attribute] = {
    "mass": _field("body", "mass"),
    "com": _field("body", "com", (3,)),
    "inertia": Attribute(
        "body", (6,), lambda body: inertia_components(body.inertia), lambda body, value: replace(body, inertia=value)
    ),
    "spin_inertia": Attribute("body", (), _spin_inertia, _with_spin_inertia, lambda body: body.joint.kind == "wheel"),
    "position": _field("joint", "position", (3,)),
    "orientation": Attribute(
        "joint",
        (4,),
        lambda joint: quat_from_rotation(joint.rotation),
        lambda joint, value: replace(joint, rotation=rotation(value)),
    ),
    "axis": _field("joint", "axis", (3,)),
    "stiffness": _field("joint", "stiffness"),
    "rest": _field("joint", "rest"),
    "damping": _field("joint", "damping"),
    "friction": _field("joint", "friction"),
    "backlash": _field("joint", "backlash"),
    "rotor_inertia": _field("joint", "rotor_inertia"),
    "gear_ratio": _field("joint", "gear_ratio"),
    "max_thrust": _field("thruster", "max_thrust"),
    "frequency": Attribute("mode", (), lambda mode: mode.frequency, lambda mode, value: mode.tuned(value)),
    "damping_ratio": Attribute("mode", (), lambda mode: mode.damping_ratio, lambda mode, value: mode.damped(value)),
}


def names(craft: Spacecraft) -> Iterator[str]:
    """Every parameter name of the craft."""
    flexible = [craft.flexible(body.name) for body in craft.bodies]
    owners: dict[str, Any] = {
        "body": [body for body in craft.bodies if not craft.flexible(body.name)],
        "joint": [body.joint for body in craft.bodies],
        "thruster": craft.thrusters,
        "mode": [Mode(body, k) for body in flexible if body for k in range(body.n)],
    }
    for key, attribute in ATTRIBUTES.items():
        for part in owners[attribute.owner]:
            if attribute.applies(part):
                yield f"{part.name}.{key}"


def _find(craft: Spacecraft, parameter: str) -> tuple[Attribute, Any]:
    owner_name, _, key = parameter.rpartition(".")
    attribute = ATTRIBUTES.get(key)
    if attribute is None:
        raise ValueError(f"'{parameter}' is no parameter: '{key}' is no attribute. {nearest(key, ATTRIBUTES)}")
    find: dict[str, Callable[[str], Any]] = {
        "body": craft.body,
        "joint": craft.joint_named,
        "thruster": craft.thruster,
        "mode": lambda name: mode_named(craft.bodies, name),
    }
    try:
        part = find[attribute.owner](owner_name)
        if attribute.owner == "joint" and part.kind == "modal":
            raise ValueError(
                f"modes have no {key}, but frequencies and damping ratios, as '{part.q_names[0]}.frequency'."
            )
        if attribute.owner == "body" and craft.flexible(owner_name):
            raise ValueError(f"body '{owner_name}' is flexible: its mass is in its lumps, which are no parameters.")
    except ValueError as error:
        raise ValueError(f"'{parameter}' is no parameter: {error}") from None
    if not attribute.applies(part):
        raise ValueError(f"'{parameter}' is no parameter: {attribute.owner} '{owner_name}' has no {key}.")
    return attribute, part


def value_of(craft: Spacecraft, parameter: str) -> Any:
    """The parameter's value: a float (or symbol), or an array."""
    attribute, part = _find(craft, parameter)
    return attribute.read(part)


def replaced(craft: Spacecraft, values: Mapping[str, Any]) -> Spacecraft:
    """The craft with those parameters replaced, nothing validated but shapes."""
    bodies: dict[str, Any] = {body.name: body for body in craft.bodies}
    moves = {body.joint.name: body.name for body in craft.bodies}
    thrusters = {thruster.name: thruster for thruster in craft.thrusters}
    roots = {body.joint.name for body in craft.roots}
    for parameter, value in values.items():
        attribute, _ = _find(craft, parameter)
        name = parameter.rpartition(".")[0]
        value = array(value, attribute.shape, f"parameter '{parameter}'")
        value = value if attribute.shape else value.item()
        if attribute.owner == "mode":
            mode = mode_named(list(bodies.values()), name)
            bodies[mode.body.name] = attribute.write(mode, value)
        elif attribute.owner == "body":
            bodies[name] = attribute.write(bodies[name], value)
        elif attribute.owner == "joint":
            body = bodies[moves[name]]
            joint = _in_its_role(attribute.write(body.joint, value), body.joint, root=name in roots)
            bodies[body.name] = replace(body, joint=joint)
        else:
            thrusters[name] = attribute.write(thrusters[name], value)
    return replace(craft, bodies=tuple(bodies.values()), thrusters=tuple(thrusters.values()))


def _in_its_role(joint: Joint, before: Joint, root: bool) -> Joint:
    """A value is no structure: a spring made of a number, or of a symbol, leaves the motor where it was."""
    role = role_of(before, root)
    return joint if role_of(joint, root) is role else replace(joint, driven=role is not Role.passive)
