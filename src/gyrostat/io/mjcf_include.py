"""MJCF includes written out, and the bounds that the whole must keep."""

from __future__ import annotations

from pathlib import Path

from .meshes import inside
from .report import fail
from .xml_reader import MAX_DEPTH, MAX_LINKS, Element, parse_xml, read_bytes

MAX_INCLUDES = 100
MAX_REPLICATED = 2000  # elements that replicas stand for: MuJoCo's time grows with their square


def write_out_includes(root: Element, file: Path) -> None:
    """Replace <include file="..."/> by what the file holds;
    only files below the model's folder, each once, are read.
    """
    folder, seen = file.parent, {str(file.resolve())}
    stack = [root]
    while stack:
        parent = stack.pop()
        children: list[Element] = []
        for child in parent.children:
            if child.tag != "include":
                children.append(child)
                continue
            name = child.attributes.get("file", "")
            path = inside(folder, Path(name)) if name else None
            if path is None:
                message = f'file="{name}" is not a file below the model\'s folder.'
                raise fail(
                    "include", child.file, message, "Put it there; no other file is read.", child.line, "<include>"
                )
            if str(path) in seen or len(seen) > MAX_INCLUDES:
                raise fail(
                    "include",
                    child.file,
                    f'file="{name}" is included twice.',
                    "Include it once.",
                    child.line,
                    "<include>",
                )
            seen.add(str(path))
            children += parse_xml(read_bytes(path), str(path)).children
        parent.children = children
        if any(child.tag == "include" for child in children):
            stack.append(parent)
        stack.extend(children)


def bound(root: Element) -> None:
    """Refuse files that, with their includes and replicas written out, are nested too deep or hold too much."""
    stack = [(root, 1, 1)]
    total = replicated = 0
    while stack:
        element, times, depth = stack.pop()
        place = f"<{element.tag}>"
        if depth > MAX_DEPTH:
            raise fail(
                "too-deep", element.file, f"elements are nested more than {MAX_DEPTH} deep.", "", element.line, place
            )
        if element.tag == "replicate":
            text = element.attributes.get("count", "1").strip()
            times *= int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else MAX_LINKS + 1
        counted = element.tag in ("body", "geom", "site", "joint")
        total += times * counted
        replicated += times * counted * (times > 1)
        if replicated > MAX_REPLICATED:
            message = f"replicas stand for more than {MAX_REPLICATED} bodies, joints, geoms and sites."
            raise fail(
                "too-many-links", element.file, message, "Write some out, or leave some out.", element.line, place
            )
        if times > MAX_LINKS or total > 10 * MAX_LINKS:
            message = (
                f"the model has more than {MAX_LINKS} bodies, or {10 * MAX_LINKS} bodies, joints, geoms and sites in "
                "all."
            )
            raise fail("too-many-links", element.file, message, "Split the model.", element.line, place)
        stack.extend((child, times, depth + 1) for child in element.children)
