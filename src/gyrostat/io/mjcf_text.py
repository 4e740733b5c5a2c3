"""An MJCF file made ready for MuJoCo's compiler: includes written out, everything but the dynamics taken away.

MuJoCo decides what defaults, compiler settings, orientations and geom-derived inertias mean. What it is given is vetted
first: no file outside the model's folder is opened, nothing unbounded (composites, replicas, textures) is expanded, no
mesh is read unless a body's inertia is derived from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import quoteattr

from .bounded import is_archive
from .meshes import resolve
from .mjcf_include import bound, write_out_includes
from .mjcf_names import OPTIONS, VOCABULARY
from .names import NameCheck, misspelt
from .report import Report
from .values import malformed
from .xml_reader import Element, parse_xml, read_bytes

MAX_ASSET_BYTES = 64 * 2**20
SECTIONS = ("compiler", "default", "asset", "worldbody")
IN_DEFAULT = ("default", "geom", "joint", "site", "mesh")
IN_BODY = ("body", "frame", "replicate", "geom", "joint", "freejoint", "inertial", "site")
UNSUPPORTED = ("composite", "flexcomp", "flex", "attach", "plugin")
# fmt: off
NUMERIC = {
    "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "size", "fromto", "mass", "density", "axis", "range",
    "stiffness", "damping", "armature", "frictionloss", "ref", "springref", "springdamper", "diaginertia",
    "fullinertia", "actuatorfrcrange", "offset", "scale", "refpos", "refquat", "boundmass", "boundinertia",
    "settotalmass",
}
# fmt: on
IGNORED_ATTRIBUTES = {
    "compiler": ("meshdir", "texturedir", "assetdir", "fusestatic", "discardvisual"),
    "geom": ("material",),
}


@dataclass
class Prepared:
    """The text for MuJoCo, the place of each of its lines, and what was set aside."""

    text: str = ""
    places: list[tuple[str, int]] = field(default_factory=list)  # of line 1, 2, ...
    assets: dict[str, bytes] = field(default_factory=dict)
    meshes: dict[str, tuple[str, tuple[float, ...]]] = field(default_factory=dict)  # geom -> file, scale: for viewing
    colors: dict[str, tuple[float, ...]] = field(default_factory=dict)  # geom -> colour of its material
    name: str = ""
    elements: dict[str, tuple[str, int]] = field(default_factory=dict)  # "body 'hub'" -> file and line
    motors: dict[str, tuple[str, int]] = field(default_factory=dict)  # joint that an actuator moves -> file and line


def prepare(data: bytes, file: str, report: Report, roots: tuple[Path, ...]) -> Prepared:
    """Read, vet and flatten an MJCF document."""
    root = parse_xml(data, file)
    write_out_includes(root, Path(file))
    bound(root)
    NameCheck(report, VOCABULARY).walk(root)
    for option in root.all("option"):
        _note_option(report, option)
    return _Preparation(root, report, roots).result


class _Preparation:
    def __init__(self, root: Element, report: Report, roots: tuple[Path, ...]) -> None:
        self.report, self.roots, self.result = report, roots, Prepared()
        self.defaults = _geom_defaults(root)
        self.compiler = {k: v for e in root.all("compiler") for k, v in e.attributes.items()}
        self.materials = {
            e.attributes.get("name", ""): e.attributes.get("rgba", "") for e in root.walk() if e.tag == "material"
        }
        self.mesh_assets = {_mesh_name(e): e for asset in root.all("asset") for e in asset.all("mesh")}
        self.mesh_scale = next(
            (e.attributes["scale"] for d in root.all("default") for e in d.all("mesh") if "scale" in e.attributes), ""
        )
        self.needed: set[str] = set()  # meshes from which an inertia is derived
        self.lines: list[str] = []
        self.result.name = root.attributes.get("model", "")
        for e in root.walk():
            if e.tag in ("body", "joint", "freejoint") and "name" in e.attributes:
                self.result.elements[f"{e.tag.removeprefix('free')} '{e.attributes['name']}'"] = (e.file, e.line)
        self.result.motors = _motors(root)
        self._note_ignored(root)
        body_lines = self._collected(root)
        self._emit("<mujoco>", root)
        self._emit('<compiler fusestatic="false" discardvisual="false"/>', root)
        self.lines += body_lines[0]
        self.result.places += body_lines[1]
        self._assets()
        self._emit("</mujoco>", root)
        self.result.text = "\n".join(self.lines)

    # ---- writing, one element per line

    def _emit(self, text: str, element: Element) -> None:
        self.lines.append(text)
        self.result.places.append((element.file, element.line))

    def _collected(self, root: Element) -> tuple[list[str], list[tuple[str, int]]]:
        """Everything but the assets, whose need is known only once all bodies were seen."""
        for section in root.children:
            if section.tag in ("compiler", "default", "worldbody"):
                self._write(section, "", explicit=True)
        taken = (self.lines, self.result.places)
        self.lines, self.result.places = [], []
        return taken

    def _write(self, element: Element, childclass: str, explicit: bool, default: bool = False) -> None:
        """`childclass` is the class in force; `explicit`, whether the body around has an <inertial> that is used."""
        tag, attributes = element.tag, dict(element.attributes)
        for name in IGNORED_ATTRIBUTES.get(tag, ()):
            attributes.pop(name, None)
        self._check_numbers(element)
        default = default or tag == "default"
        if default and tag == "geom":
            attributes.pop("mesh", None)
            attributes.pop("hfield", None)
        if tag == "geom" and not default:
            kept = self._geom(element, attributes, childclass, explicit)
            if kept is None:
                return
            attributes = kept
        if tag == "body":
            childclass = attributes.get("childclass", childclass)
            used = self.compiler.get("inertiafromgeom", "auto") != "true"
            explicit = used and element.first("inertial") is not None
        if tag in ("frame", "replicate"):
            childclass = attributes.get("childclass", childclass)
        allowed = IN_DEFAULT if tag == "default" else IN_BODY
        children = [child for child in element.children if child.tag in allowed]
        for child in element.children:
            if child.tag in UNSUPPORTED and not default:
                self.report.error(
                    "unsupported",
                    f"<{child.tag}>",
                    "is not supported.",
                    "Write its bodies out.",
                    child.line,
                    child.file,
                )
        text = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
        if not children:
            self._emit(f"<{tag}{text}/>", element)
            return
        self._emit(f"<{tag}{text}>", element)
        for child in children:
            self._write(child, childclass, explicit, default)
        self._emit(f"</{tag}>", element)

    # ---- geoms and meshes

    def _geom(
        self, element: Element, attributes: dict[str, str], childclass: str, explicit: bool
    ) -> dict[str, str] | None:
        """The geom as MuJoCo shall see it: meshes that no inertia needs become massless points,
        so that their pose is known.
        """
        resolved = self.defaults.get(attributes.get("class", childclass), self.defaults[""]) | element.attributes
        kind = resolved.get("type", "mesh" if "mesh" in resolved else "sphere")
        name = attributes.setdefault("name", f"geom@{element.file}:{element.line}:{len(self.lines)}")
        color = self.materials.get(resolved.get("material", ""), "") if "rgba" not in element.attributes else ""
        if color and not any(map(malformed, color.split())):
            self.result.colors[name] = tuple(float(x) for x in color.split())
        if kind in ("plane", "hfield", "sdf"):
            return None
        if "mesh" not in resolved:
            return attributes
        mesh = resolved["mesh"]
        massless = resolved.get("mass") in ("0", "0.0") or (
            resolved.get("density") in ("0", "0.0") and "mass" not in resolved
        )
        if not explicit and not massless and self._in_group_range(resolved):
            self.needed.add(mesh)
            attributes |= {"mesh": mesh}
        else:
            for dropped in ("mesh", "fromto", "density", "hfield", "fitscale", "shellinertia"):
                attributes.pop(dropped, None)
            attributes |= {"type": "sphere", "size": "0.001", "mass": "0"}
        drawn = self._drawn(mesh) if kind == "mesh" else None
        if drawn is not None:
            self.result.meshes[name] = drawn
        return attributes

    def _in_group_range(self, geom: dict[str, str]) -> bool:
        try:
            low, high = (int(x) for x in self.compiler.get("inertiagrouprange", "0 5").split())
            return low <= int(geom.get("group", "0")) <= high
        except ValueError:
            return True  # malformed: MuJoCo will say so

    def _reference(self, mesh: Element) -> str:
        folder = self.compiler.get("meshdir", self.compiler.get("assetdir", ""))
        name = mesh.attributes.get("file", "")
        return f"{folder}/{name}" if folder and "://" not in name else name

    def _drawn(self, mesh: str) -> tuple[str, tuple[float, ...]] | None:
        """File and scale of a mesh that is only looked at, if it is there."""
        asset = self.mesh_assets.get(mesh)
        if asset is None or "file" not in asset.attributes:
            return None
        path, reason = resolve(self._reference(asset), self.roots)
        if path is None and mesh in self.needed:
            return None  # an error, reported with the asset
        if path is None:
            message = f"mesh '{self._reference(asset)}' is not drawn: {reason}."
            self.report.note("mesh-missing", f"<mesh> '{mesh}'", message, line=asset.line, file=asset.file)
            return None
        words = asset.attributes.get("scale", self.mesh_scale).split()
        scale = (
            tuple(float(word) for word in words)
            if len(words) == 3 and not any(map(malformed, words))
            else (1.0, 1.0, 1.0)
        )
        return str(path), scale

    def _assets(self) -> None:
        """The meshes from which inertias are derived; their files are the only ones that are opened."""
        for name in sorted(self.needed):
            mesh = self.mesh_assets.get(name)
            if mesh is None:
                continue  # MuJoCo names the geom that refers to it
            attributes = {k: v for k, v in mesh.attributes.items() if k != "material"} | {"name": name}
            self._check_numbers(mesh)
            if "builtin" in attributes:
                self.report.error(
                    "unsupported", f"<mesh> '{name}'", "built-in meshes are not supported.", "", mesh.line, mesh.file
                )
                continue
            if "file" in attributes:
                path, reason = resolve(self._reference(mesh), self.roots)
                if path is None:
                    self.report.error(
                        "mesh-missing",
                        f"<mesh> '{name}'",
                        f"'{self._reference(mesh)}' is needed for the inertia of a body: {reason}.",
                        "Give the body an <inertial> element, or name the folder with mesh_root (--mesh-root).",
                        mesh.line,
                        mesh.file,
                    )
                    continue
                content = read_bytes(path)
                refused = ""
                if is_archive(content):
                    refused = "is an archive, which is not unpacked."
                elif sum(map(len, self.result.assets.values())) + len(content) > MAX_ASSET_BYTES:
                    refused = f"is one too many: meshes for inertias may have {MAX_ASSET_BYTES // 2**20} MB together."
                if refused:
                    self.report.error("unsupported", f"<mesh> '{name}'", refused, "", mesh.line, mesh.file)
                    continue
                attributes["file"] = f"mesh_{len(self.result.assets)}{path.suffix}"
                self.result.assets[attributes["file"]] = content
            text = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
            self._emit(f"<asset><mesh{text}/></asset>", mesh)

    # ---- judging

    def _check_numbers(self, element: Element) -> None:
        for name, text in element.attributes.items():
            if name not in NUMERIC or (element.tag == "geom" and name == "type"):
                continue
            reasons = [reason for reason in map(malformed, text.split()) if reason]
            if reasons:
                code = "not-finite" if "not finite" in reasons[0] else "malformed-number"
                place = f"<{element.tag}>" + (
                    f" '{element.attributes['name']}'" if "name" in element.attributes else ""
                )
                self.report.error(code, place, f'{name}="{text[:40]}": {reasons[0]}.', "", element.line, element.file)
            elif name == "quat" and len(text.split()) == 4:
                norm = math.hypot(*map(float, text.split()))
                if abs(norm - 1.0) > 1e-6 and norm > 0:
                    message = f"quat has norm {norm:.9g}: normalised, as MJCF asks."
                    self.report.note("quaternion-norm", f"<{element.tag}>", message, "", element.line, element.file)

    def _note_ignored(self, root: Element) -> None:
        for section in root.children:
            if section.tag in SECTIONS or section.tag in ("option", "size", "visual", "statistic", "custom"):
                continue
            if section.tag not in VOCABULARY["mujoco"].children:
                continue  # noted with what nobody knows
            count, line, file = len(section.children), section.line, section.file
            if section.tag == "equality":
                active = [e for e in section.children if e.attributes.get("active", "true") != "false"]
                if active:
                    message = (
                        f"{len(active)} active constraints are not modelled: bodies move as if they were not there."
                    )
                    self.report.warning("equality-ignored", "<equality>", message, "", line, file)
                    continue
            if count and section.tag == "actuator" and self.result.motors:
                message = (
                    f"{count} actuators: joints that have one are driven, the others are passive. Gains, ranges and "
                    f"filters are not taken over: give gs.simulate a control law and gs.Actuators."
                )
                self.report.note("actuator-ignored", "<actuator>", message, "", line, file)
            elif count:
                message = f"{count} elements noted: not part of the spacecraft's dynamics here."
                self.report.note(f"{section.tag}-ignored", f"<{section.tag}>", message, "", line, file)


def _note_option(report: Report, option: Element) -> None:
    """What <option> says acts on the bodies is no part of a spacecraft: its user gives it as an environment."""
    flag = option.first("flag")
    off = flag is not None and flag.attributes.get("gravity") == "disable"
    place, line, file = "<option>", option.line, option.file
    for name, text in option.attributes.items():
        meant = misspelt(name, OPTIONS)
        if meant and meant != name:
            message = f"has an unknown attribute '{name}'."
            report.warning("unknown-attribute", place, message, f"Did you mean '{meant}'?", line, file)
        reasons = [reason for reason in map(malformed, text.split()) if reason] if meant else []
        if reasons:
            report.error("malformed-number", place, f'{name}="{text[:40]}": {reasons[0]}.', "", line, file)
        elif meant and any(map(float, text.split())) and not (meant == "gravity" and off):
            hint = "Give it to gs.simulate as an environment."
            if meant == "gravity" and len(text.split()) == 3:
                hint = f"Give gs.simulate environment=gs.environment.uniform_gravity(({', '.join(text.split())}))."
            report.warning(f"{meant}-ignored", place, f'{name}="{text[:40]}" does not act here.', hint, line, file)


def _motors(root: Element) -> dict[str, tuple[str, int]]:
    """Joints that an actuator moves, directly or by a fixed tendon, with the actuator's place."""
    tendons = {
        fixed.attributes.get("name", ""): [e.attributes.get("joint", "") for e in fixed.all("joint")]
        for section in root.all("tendon")
        for fixed in section.all("fixed")
    }
    found: dict[str, tuple[str, int]] = {}
    for section in root.all("actuator"):
        for e in section.children:
            names = [e.attributes[key] for key in ("joint", "jointinparent") if key in e.attributes]
            for name in [*names, *tendons.get(e.attributes.get("tendon", ""), [])]:
                found.setdefault(name, (e.file, e.line))
    return found


def _mesh_name(mesh: Element) -> str:
    return mesh.attributes.get("name") or Path(mesh.attributes.get("file", "")).stem


def _geom_defaults(root: Element) -> dict[str, dict[str, str]]:
    """Attributes of geoms by class, inheritance written out; "" is the global class, whatever its name."""
    found: dict[str, dict[str, str]] = {"": {}}
    stack: list[tuple[Element, dict[str, str] | None]] = [(element, None) for element in reversed(root.all("default"))]
    while stack:
        element, inherited = stack.pop()
        name = element.attributes.get("class", "main")
        own = dict(found[""] if inherited is None else inherited)
        for geom in element.all("geom"):
            own |= geom.attributes
        found[name] = own
        if inherited is None:
            found[""] = found["main"] = own
        stack.extend((child, own) for child in reversed(element.all("default")))
    return found
