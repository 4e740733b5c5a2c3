"""MJCF files, written: MuJoCo reads the same spacecraft. What MJCF cannot say is refused by name, never dropped."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from ..algebra import Array, inertia_components, quat_from_rotation
from ..model import Body, Finding, Joint, ModelError, Role, Shape, Spacecraft
from ..model.roles import role_of
from .mjcf_inertia import separate_inertia, unfit
from .urdf import UNBOUNDED
from .xml_numbers import mesh_file, numbers

ADVICE = "Save as .toml instead, which can say everything."
X, Y, Z = np.eye(3)


def to_mjcf(craft: Spacecraft, folder: Path) -> str:
    """The file's text; meshes are named relative to `folder` where they lie below it. No gravity, no contacts.

    A joint of several coordinates becomes several joints of one body, named J, J/2, J/3; driven coordinates get motors.
    """
    _refuse(craft)
    children: dict[str | None, list[Body]] = {}
    for body in craft.bodies:
        children.setdefault(body.parent, []).append(body)
    meshes = _meshes(craft, folder)
    lines = [
        f"<mujoco model={quoteattr(craft.name)}>",
        '  <compiler angle="radian" autolimits="true" inertiafromgeom="false"/>',
        '  <option gravity="0 0 0"/>',
        *(["  <asset>", *meshes.values(), "  </asset>"] if meshes else []),
        "  <worldbody>",
    ]
    for root in children[None]:
        lines += _body(craft, root, children, meshes, 2)
    lines += ["  </worldbody>", "  <actuator>", *_motors(craft), "  </actuator>", "</mujoco>", ""]
    return "\n".join(lines)


def _refuse(craft: Spacecraft) -> None:
    found: list[Finding] = []

    def cannot(element: str, what: str) -> None:
        found.append(Finding("error", f"MJCF cannot express {what}.", ADVICE, element, code="not-mjcf"))

    for body in craft.bodies:
        joint, place = body.joint, f"joint '{body.joint.name}'"
        why = unfit(craft, body.name)
        if why is not None:
            cannot(f"body '{body.name}'", f"this: {why}")
        if joint.stiffness and not joint.motion.single:
            cannot(place, f"the spring of a {joint.kind} joint")
        if joint.backlash:
            cannot(place, "the play of a gear")
        if np.isfinite(joint.limits.velocity):
            cannot(place, "a limit of velocity")
        if not joint.motion.single and np.isfinite([joint.limits.lower, joint.limits.upper]).any():
            cannot(place, f"the range of a {joint.kind} joint")
        if not joint.motion.single and not joint.motion.spins and np.isfinite(joint.limits.effort):
            cannot(place, f"a limit of effort of a {joint.kind} joint")
        if "/" in joint.name or "/" in body.name:
            cannot(place, "names with a slash, which tell apart the joints that one of several coordinates becomes")
    for member in craft.memberships:
        cannot(f"member '{member.name}'", "several spacecraft in one model")
    for thruster in craft.thrusters:
        cannot(f"thruster '{thruster.name}'", "thrusters of no body's joint")
    if found:
        raise ModelError(found)


def _body(
    craft: Spacecraft,
    body: Body,
    children: dict[str | None, list[Body]],
    meshes: dict[tuple[str, str], str],
    depth: int,
) -> list[str]:
    pad, joint = "  " * depth, body.joint
    lines = [f"{pad}<body name={quoteattr(body.name)} {_pose(joint.position, joint.rotation)}>"]
    mass, com, inertia = separate_inertia(craft, body.name)
    if mass or inertia.any():
        xx, xy, xz, yy, yz, zz = inertia_components(inertia)
        full = numbers([xx, yy, zz, xy, xz, yz])
        lines.append(f'{pad}  <inertial pos="{numbers(com)}" mass="{mass!r}" fullinertia="{full}"/>')
    lines += [f"{pad}  {text}" for text in _joints(joint)]
    lines += [f"{pad}  {_geom(shape, meshes)}" for shape in body.shapes]
    for frame in craft.frames:
        if frame.body == body.name:
            lines.append(f"{pad}  <site name={quoteattr(frame.name)} {_pose(frame.position, frame.rotation)}/>")
    for child in children.get(body.name, []):
        lines += _body(craft, child, children, meshes, depth + 1)
    return [*lines, f"{pad}</body>"]


def pieces(joint: Joint) -> list[tuple[str, Array]]:
    """The joints of MuJoCo that a joint becomes: (type, axis), in order."""
    if joint.motion.unbound:
        alone = joint.parent is None and not joint.position.any() and bool((joint.rotation == np.eye(3)).all())
        return [("free", Z)] if alone else [("slide", X), ("slide", Y), ("slide", Z), ("ball", Z)]
    if joint.kind == "planar":
        plane = joint.motion.H(np.zeros(3))[3:, 1:]
        return [("slide", plane[:, 0]), ("slide", plane[:, 1]), ("hinge", joint.axis)]
    return {
        "revolute": [("hinge", joint.axis)],
        "wheel": [("hinge", joint.axis)],
        "prismatic": [("slide", joint.axis)],
        "cylindrical": [("hinge", joint.axis), ("slide", joint.axis)],
        "universal": [("hinge", joint.axis), ("hinge", joint.axis2)],
        "spherical": [("ball", Z)],
        "cartesian": [("slide", X), ("slide", Y), ("slide", Z)],
        "fixed": [],
    }[joint.kind]


def _names(joint: Joint) -> list[str]:
    return [joint.name if k == 0 else f"{joint.name}/{k + 1}" for k in range(len(pieces(joint)))]


def _joints(joint: Joint) -> list[str]:
    lines = []
    for name, (kind, axis) in zip(_names(joint), pieces(joint), strict=True):
        words = {"name": quoteattr(name), "type": f'"{kind}"'}
        if kind in ("hinge", "slide"):
            words["axis"] = f'"{numbers(axis)}"'
        if joint.motion.single:
            limits = joint.limits
            if np.isfinite([limits.lower, limits.upper]).any():
                low, high = np.clip([limits.lower, limits.upper], -UNBOUNDED, UNBOUNDED)
                words["range"] = f'"{numbers([low, high])}"'
            if np.isfinite(limits.effort):
                words["actuatorfrcrange"] = f'"{numbers([-limits.effort, limits.effort])}"'
            if joint.stiffness:
                words |= {"stiffness": f'"{float(joint.stiffness)!r}"', "springref": f'"{float(joint.rest)!r}"'}
        values = {"damping": joint.damping, "frictionloss": joint.friction, "armature": joint.armature}
        words |= {word: f'"{float(value)!r}"' for word, value in values.items() if value}
        lines.append("<joint " + " ".join(f"{word}={value}" for word, value in words.items()) + "/>")
    return lines


def _motors(craft: Spacecraft) -> list[str]:
    """One for each driven coordinate; in a file that has motors, joints without one are passive."""
    lines = []
    roots = {body.name for body in craft.roots}
    for body in craft.bodies:
        joint = body.joint
        if role_of(joint, body.name in roots) not in (Role.driven, Role.wheel):
            continue
        effort = joint.limits.effort
        bound = f' ctrlrange="{numbers([-effort, effort])}"' if np.isfinite(effort) else ""
        for name, (kind, _) in zip(_names(joint), pieces(joint), strict=True):
            for k in range(3 if kind == "ball" else 1):
                gear = numbers([1.0 if i == k else 0.0 for i in range(6)])
                own = name if kind != "ball" else f"{name}.{'xyz'[k]}"
                lines.append(f'    <motor name={quoteattr(own)} joint={quoteattr(name)} gear="{gear}"{bound}/>')
    return lines


def _meshes(craft: Spacecraft, folder: Path) -> dict[tuple[str, str], str]:
    """One line for each mesh and scale that is used."""
    found: dict[tuple[str, str], str] = {}
    for body in craft.bodies:
        for shape in body.shapes:
            if shape.kind == "mesh":
                name, scale = mesh_file(shape, folder), numbers(shape.size)
                line = f'    <mesh name="mesh_{len(found) + 1}" file={quoteattr(name)} scale="{scale}"/>'
                found.setdefault((shape.file, scale), line)
    return found


def _geom(shape: Shape, meshes: dict[tuple[str, str], str]) -> str:
    size = [float(x) for x in shape.size]
    if shape.kind == "mesh":
        place = list(meshes).index((shape.file, numbers(size))) + 1
        what = f'type="mesh" mesh="mesh_{place}"'
    else:
        halves = {
            "box": [0.5 * x for x in size],
            "sphere": size[:1],
            "cylinder": [size[0], 0.5 * size[-1]],
        }[shape.kind]
        what = f'type="{shape.kind}" size="{numbers(halves)}"'
    colour = "" if shape.color is None else f' rgba="{numbers([*shape.color, 1.0][:4])}"'
    return f'<geom {what} {_pose(shape.position, shape.rotation)} contype="0" conaffinity="0" mass="0"{colour}/>'


def _pose(position: Array | tuple[float, ...], R: Array) -> str:
    return f'pos="{numbers(position)}" quat="{numbers(quat_from_rotation(np.asarray(R, dtype=float)))}"'
