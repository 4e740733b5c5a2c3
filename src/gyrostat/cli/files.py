"""Spacecraft that commands are given: a file, or the name of a bundled one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
