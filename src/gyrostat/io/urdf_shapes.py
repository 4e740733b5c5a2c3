"""What the links of a URDF file look like: primitives and meshes, for viewing only."""

from __future__ import annotations

from pathlib import Path

from ..model import Shape
from .meshes import resolve
from .report import Report
from .urdf_origin import origin
from .values import vector
from .xml_reader import Element

Color = tuple[float, ...]


class Shapes:
    """Reads <visual> elements, or <collision> ones where a link has nothing else that can be drawn."""

    def __init__(self, report: Report, robot: Element, mesh_roots: tuple[Path, ...]) -> None:
        self.report = report
        self.roots = mesh_roots
        self.missing: set[str] = set()
        self.colors: dict[str, Color] = {}
        for material in robot.all("material"):
            color = self._color(material)
            if color is not None:
                self.colors[material.attributes.get("name", "")] = color

    def of_link(self, link: Element, place: str) -> tuple[Shape, ...]:
        visual = self._all(link.all("visual"), place)
        return visual or self._all(link.all("collision"), place)

    def _all(self, elements: list[Element], place: str) -> tuple[Shape, ...]:
        shapes = (self._shape(element, place) for element in elements)
        return tuple(shape for shape in shapes if shape is not None)

    def _shape(self, element: Element, place: str) -> Shape | None:
        geometry = element.first("geometry")
        if geometry is None or not geometry.children:
            return None
        given = geometry.children[0]
        position, R = origin(self.report, element, place)
        material = element.first("material")
        color = None
        if material is not None:
            color = self._color(material) or self.colors.get(material.attributes.get("name", ""))
        kind, file = given.tag, ""
        size: tuple[float, ...]
        if kind == "box":
            size = self._size(given, "size", (0.0, 0.0, 0.0), place)
        elif kind == "sphere":
            size = self._size(given, "radius", (0.0,), place)
        elif kind in ("cylinder", "capsule"):
            size = self._size(given, "radius", (0.0,), place) + self._size(given, "length", (0.0,), place)
            kind = "cylinder"
        elif kind == "mesh":
            size = self._size(given, "scale", (1.0, 1.0, 1.0), place)
            file = self._mesh(given, place)
            if not file:
                return None
        else:
            return None  # noted with all that is not known
        return Shape(kind, size, tuple(position.tolist()), R, color, file)

    def _size(self, element: Element, name: str, default: tuple[float, ...], place: str) -> tuple[float, ...]:
        return tuple(vector(self.report, element, name, default, place).tolist())

    def _color(self, material: Element) -> Color | None:
        given = material.first("color")
        if given is None:
            return None
        return tuple(vector(self.report, given, "rgba", (0.5, 0.5, 0.5, 1.0), "<material>").tolist())

    def _mesh(self, element: Element, place: str) -> str:
        reference = element.attributes.get("filename", "")
        path, reason = resolve(reference, self.roots)
        if path is None and reference not in self.missing:
            hint = (
                "The dynamics needs no mesh; to see it, name its folder with mesh_root (--mesh-root)."
                if not self.missing
                else ""
            )
            self.missing.add(reference)
            self.report.note("mesh-missing", place, f"mesh '{reference}' is not drawn: {reason}.", hint, element.line)
        return "" if path is None else str(path)
