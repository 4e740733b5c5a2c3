"""`spacecraft = `: a file beside the scenario, or a bundled spacecraft."""

from __future__ import annotations

from pathlib import Path

from ... import models
from ...io import load as load_craft
from ...io.report import fail
from ...io.toml.source import Source
from ...io.toml.text import Place
from ...model import ModelError, Spacecraft

SUFFIXES = (".urdf", ".xml", ".mjcf", ".toml", ".xacro")


def spacecraft_of(source: Source, name: str, path: Path, place: Place = (), base: str | None = None) -> Spacecraft:
    """A file beside the scenario, or a bundled spacecraft; `place` is the table that names it."""
    line, where = source.line((*place, "spacecraft")), source.words((*place, "spacecraft"))
    if Path(name).suffix.lower() not in SUFFIXES:
        try:
            return load_craft(models.file(name), base=base)
        except ModelError:
            raise
        except ValueError as error:
            hint = f"Or name a file: {', '.join(SUFFIXES)}."
            raise fail("no-such-spacecraft", source.file, str(error), hint, line, where) from None
    file = path.parent / name
    if not file.is_file():
        message = f"the file '{name}' does not exist beside the scenario."
        raise fail("no-such-spacecraft", source.file, message, "Check the name.", line, where)
    try:
        return load_craft(file, base=base, trust=source.trust)
    except ModelError as error:
        found = error.findings[0]
        if found.code != "untrusted":
            raise
        raise fail(found.code, source.file, f"'{name}' {found.message}", found.hint, line, where) from None
