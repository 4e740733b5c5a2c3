"""gyrostat's own TOML format, read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from ..model import KINDS, Body, Frame, Joint, Limits, Membership, Shape, Spacecraft, Thruster, Wheel, nearest
from ..model.members import NAMESPACES
from .meshes import resolve
from .report import Report, build, fail
from .toml_schema import TABLES, BodyTable, Document, JointTable, ShapeTable
from .toml_text import Place, key_lines, line_of, parse_toml, reason_of

MAX_REPORTED = 40
MAX_BYTES = 4 * 1024 * 1024  # ten thousand bodies take 1.5 MB; tomllib reads 0.7 MB a second


def read_toml(data: bytes, file: str, *, base: str | None = None, mesh_roots: tuple[Path, ...] = ()) -> Spacecraft:
    """The spacecraft in a TOML document. `base` replaces the kind of the base's joint."""
    if len(data) > MAX_BYTES:
        raise fail(
            "too-large", file, f"has {len(data) / 2**20:.1f} MB; at most {MAX_BYTES // 2**20} MB of TOML are read."
        )
    text, raw = parse_toml(data, file)
    lines = key_lines(text)
    report = Report(file)
    try:
        document = Document.model_validate(raw)
    except ValidationError as error:
        for item in error.errors(include_url=False)[:MAX_REPORTED]:
            _report(report, raw, lines, item)
        report.raise_errors()
        raise  # unreachable: every item is an error
    return _build(report, document, lines, base, mesh_roots)


def _build(
    report: Report, document: Document, lines: dict[Place, int], base: str | None, roots: tuple[Path, ...]
) -> Spacecraft:
    places: dict[str, tuple[str, int]] = {}
    bodies: list[Body] = []
    for i, table in enumerate(document.body):
        line = lines.get(("body", i), 0)
        joint = _joint(report, table, lines.get(("body", i, "joint"), line), base)
        places |= {f"body '{table.name}'": (report.file, line)}
        if joint is None:
            continue
        places |= {f"joint '{joint.name}'": (report.file, lines.get(("body", i, "joint"), line))}
        shapes = [
            _shape(report, shape, f"body '{table.name}'", lines.get(("body", i, "shape", k), line), roots)
            for k, shape in enumerate(table.shape)
        ]
        drawn = tuple(shape for shape in shapes if shape is not None)
        bodies.append(
            Body(table.name, table.mass, np.array(table.com), np.array(table.inertia), joint, drawn, table.included)
        )
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
    memberships = []
    for i, member in enumerate(document.member):
        places |= {f"member '{member.name}'": (report.file, lines.get(("member", i), 0))}
        renamed = dict(zip(NAMESPACES, (member.bodies, member.joints, member.thrusters), strict=True))
        memberships.append(Membership(member.name, member.base, renamed))
    return build(report, document.name, bodies, frames, thrusters, memberships, lines=places)


def _joint(report: Report, table: BodyTable, line: int, base: str | None) -> Joint | None:
    given: JointTable = table.joint
    root = table.parent is None
    kind = given.kind
    if root and "kind" not in given.model_fields_set:
        kind = "free"
    if root and base is not None:
        kind = base
    name = given.name or ("base" if root else f"{table.name}_joint")
    if kind not in KINDS:
        report.error("unknown-joint-type", f"joint '{name}'", f"unknown kind '{kind}'.", nearest(kind, KINDS), line)
        return None
    numbers = {
        key: getattr(given, key) for key in ("stiffness", "rest", "damping", "friction", "rotor_inertia", "gear_ratio")
    } | {"driven": given.driven}
    return Joint(
        name,
        kind,
        table.parent,
        np.array(given.position),
        given.R,
        np.array(given.axis),
        np.array(given.axis2),
        Limits(**given.limits.model_dump()),
        **numbers,
    )


def _shape(report: Report, table: ShapeTable, place: str, line: int, roots: tuple[Path, ...]) -> Shape | None:
    file = ""
    if table.kind == "mesh":
        path, reason = resolve(table.file, roots)
        if path is None:
            report.note("mesh-missing", place, f"mesh '{table.file}' is not drawn: {reason}.", line=line)
            return None
        file = str(path)
    color = None if table.color is None else tuple(table.color)
    return Shape(table.kind, tuple(table.size), tuple(table.position), table.R, color, file)


# ---- what is wrong with a document


def _report(report: Report, raw: dict[str, Any], lines: dict[Place, int], item: Any) -> None:
    """One finding from one pydantic error."""
    loc: Place = tuple(part for part in item["loc"] if isinstance(part, int) or "[" not in part and part != "list")
    line = line_of(lines, loc)
    element = _element(raw, loc)
    key = next((str(part) for part in reversed(loc) if isinstance(part, str)), "")
    if item["type"] == "extra_forbidden":
        table = TABLES.get(tuple(part for part in loc[:-1] if isinstance(part, str)), Document)
        message, hint = f"unknown key '{key}'.", nearest(key, table.model_fields)
        report.error("unknown-key", element, message, hint, line)
    elif item["type"] == "missing":
        report.error("missing-key", element, f"has no '{key}'.", f"Add {key} = ...", line)
    else:
        reason, value = reason_of(item, key), repr(item["input"])
        value = value if len(value) <= 60 else value[:57] + "..."
        report.error(_code(key, reason), element, f"{key} is {value}: {reason}.", "", line)


def _code(key: str, reason: str) -> str:
    if "finite" in reason or "or inf for no limit" in reason:
        return "not-finite"
    if reason.startswith("expected a number") or reason.endswith(("is no number", "too large for a number")):
        return "malformed-number"
    return "quaternion-norm" if key == "quaternion" and "norm" in reason else "wrong-value"


def _element(raw: Any, loc: Place) -> str:
    """As in "body 'link_3'", or "body 3" where it has no name."""
    if len(loc) < 2 or not isinstance(loc[1], int):
        return ""
    try:
        name = raw[loc[0]][loc[1]].get("name")
    except (KeyError, IndexError, TypeError, AttributeError):
        name = None
    return f"{loc[0]} '{name}'" if isinstance(name, str) else f"{loc[0]} number {loc[1] + 1}"
