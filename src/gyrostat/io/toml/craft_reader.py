"""gyrostat's own TOML format, read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...model import KINDS, Body, Frame, Joint, Limits, Membership, Shape, Spacecraft, Thruster, Wheel, nearest
from ...model.members import NAMESPACES
from ..meshes import resolve
from ..report import Report, build, fail
from .craft_tables import BodyTable, Document, JointTable, ShapeTable
from .flexible_reader import flexible_body
from .parts_of_craft import part_of_craft
from .source import Source
from .text import MAX_BYTES, Place
from .units import Measure, joint_dimension

# key of a joint, or of its limits -> what it is, as `joint_dimension` has it
_IN_LIMITS = {"lower": "position", "upper": "position", "velocity": "rate", "effort": "load"}
_IN_JOINT = {
    "stiffness": "stiffness",
    "rest": "position",
    "damping": "damping",
    "friction": "load",
    "backlash": "position",
}
_IN_JOINT["rotor_inertia"] = "inertia"


def read_toml(
    data: bytes, file: str, *, base: str | None = None, mesh_roots: tuple[Path, ...] = (), whole: bool = True
) -> Spacecraft:
    """The spacecraft in a TOML document. `base` replaces the kind of the base's joint. whole: it may have parts."""
    if len(data) > MAX_BYTES:
        raise fail(
            "too-large", file, f"has {len(data) / 2**20:.1f} MB; at most {MAX_BYTES // 2**20} MB of TOML are read."
        )
    source = Source(data, file)
    document = source.checked(Document)
    if document.part and not whole:
        raise fail("part", file, "is a part and has parts itself.", "Write them into one file.")
    return _build(source, document, base, mesh_roots)


def _build(source: Source, document: Document, base: str | None, roots: tuple[Path, ...]) -> Spacecraft:
    report, lines = source.report, source.lines
    places: dict[str, tuple[str, int]] = {}
    bodies: list[Any] = []
    for i, table in enumerate(document.body):
        line = lines.get(("body", i), 0)
        joint = _joint(source, table, ("body", i, "joint"), base)
        places |= {f"body '{table.name}'": (report.file, line)}
        if joint is None:
            continue
        places |= {f"joint '{joint.name}'": (report.file, lines.get(("body", i, "joint"), line))}
        shapes = [
            _shape(report, shape, f"body '{table.name}'", lines.get(("body", i, "shape", k), line), roots)
            for k, shape in enumerate(table.shape)
        ]
        drawn = tuple(shape for shape in shapes if shape is not None)
        if table.bending:
            places |= {f"flexible body '{table.name}'": (report.file, line)}
            bent = flexible_body(source, table, ("body", i), joint, drawn)
            bodies += [bent] if bent is not None else []
        elif table.mass is None:
            source.error("missing-key", ("body", i), "has no 'mass'.", "Add mass = ....")
        else:
            com, inertia = (np.zeros(3) if x is None else np.array(x) for x in (table.com, table.inertia))
            bodies.append(Body(table.name, table.mass, com, inertia, joint, drawn, table.included))
    for i, wheel in enumerate(document.wheel):
        places |= {f"{what} '{wheel.name}'": (report.file, lines.get(("wheel", i), 0)) for what in ("body", "joint")}
        try:
            bodies.append(Wheel(**wheel.model_dump()))
        except ValueError as error:
            report.error("wheel", f"wheel '{wheel.name}'", str(error), line=lines.get(("wheel", i)))
    frames = [Frame(frame.name, frame.body, np.array(frame.position), frame.R) for frame in document.frame]
    thrusters = [Thruster(**thruster.model_dump()) for thruster in document.thruster]
    for what, parts in (("frame", frames), ("thruster", thrusters)):
        places |= {f"{what} '{part.name}'": (report.file, lines.get((what, i), 0)) for i, part in enumerate(parts)}  # type: ignore[attr-defined]
    for i, given in enumerate(document.part):
        part = part_of_craft(source, given, i, lambda data, file: read_toml(data, file, mesh_roots=roots, whole=False))
        if part is not None:
            bodies, frames, thrusters = [*bodies, *part.bodies], [*frames, *part.frames], [*thrusters, *part.thrusters]
            where = (report.file, lines.get(("part", i), 0))
            for what, names in (("body", part.bodies), ("joint", part.joints), ("frame", part.frames)):
                places |= {f"{what} '{one.name}'": where for one in names}
            places |= {f"thruster '{one.name}'": where for one in part.thrusters}
    memberships = []
    for i, member in enumerate(document.member):
        places |= {f"member '{member.name}'": (report.file, lines.get(("member", i), 0))}
        renamed = dict(zip(NAMESPACES, (member.bodies, member.joints, member.thrusters), strict=True))
        memberships.append(Membership(member.name, member.base, renamed))
    return build(report, document.name, bodies, frames, thrusters, memberships, lines=places)


def _joint(source: Source, table: BodyTable, place: Place, base: str | None) -> Joint | None:
    given: JointTable = table.joint
    root = table.parent is None
    kind = given.kind
    if root and "kind" not in given.model_fields_set:
        kind = "free"
    if root and base is not None:
        kind = base
    name = given.name or ("base" if root else f"{table.name}_joint")
    if kind not in KINDS:
        message, line = f"unknown kind '{kind}'.", source.line(place)
        source.report.error("unknown-joint-type", f"joint '{name}'", message, nearest(kind, KINDS), line)
        return None
    numbers: dict[str, Any] = _numbers(source, kind, place, given, _IN_JOINT)
    return Joint(
        name,
        kind,
        table.parent,
        np.array(given.position),
        given.R,
        np.array(given.axis),
        np.array(given.axis2),
        Limits(**_numbers(source, kind, (*place, "limits"), given.limits, _IN_LIMITS)),
        gear_ratio=given.gear_ratio,
        driven=given.driven,
        node=given.node or "",
        **numbers,
    )


def _numbers(source: Source, kind: str, place: Place, table: Any, keys: dict[str, str]) -> dict[str, float]:
    """In SI. A unit must be that of all of the joint's coordinates; where they differ, there is none."""
    units = set(KINDS[kind].v_units)
    found = {}
    for key, what in keys.items():
        one: Measure = getattr(table, key)
        try:
            if len(units) == 1:
                found[key] = one.of(joint_dimension(next(iter(units)), what))
            else:
                found[key] = one.plain(f"coordinates of a {kind} joint have {'several units' if units else 'none'}")
        except ValueError as error:
            source.error("wrong-unit", place, f"{key} of a {kind} joint {error}.", key=key)
            found[key] = 0.0
    return found


def _shape(report: Report, table: ShapeTable, place: str, line: int, roots: tuple[Path, ...]) -> Shape | None:
    file = ""
    if table.kind == "mesh":
        path, reason = resolve(table.file, roots)
        if path is None:
            report.note("mesh-missing", place, f"mesh '{table.file}' is not drawn: {reason}.", line=line)
            return None
        file = str(path)
    color = None if table.color is None else tuple(table.color)
    return Shape(table.kind, tuple(one.value for one in table.size), tuple(table.position), table.R, color, file)
