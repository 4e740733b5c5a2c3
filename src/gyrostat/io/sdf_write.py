"""SDF files (SDFormat 1.9), written, as Gazebo reads them. What SDF cannot say is refused by name, never dropped."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from ..algebra import Array, inertia_components, quat_from_rotation
from ..model import Body, Finding, ModelError, Shape, Spacecraft
from .mjcf_inertia import separate_inertia
from .xml_numbers import mesh_file, numbers

TYPE_OF_KIND = {
    "revolute": "revolute",
    "wheel": "continuous",
    "prismatic": "prismatic",
    "spherical": "ball",
    "universal": "universal",
    "fixed": "fixed",
}
ADVICE = "Save as .toml instead, which can say everything."


def to_sdf(craft: Spacecraft, folder: Path) -> str:
    """The file's text: one model without gravity; each link stands where it does at rest, relative to its parent."""
    _refuse(craft)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', '<sdf version="1.9">', f"  <model name={quoteattr(craft.name)}>"]
    for body in craft.bodies:
        lines += _link(craft, body, folder)
    for body in craft.bodies:
        lines += [] if body.joint.motion.unbound else _joint(body)
    for frame in craft.frames:
        lines += [
            f"    <frame name={quoteattr(frame.name)} attached_to={quoteattr(frame.body)}>",
            f"      {_pose(frame.position, frame.rotation)}",
            "    </frame>",
        ]
    return "\n".join([*lines, "  </model>", "</sdf>", ""])


def _refuse(craft: Spacecraft) -> None:
    found: list[Finding] = []

    def cannot(element: str, what: str) -> None:
        found.append(Finding("error", f"SDF cannot express {what}.", ADVICE, element, code="not-sdf"))

    for body in craft.bodies:
        joint, place = body.joint, f"joint '{body.joint.name}'"
        held = joint.motion.unbound and body.parent is None
        if joint.kind not in TYPE_OF_KIND and not held:
            cannot(place, f"a {joint.kind} joint")
        if joint.armature:
            cannot(place, "the inertia of a rotor")
        if (joint.stiffness or joint.damping or joint.friction) and joint.kind not in (
            "revolute",
            "prismatic",
            "wheel",
        ):
            cannot(place, f"springs, dampers and friction of a {joint.kind} joint")
        if joint.backlash:
            cannot(place, "the play of a gear")
        bounds = [joint.limits.lower, joint.limits.upper, joint.limits.velocity, joint.limits.effort]
        if joint.kind in ("spherical", "fixed", "free") and np.isfinite(bounds).any():
            cannot(place, f"limits of a {joint.kind} joint")
        if joint.driven is not None:
            cannot(place, "whether a motor drives a joint")
        if not body.mass and not body.included and joint.kind != "fixed":
            cannot(f"body '{body.name}'", "a body without mass")
    for member in craft.memberships:
        cannot(f"member '{member.name}'", "several spacecraft in one model")
    for thruster in craft.thrusters:
        cannot(f"thruster '{thruster.name}'", "thrusters")
    if found:
        raise ModelError(found)


def _link(craft: Spacecraft, body: Body, folder: Path) -> list[str]:
    relative = "" if body.parent is None else f" relative_to={quoteattr(body.parent)}"
    lines = [
        f"    <link name={quoteattr(body.name)}>",
        f"      {_pose(body.joint.position, body.joint.rotation, relative)}",
        "      <gravity>false</gravity>",
    ]
    mass, com, inertia = separate_inertia(craft, body.name)
    if mass:
        names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        moments = "".join(f"<{n}>{float(x)!r}</{n}>" for n, x in zip(names, inertia_components(inertia), strict=True))
        lines += [
            "      <inertial>",
            f"        {_pose(com, np.eye(3))}",
            f"        <mass>{mass!r}</mass>",
            f"        <inertia>{moments}</inertia>",
            "      </inertial>",
        ]
    for k, shape in enumerate(body.shapes):
        lines += _visual(f"{body.name}_visual_{k + 1}", shape, folder)
    return [*lines, "    </link>"]


def _joint(body: Body) -> list[str]:
    joint, limits = body.joint, body.joint.limits
    kind = TYPE_OF_KIND[joint.kind]
    if kind == "revolute" and np.isinf([limits.lower, limits.upper]).all():
        kind = "continuous"
    lines = [
        f"    <joint name={quoteattr(joint.name)} type={quoteattr(kind)}>",
        f"      <parent>{escape(body.parent or 'world')}</parent>",
        f"      <child>{escape(body.name)}</child>",
    ]
    axes = {"universal": ("axis", "axis2"), "ball": (), "fixed": ()}.get(kind, ("axis",))
    for name in axes:
        given = {"lower": limits.lower, "upper": limits.upper, "effort": limits.effort, "velocity": limits.velocity}
        values = "".join(f"<{n}>{float(x)!r}</{n}>" for n, x in given.items() if np.isfinite(x))
        dynamics = {"damping": joint.damping, "friction": joint.friction, "spring_stiffness": joint.stiffness}
        dynamics |= {"spring_reference": joint.rest} if joint.stiffness else {}
        moved = "".join(f"<{n}>{float(x)!r}</{n}>" for n, x in dynamics.items() if x)
        lines += [
            f"      <{name}>",
            f"        <xyz>{numbers(getattr(joint, name))}</xyz>",
            *([f"        <limit>{values}</limit>"] if values else []),
            *([f"        <dynamics>{moved}</dynamics>"] if moved else []),
            f"      </{name}>",
        ]
    return [*lines, "    </joint>"]


def _visual(name: str, shape: Shape, folder: Path) -> list[str]:
    size = [float(x) for x in shape.size]
    if shape.kind == "mesh":
        what = f"<mesh><uri>{escape(mesh_file(shape, folder))}</uri><scale>{numbers(size)}</scale></mesh>"
    else:
        what = {
            "box": f"<box><size>{numbers(size)}</size></box>",
            "sphere": f"<sphere><radius>{size[0]!r}</radius></sphere>",
            "cylinder": f"<cylinder><radius>{size[0]!r}</radius><length>{size[-1]!r}</length></cylinder>",
        }[shape.kind]
    lines = [
        f"      <visual name={quoteattr(name)}>",
        f"        {_pose(shape.position, shape.rotation)}",
        f"        <geometry>{what}</geometry>",
    ]
    if shape.color is not None:
        lines.append(f"        <material><diffuse>{numbers([*shape.color, 1.0][:4])}</diffuse></material>")
    return [*lines, "      </visual>"]


def _pose(position: Array | tuple[float, ...], R: Array, relative: str = "") -> str:
    w, *xyz = quat_from_rotation(np.asarray(R, dtype=float))
    return f'<pose{relative} rotation_format="quat_xyzw">{numbers([*position, *xyz, w])}</pose>'
