"""gyrostat's own TOML format, written: every number to its last bit, defaults left out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ...algebra import inertia_components
from ...model import Body, FlexibleBody, Joint, Shape, Spacecraft, Wheel
from ...model.members import NAMESPACES
from .text import MAX_BYTES

DEFAULTS = Joint("default")


def to_toml(craft: Spacecraft, folder: Path) -> str:
    """The file's text; meshes are named relative to `folder` where they lie below it."""
    lines = ["gyrostat = 1", f"name = {_text(craft.name)}"]
    wheels = {body.name: table for body in craft.wheels if (table := _wheel(body)) is not None}
    if len(wheels) < len(craft.wheels):
        wheels = {}  # one of them needs the long form; keep their order
    for body in craft.bodies:
        if body.name not in wheels:
            lines += ["", "[[body]]", *_body(body, folder)]
    for table in wheels.values():
        lines += ["", "[[wheel]]", *_pairs(table)]
    for frame in craft.frames:
        pose = {"position": frame.position, **_rotation(frame.rotation)}
        lines += ["", "[[frame]]", *_pairs({"name": frame.name, "body": frame.body, **pose})]
    for thruster in craft.thrusters:
        values: dict[str, Any] = {name: getattr(thruster, name) for name in ("name", "body", "position", "direction")}
        usual = {"max_thrust": np.inf, "minimum_on_time": 0.0, "specific_impulse": np.inf}
        usual |= {"rise_time": 0.0, "fall_time": 0.0}
        values |= {name: getattr(thruster, name) for name, value in usual.items() if getattr(thruster, name) != value}
        lines += ["", "[[thruster]]", *_pairs(values)]
    for member in craft.memberships:
        lines += ["", "[[member]]", *_pairs({"name": member.name, "base": member.base})]
        for key, names in zip(("bodies", "joints", "thrusters"), map(member.renamed.get, NAMESPACES), strict=True):
            if names:
                pairs = ", ".join(f"{_text(own)} = {_text(here)}" for own, here in names.items())
                lines.append(f"{key} = {{ {pairs} }}")
    text = "\n".join(lines) + "\n"
    if len(text.encode()) > MAX_BYTES:
        raise ValueError(
            f"{craft.name} takes {len(text.encode()) / 2**20:.1f} MB of TOML; at most {MAX_BYTES // 2**20} MB are read "
            "back. Give its flexible bodies fewer modes, or fewer lumps."
        )
    return text


def _body(body: Body, folder: Path) -> list[str]:
    values: dict[str, Any] = {"name": body.name}
    if body.parent is not None:
        values["parent"] = body.parent
    bent: Any = body if isinstance(body, FlexibleBody) else None
    lines = _pairs(values) + ([] if bent else _pairs(_rigid(body)))
    lines += ["[body.joint]", *_pairs(_joint(body.joint))]
    for shape in body.shapes:
        lines += ["[[body.shape]]", *_pairs(_shape(shape, folder))]
    return lines + (_flexible(bent) if bent else [])


def _rigid(body: Body) -> dict[str, Any]:
    values: dict[str, Any] = {"mass": body.mass}
    if body.com.any():
        values["com"] = body.com
    if body.inertia.any():
        values["inertia"] = _inertia(body.inertia)
    if body.included:
        values["included"] = True
    return values


def _flexible(body: FlexibleBody) -> list[str]:
    lines = ["[body.flexible]", *_pairs({"stiffness": body.stiffness, "damping": body.damping})]
    usual = {"rotary": "points", "terms": "all"}
    lines += _pairs({key: getattr(body, key) for key, value in usual.items() if getattr(body, key) != value})
    lines += _pairs({key: value for key, value in (("lines", body.lines), ("interfaces", body.interfaces)) if value})
    for k, node in enumerate(body.nodes):
        values: dict[str, Any] = {"name": node.name, "position": node.position}
        if node.mass:
            values["mass"] = node.mass
        if node.inertia.any():
            values["inertia"] = _inertia(node.inertia)
        values["translations"] = body.translations[k]
        for name, shapes in (("rotations", body.rotations), ("second_order", body.second_order)):
            if shapes is not None and (shapes[k].any() or k == 0 and name == "second_order"):
                values[name] = shapes[k]  # of the first node even where it is zero: there are such shapes
        lines += ["[[body.flexible.node]]", *_pairs(values)]
    return lines


def _inertia(inertia: Any) -> Any:
    if np.array_equal(inertia, np.diag(np.diag(inertia))):
        return np.diag(inertia)
    return inertia_components(inertia) if np.array_equal(inertia, inertia.T) else inertia


def _joint(joint: Joint) -> dict[str, Any]:
    values: dict[str, Any] = {"name": joint.name, "kind": joint.kind}
    if joint.node:
        values["node"] = joint.node
    if joint.position.any():
        values["position"] = joint.position
    values |= _rotation(joint.rotation)
    for name in ("axis", "axis2")[: joint.motion.axes]:
        values[name] = getattr(joint, name)
    for name in ("stiffness", "rest", "damping", "friction", "backlash", "rotor_inertia", "gear_ratio"):
        if getattr(joint, name) != getattr(DEFAULTS, name):
            values[name] = getattr(joint, name)
    if joint.driven is not None:
        values["driven"] = joint.driven
    limits = {name: getattr(joint.limits, name) for name in ("lower", "upper", "velocity", "effort")}
    limits = {name: value for name, value in limits.items() if not np.isinf(value)}
    if limits:
        values["limits"] = limits
    return values


def _rotation(R: Any) -> dict[str, Any]:
    return {} if np.array_equal(R, np.eye(3)) else {"rotation": np.asarray(R)}


def _shape(shape: Shape, folder: Path) -> dict[str, Any]:
    values: dict[str, Any] = {"kind": shape.kind, "size": shape.size}
    if any(shape.position):
        values["position"] = shape.position
    values |= _rotation(shape.rotation)
    if shape.color is not None:
        values["color"] = shape.color
    if shape.file:
        path = Path(shape.file)
        values["file"] = (path.relative_to(folder) if path.is_relative_to(folder) else path).as_posix()
    return values


def _wheel(body: Body) -> dict[str, Any] | None:
    """The short form of a wheel, or None where it cannot say everything."""
    joint, axis = body.joint, body.joint.axis
    # of J a a^T, where a is of length one to rounding only
    spin = float(axis @ body.inertia @ axis) / float(axis @ axis) ** 2
    across = float(np.trace(body.inertia) - spin) / 2
    values: dict[str, Any] = {"name": body.name, "parent": body.parent, "axis": axis, "spin_inertia": spin}
    if joint.position.any():
        values["position"] = joint.position
    if not body.included:
        values |= {"included": False, "mass": body.mass, "transverse_inertia": across}
    for key, limit in (("max_torque", joint.limits.effort), ("max_speed", joint.limits.velocity)):
        if not np.isinf(limit):
            values[key] = limit
    same = Wheel(**values)
    scale = 1e-15 * np.abs(body.inertia).max()
    return values if _same_wheel(same, body, scale) else None


def _same_wheel(a: Body, b: Body, scale: float) -> bool:
    plain = ("stiffness", "rest", "damping", "friction", "backlash", "rotor_inertia", "gear_ratio", "name", "driven")
    return bool(
        np.abs(a.inertia - b.inertia).max() <= scale
        and a.mass == b.mass
        and not b.com.any()
        and not b.shapes
        and np.array_equal(b.joint.rotation, np.eye(3))
        and not b.joint.node
        and all(getattr(a.joint, name) == getattr(b.joint, name) for name in plain)
        and np.isinf([b.joint.limits.lower, b.joint.limits.upper]).all()
    )


# ---- values


def _pairs(values: dict[str, Any]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in values.items()]


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(_pairs(value)) + " }"
    if isinstance(value, (Iterable, np.ndarray)):
        return "[" + ", ".join(_value(x) for x in value) + "]"
    try:
        return repr(float(value) + 0.0)  # without the sign of zero
    except (TypeError, ValueError):
        raise ValueError(f"cannot save the symbol {value!r}: give it a number first, with craft.with_values.") from None


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
