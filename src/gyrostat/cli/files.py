"""Files that commands read and write. The folder of a result is tried before a long run, not after it."""

from __future__ import annotations

from pathlib import Path

import typer

from ..io.files import whole_file
from ..models import file as bundled


class _Tried(Exception):
    pass


def must_be_writable(*paths: Path | None) -> None:
    """Raises a ValueError that names the first path that cannot be written. Nothing is left behind."""
    for path in paths:
        if path is not None:
            try:
                with whole_file(path):
                    raise _Tried
            except _Tried:
                continue


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
