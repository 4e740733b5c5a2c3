"""Files that commands are given to read, and to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from ..io.writing import check_writable
from ..models import file as bundled

Trust = Annotated[
    bool, typer.Option("--trust", help="Run code that files bring: expressions in xacro, Python of a scenario.")
]


def model_file(path: Path) -> Path:
    """A file that exists, or that of a bundled spacecraft, by its name."""
    if not path.suffix and not path.exists():
        try:
            return bundled(str(path))
        except ValueError as error:
            raise typer.BadParameter(f"'{path}' is no file, and {error}") from None
    if not path.is_file():
        raise typer.BadParameter(f"'{path}' does not exist, or is a folder.")
    return path


class Kind(NamedTuple):
    """Of a file to write: its suffixes, and words for one that has another."""

    suffixes: tuple[str, ...]
    words: str


RESULT = Kind((".nc", ".mat"), "results are written as .nc or .mat")
OUTCOMES = Kind((".nc",), "what campaigns found is written as .nc")
REPORT = Kind((".html", ".htm"), "a report is a page, .html")
SCENE = Kind((".html", ".htm"), "a scene is a page, .html")
PICTURE = Kind((".png",), "plots are written as .png")
SCHEMA = Kind((".json",), "a schema is written as .json")


def check_outputs(read: Sequence[Path | None], written: Mapping[str, tuple[Path | None, Kind]]) -> None:
    """Before any work: each, by its option, has the suffix of its kind and a name of its own, can be written,
    and is nothing that is read.
    """
    taken = {path.resolve(): f"what is read, '{path}'" for path in read if path is not None}
    for option, (path, kind) in written.items():
        if path is None:
            continue
        if path.suffix.lower() not in kind.suffixes:
            raise typer.BadParameter(f"'{path}': {kind.words}.", param_hint=option)
        if path.resolve() in taken:
            raise typer.BadParameter(f"'{path}' is {taken[path.resolve()]}.", param_hint=option)
        taken[path.resolve()] = f"what {option} names already"
    check_writable(*(path for path, _ in written.values()))
