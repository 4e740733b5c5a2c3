"""URDF files, written. What URDF cannot say is refused by name, never dropped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from ..algebra import Array, inertia_components, rpy_from_rotation
from ..model import Body, Finding, ModelError, Shape, Spacecraft
from ..model.roles import role_of
from .urdf import UNBOUNDED
from .xml_numbers import mesh_file, numbers

TYPE_OF_KIND = {
    "revolute": "revolute",
    "prismatic": "prismatic",
    "planar": "planar",
    "free": "floating",
    "fixed": "fixed",
}
ADVICE = "Save as .toml instead, which can say everything."


def to_urdf(craft: Spacecraft, folder: Path) -> str:
    """The file's text; meshes are named relative to `folder` where they lie below it."""
    _refuse(craft)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<robot name={quoteattr(craft.name)}>"]
    for body in craft.bodies:
        lines += _link(body, folder)
    for body in craft.bodies[1:]:
        lines += _joint(body)
    for frame in craft.frames:
        lines += [f"  <link name={quoteattr(frame.name)}/>"]
        lines += _fixed(f"{frame.name}_fixed", frame.body, frame.name, frame.position, frame.rotation)
    return "\n".join([*lines, "</robot>"]) + "\n"


def _refuse(craft: Spacecraft) -> None:
    found = []

    def cannot(element: str, what: str) -> None:
        found.append(Finding("error", f"URDF cannot express {what}.", ADVICE, element, code="not-urdf"))

    base = craft.bodies[0].joint
    held = base.kind == "fixed" and craft.base == "world"  # a root of that name is the ground, by custom
    if (not held and base.kind != "free") or base.position.any() or not np.array_equal(base.rotation, np.eye(3)):
        cannot(f"joint '{base.name}'", f"a base whose joint is {base.kind} (a URDF root has no joint; it floats here)")
    for body in craft.bodies:
        joint, place = body.joint, f"joint '{body.joint.name}'"
        if joint.kind not in TYPE_OF_KIND:
            cannot(place, f"a {joint.kind} joint")
        if joint.armature:
            cannot(place, "the inertia of a rotor")
        if joint.stiffness:
            cannot(place, "a spring")
        if role_of(joint, root=False) is not role_of(replace(joint, driven=None), root=False):
            cannot(place, f"a {role_of(joint, root=False)} joint like this one")
        if joint.kind not in ("revolute", "prismatic") and not np.isinf([joint.limits.lower, joint.limits.upper]).all():
            cannot(place, f"the range of a {joint.kind} joint")
        if 0.0 in (joint.limits.velocity, joint.limits.effort):
            cannot(place, "a velocity or effort limit of zero (it means none there)")
    for member in craft.memberships:
        cannot(f"member '{member.name}'", "several spacecraft in one model")
    for thruster in craft.thrusters:
        cannot(f"thruster '{thruster.name}'", "thrusters")
    names = {body.joint.name for body in craft.bodies}
    for frame in craft.frames:
        if f"{frame.name}_fixed" in names:
            cannot(f"frame '{frame.name}'", f"this frame: a joint is named '{frame.name}_fixed' already")
    if found:
        raise ModelError(found)


def _link(body: Body, folder: Path) -> list[str]:
    lines = [f"  <link name={quoteattr(body.name)}>"]
    if body.mass or body.inertia.any():
        I = dict(zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), inertia_components(body.inertia), strict=True))
        moments = " ".join(f'{name}="{float(value)!r}"' for name, value in I.items())
        lines += [
            "    <inertial>",
            f'      <origin xyz="{numbers(body.com)}"/>',
            f'      <mass value="{float(body.mass)!r}"/>',
            f"      <inertia {moments}/>",
            "    </inertial>",
        ]
    for shape in body.shapes:
        lines += _visual(shape, folder)
    return [*lines, "  </link>"]


def _joint(body: Body) -> list[str]:
    joint = body.joint
    limits = joint.limits
    endless = joint.kind != "prismatic" and np.isinf([limits.lower, limits.upper]).all()  # URDF: a slide has limits
    type_ = "continuous" if joint.kind == "revolute" and endless else TYPE_OF_KIND[joint.kind]
    given = {name: getattr(limits, name) for name in ("lower", "upper", "velocity", "effort")}
    values = " ".join(f'{name}="{_bounded(value)}"' for name, value in given.items() if name[0] in "ve" or not endless)
    lines = [
        f"  <joint name={quoteattr(joint.name)} type={quoteattr(type_)}>",
        f"    <parent link={quoteattr(str(joint.parent))}/>",
        f"    <child link={quoteattr(body.name)}/>",
        f"    {_origin(joint.position, joint.rotation)}",
    ]
    if joint.motion.axes:
        lines += [f'    <axis xyz="{numbers(joint.axis)}"/>']
    if not (endless and np.isinf([limits.velocity, limits.effort]).all()):
        lines += [f"    <limit {values}/>"]
    if joint.damping or joint.friction:
        lines += [f'    <dynamics damping="{float(joint.damping)!r}" friction="{float(joint.friction)!r}"/>']
    return [*lines, "  </joint>"]


def _bounded(value: float) -> str:
    """URDF has no infinity: a number that no limit reaches stands for it."""
    return repr(float(np.clip(value, -UNBOUNDED, UNBOUNDED)))


def _fixed(name: str, parent: str, child: str, position: Array, R: Array) -> list[str]:
    return [
        f'  <joint name={quoteattr(name)} type="fixed">',
        f"    <parent link={quoteattr(parent)}/>",
        f"    <child link={quoteattr(child)}/>",
        f"    {_origin(position, R)}",
        "  </joint>",
    ]


def _visual(shape: Shape, folder: Path) -> list[str]:
    size = [float(x) for x in shape.size]
    if shape.kind == "box":
        geometry = f'<box size="{numbers(size)}"/>'
    elif shape.kind == "sphere":
        geometry = f'<sphere radius="{size[0]!r}"/>'
    elif shape.kind == "cylinder":
        geometry = f'<cylinder radius="{size[0]!r}" length="{size[1]!r}"/>'
    else:
        geometry = f'<mesh filename={quoteattr(mesh_file(shape, folder))} scale="{numbers(size)}"/>'
    lines = [
        "    <visual>",
        f"      {_origin(shape.position, shape.rotation)}",
        f"      <geometry>{geometry}</geometry>",
    ]
    if shape.color is not None:
        rgba = [*shape.color, 1.0][:4]
        lines += [f'      <material name=""><color rgba="{numbers(rgba)}"/></material>']
    return [*lines, "    </visual>"]


def _origin(position: Array | tuple[float, ...], R: Array) -> str:
    return f'<origin xyz="{numbers(position)}" rpy="{numbers(rpy_from_rotation(np.asarray(R)))}"/>'
