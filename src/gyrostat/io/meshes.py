"""Where a mesh reference may lead: a file below the model's folder or the mesh root.

For viewing only; nothing is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath


def resolve(reference: str, roots: Sequence[Path]) -> tuple[Path | None, str]:
    """The file that a reference names, or None and the reason.

    `package://`, `model://` and `file://` are understood, never http. A path that leads elsewhere (another machine's
    folders, a package, a sibling folder) is looked for by its endings: root/a/b/c.stl, root/b/c.stl, root/c.stl.
    """
    scheme, separator, rest = reference.replace("\\", "/").partition("://")
    if separator and scheme.lower() not in ("package", "model", "file"):
        return None, f"'{scheme}' addresses are never fetched"
    parts = PurePosixPath(rest if separator else scheme).parts
    parts = tuple(part for part in parts if part not in ("/", ".", ".."))
    for root in roots:
        for start in range(len(parts)):
            found = inside(root, Path(*parts[start:]))
            if found is not None:
                return found, ""
    return None, "not found below " + (
        "the model's folder" if len(roots) < 2 else "the model's folder or the mesh root"
    )


def inside(root: Path, relative: Path) -> Path | None:
    """The existing file root/relative, links followed, if it lies below root."""
    try:
        whole = root.resolve()
        path = (whole / relative).resolve()
        return path if path.is_relative_to(whole) and path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None
