"""URDF files. The root floats, no mass is lost, fixed joints are merged, and no mesh is ever opened."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ..model import Body, Joint, Limits, Spacecraft, nearest
from ..model.names import name_of
from .assemble import assemble
from .names import NameCheck
from .report import Report, fail
from .urdf_names import VOCABULARY
from .urdf_origin import origin
from .urdf_shapes import Shapes
from .values import number, vector
from .xml_reader import Element, parse_xml

# URDF joint type -> gyrostat joint kind
KIND_OF_TYPE = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "planar": "planar",
    "floating": "free",
    "fixed": "fixed",
    "spherical": "spherical",
}
UNBOUNDED = 1e30  # a limit of this size or more is none


def read_urdf(data: bytes, file: str, *, base: str | None = None, mesh_roots: tuple[Path, ...] = ()) -> Spacecraft:
    """The spacecraft in a URDF document. `base` is the base's joint kind, "free" unless given."""
    robot = parse_xml(data, file)
    if robot.tag != "robot":
        raise fail(
            "not-urdf",
            file,
            f"the root element is <{robot.tag}>; expected <robot>.",
            "Is this a URDF file?",
            robot.line,
        )
    report = Report(file)
    shapes = Shapes(report, robot, mesh_roots)
    links = _links(report, robot, shapes)
    bodies = _tree(report, robot, links)
    NameCheck(report, VOCABULARY).walk(robot)
    report.raise_errors()
    lines = {f"body '{e.attributes['name']}'": (file, e.line) for e in robot.all("link")}
    lines |= {f"joint '{e.attributes['name']}'": (file, e.line) for e in robot.all("joint")}
    return assemble(report, robot.attributes.get("name") or name_of(Path(file)), bodies, base, lines)


def _links(report: Report, robot: Element, shapes: Shapes) -> dict[str, Body]:
    links: dict[str, Body] = {}
    for element in robot.all("link"):
        name = _name(report, element)
        place = f"link '{name}'"
        if name in links:
            report.error("duplicate-name", place, "this name is used twice.", "Rename one of them.", element.line)
            continue
        mass, com, inertia = _inertial(report, element, place)
        links[name] = Body(name, mass, com, inertia, shapes=shapes.of_link(element, place))
    if not links:
        report.error("no-body", "<robot>", "has no <link>; expected at least one.", line=robot.line)
    return links


def _name(report: Report, element: Element) -> str:
    name = element.attributes.get("name", "")
    if not name:
        report.error("no-name", f"<{element.tag}>", "has no name.", 'Give it one: name="...".', element.line)
        element.attributes["name"] = name = f"unnamed_{element.line}"
    return name


def _inertial(report: Report, link: Element, place: str) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia about it, in the link's axes."""
    given = link.first("inertial")
    if given is None:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    weight, moments = given.first("mass"), given.first("inertia")
    if weight is None or "value" not in weight.attributes:
        report.error("no-mass", place, "<inertial> has no mass.", 'Add <mass value="..."/>.', given.line)
        return 0.0, np.zeros(3), np.zeros((3, 3))
    com, R = origin(report, given, place)
    mass = number(report, weight, "value", 0.0, place)
    if moments is None:
        report.warning(
            "no-inertia", place, f"has mass {mass:.6g} kg but no <inertia>: taken as a point.", line=given.line
        )
        return mass, com, np.zeros((3, 3))
    left_out = [name for name in ("ixy", "ixz", "iyz") if name not in moments.attributes]
    if left_out:
        message = f"<inertia> has no {', '.join(left_out)}: taken as zero (other readers drop the whole inertia)."
        report.note("no-products", place, message, line=moments.line)
    xx, xy, xz, yy, yz, zz = (
        _moment(report, moments, name, place) for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if mass == 0.0 and inertia.any():
        message = "has inertia but no mass: it turns as if it were heavy and moves as if it were nothing."
        report.warning("no-mass", place, message, "Give it its mass, or leave the inertia out.", given.line)
    turned = R @ inertia @ R.T
    return mass, com, inertia if np.array_equal(R, np.eye(3)) else 0.5 * (turned + turned.T)


def _moment(report: Report, element: Element, name: str, place: str) -> float:
    if name not in element.attributes and name in ("ixx", "iyy", "izz"):
        report.error("no-inertia", place, f"<inertia> has no {name}.", f'Add {name}="...".', element.line)
    return number(report, element, name, 0.0, place)


def _tree(report: Report, robot: Element, links: dict[str, Body]) -> list[Body]:
    """Every link with the joint that carries it, roots first, then in the order of the joints."""
    carried: dict[str, tuple[Joint, int]] = {}
    seen: dict[str, int] = {}
    broken: set[str | None] = set()  # children of joints with errors of their own: not roots
    for element in robot.all("joint"):
        name = _name(report, element)
        place = f"joint '{name}'"
        if name in seen:
            report.error(
                "duplicate-name", place, f"this name is used in line {seen[name]} already.", "Rename one.", element.line
            )
            continue
        seen[name] = element.line
        joint, child = _joint(report, element, name, links)
        if child is None or joint is None:
            broken.add(child)
            continue
        if child in carried:
            other, line = carried[child]
            report.error(
                "two-parents",
                f"link '{child}'",
                f"is the child of joint '{other.name}' (line {line}) and of joint '{name}': it has two parents.",
                "Remove one of the joints; close loops with a constraint instead.",
                element.line,
            )
            continue
        carried[child] = (joint, element.line)
    taken = set(seen)
    base_name = next(
        name
        for name in ("base", "base_joint", *(f"base_joint_{i}" for i in range(len(taken) + 1)))
        if name not in taken
    )
    roots = [
        replace(link, joint=Joint(base_name, "free"))
        for name, link in links.items()
        if name not in carried and name not in broken
    ]
    if len(roots) > 1:
        listed = ", ".join(f"'{root.name}'" for root in roots[:8]) + (", ..." if len(roots) > 8 else "")
        report.error(
            "several-roots",
            "<robot>",
            f"{len(roots)} links have no parent: {listed}.",
            "Join them, or split the file into one per spacecraft.",
            robot.line,
        )
    return roots + [replace(links[child], joint=joint) for child, (joint, _) in carried.items()]


def _joint(report: Report, element: Element, name: str, links: dict[str, Body]) -> tuple[Joint | None, str | None]:
    place = f"joint '{name}'"
    ends: dict[str, str | None] = {}
    for end in ("parent", "child"):
        given = element.first(end)
        link = None if given is None else given.attributes.get("link")
        if given is None or link is None:
            report.error(f"no-{end}", place, f"has no {end} link.", f'Add <{end} link="..."/>.', element.line)
        elif link not in links:
            report.error(
                "unknown-link", place, f"its {end} link '{link}' does not exist.", nearest(link, links), given.line
            )
            link = None
        ends[end] = link
    type_ = element.attributes.get("type")
    if type_ not in KIND_OF_TYPE:
        found = "has no type." if type_ is None else f"unknown joint type '{type_}'."
        report.error("unknown-joint-type", place, found, nearest(type_ or "", KIND_OF_TYPE), element.line)
        return None, ends["child"]
    position, R = origin(report, element, place)
    damping, friction = _passive(report, element, place)
    joint = Joint(
        name,
        KIND_OF_TYPE[type_],
        ends["parent"],
        position,
        R,
        _axis(report, element, place, type_),
        limits=_limits(report, element, place, type_),
        damping=damping,
        friction=friction,
    )
    if element.first("mimic") is not None:
        mimicked = element.first("mimic").attributes.get("joint", "?")  # type: ignore[union-attr]
        report.note("mimic-ignored", place, f"mimics joint '{mimicked}'; here it moves on its own.", line=element.line)
    return (joint, ends["child"]) if ends["parent"] else (None, ends["child"])


def _axis(report: Report, element: Element, place: str, type_: str) -> np.ndarray:
    given = element.first("axis")
    if given is None or type_ in ("fixed", "floating", "spherical"):
        return np.array([1.0, 0.0, 0.0])
    axis = vector(report, given, "xyz", (1.0, 0.0, 0.0), place)
    length = float(np.sqrt(axis @ axis))
    if not axis.any():
        report.error("zero-axis", place, "axis is (0, 0, 0); expected a direction.", "Give, say, 0 0 1.", given.line)
        return np.array([1.0, 0.0, 0.0])
    if abs(length - 1.0) > 1e-6:
        text = given.attributes.get("xyz", "")
        report.note(
            "axis-normalised", place, f"axis ({text}) has length {length:.6g}; it was normalised.", line=given.line
        )
    return axis


def _passive(report: Report, element: Element, place: str) -> tuple[float, float]:
    given = element.first("dynamics")
    if given is None:
        return 0.0, 0.0
    return number(report, given, "damping", 0.0, place), number(report, given, "friction", 0.0, place)


def _limits(report: Report, element: Element, place: str, type_: str) -> Limits:
    """Range, rate and effort. Nothing said, or only zeros (an exporter's blanks), means no limit."""
    given = element.first("limit")
    if given is None:
        if type_ in ("revolute", "prismatic"):
            meant = "as continuous" if type_ == "revolute" else "as unlimited"
            report.note("no-limits", place, f"is {type_} without <limit>: taken {meant}.", line=element.line)
        return Limits()
    values = {name: number(report, given, name, 0.0, place) for name in ("lower", "upper", "velocity", "effort")}
    if not any(values.values()) and type_ in ("revolute", "prismatic"):
        report.note("no-limits", place, "its limits are all zero: taken as no limits.", line=given.line)
        return Limits()
    blank = [name for name in ("velocity", "effort") if values[name] == 0.0]
    if blank and any(name in given.attributes for name in blank):
        report.note("no-limits", place, f"{' and '.join(blank)} limit of zero taken as no limit.", line=given.line)
    values |= dict.fromkeys(blank, np.inf)
    ranged = type_ in ("revolute", "prismatic") and ("lower" in given.attributes or "upper" in given.attributes)
    if not ranged:
        values |= {"lower": -np.inf, "upper": np.inf}
    values = {name: float(np.copysign(np.inf, x)) if abs(x) >= UNBOUNDED else x for name, x in values.items()}
    if values["lower"] > values["upper"]:
        message = f"lower limit {values['lower']} is above upper limit {values['upper']}."
        report.error("limits", place, message, "Exchange them.", given.line)
    return Limits(**values)
