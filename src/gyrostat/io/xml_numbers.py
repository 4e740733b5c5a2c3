"""What the writers of XML files share: numbers to their last bit, and names of files of meshes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..model import Shape


def numbers(values: Iterable[float]) -> str:
    """With a space between; each reads back to the same bits."""
    return " ".join(repr(float(x) + 0.0) for x in values)


def mesh_file(shape: Shape, folder: Path) -> str:
    """The mesh's file, relative to `folder` where it lies below it."""
    path = Path(shape.file)
    return (path.relative_to(folder) if path.is_relative_to(folder) else path).as_posix()
