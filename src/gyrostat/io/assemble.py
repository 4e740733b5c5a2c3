"""From links and joints, as a file gives them, to a spacecraft: fixed joints merged, the base's joint settled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model import Body, Frame, Spacecraft
from ..model.validation import mass_findings
from .merge import merge_fixed
from .report import Report, build

Lines = dict[str, tuple[str, int]]


def assemble(
    report: Report,
    name: str,
    bodies: list[Body],
    base: str | None,
    lines: Lines,
    frames: tuple[Frame, ...] = (),
) -> Spacecraft:
    """Links on fixed joints merged, the base's joint settled, the spacecraft built."""
    ordered = _parents_first(bodies)
    if len(ordered) < len(bodies):  # no tree: let validation say why
        return build(report, name, bodies, frames, lines=lines)
    merged, all_frames = merge_fixed(ordered, frames)
    _note_merged(report, ordered, all_frames, lines)
    report.raise_errors()
    merged, all_frames = _without_dummy_root(report, merged, all_frames, lines)
    root = merged[0]
    kind = base or _custom(report, root, lines)
    if root.joint.kind != kind:
        merged[0] = replace(root, joint=replace(root.joint, kind=kind))
    return build(report, name, merged, all_frames, lines=lines)


def _custom(report: Report, root: Body, lines: Lines) -> str:
    """A root floats. Only a root without mass and with the name "world" is the ground, by custom."""
    file, line = lines.get(f"body '{root.name}'", (report.file, None))
    if root.name != "world":
        return "free"
    if root.mass or root.inertia.any():
        message, hint = "the root link floats freely, as every root does.", "Pass base='fixed' to hold it."
        report.note("world-floats", "link 'world'", message, hint, line, file)
        return "free"
    report.note("world-held", "link 'world'", "has no mass: taken as the ground, the base is fixed.", "", line, file)
    return "fixed"


def _parents_first(bodies: list[Body]) -> list[Body]:
    """Reachable bodies, each after its parent; fewer than given where there is a loop or not one root."""
    children: dict[str | None, list[Body]] = {}
    for body in bodies:
        children.setdefault(body.parent, []).append(body)
    ordered: list[Body] = []
    stack = list(reversed(children.get(None, [])))
    if len(stack) != 1:
        return []
    while stack:
        body = stack.pop()
        ordered.append(body)
        stack.extend(reversed(children.get(body.name, [])))
    return ordered


def _note_merged(report: Report, bodies: list[Body], frames: list[Frame], lines: Lines) -> None:
    """Say which links were merged, and judge the mass properties of each before they disappear in a sum."""
    carriers = {frame.name: frame.body for frame in frames}
    involved = set(carriers.values())
    for body in bodies:
        if body.name not in carriers and body.name not in involved:
            continue
        file, line = lines.get(f"body '{body.name}'", (report.file, None))
        for f in mass_findings(f"link '{body.name}'", body.mass, body.com, body.inertia):
            if f.level == "error" or body.name in carriers:
                report.findings.append(replace(f, file=file, line=line))
        if body.name in carriers:
            code, what = ("merged", f"{body.mass:.6g} kg") if body.mass else ("zero-mass-merged", "no mass")
            message = f"({what}) is fixed on '{carriers[body.name]}': merged into it, kept as a frame."
            report.note(code, f"link '{body.name}'", message, line=line, file=file)


def _without_dummy_root(
    report: Report, bodies: list[Body], frames: list[Frame], lines: Lines
) -> tuple[list[Body], list[Frame]]:
    """A massless root whose only child floats on it stands for the inertial frame: the child is the base."""
    root = bodies[0]
    carried = [body for body in bodies if body.parent == root.name]
    if root.mass or root.inertia.any() or len(carried) != 1 or carried[0].joint.kind != "free":
        return bodies, frames
    base = carried[0]
    lost = [root.name, *(frame.name for frame in frames if frame.body == root.name)]
    moved = base.joint.position.any() or not np.array_equal(base.joint.rotation, np.eye(3))
    hint = "The origin of that joint is dropped: the base's pose is q[:7]." if moved else ""
    file, line = lines.get(f"joint '{base.joint.name}'", (report.file, None))
    report.note(
        "dummy-root",
        f"joint '{base.joint.name}'",
        f"lets '{base.name}' float on the massless {', '.join(map(repr, lost))}: '{base.name}' is the base.",
        hint,
        line,
        file,
    )
    rest = [body for body in bodies if body is not root and body is not base]
    freed = replace(base, joint=replace(base.joint, parent=None, position=np.zeros(3), rotation=np.eye(3)))
    return [freed, *rest], [frame for frame in frames if frame.body != root.name]
