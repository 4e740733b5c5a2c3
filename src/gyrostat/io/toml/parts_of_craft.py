"""[[part]]: what another file describes, fixed on a body of this craft, with a prefix to its names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...model import Joint, ModelError, Spacecraft
from ...model.assembly import prefixed
from ..xml_reader import read_bytes
from .craft_tables import PartTable
from .source import Source

Read = Callable[[bytes, str], Spacecraft]


def part_of_craft(source: Source, table: PartTable, k: int, read: Read) -> Spacecraft | None:
    """The file's craft under its new names, its base fixed where the table says; None where it cannot be read, which
    goes to the source's report. read(data, file): of a file that has no parts itself.
    """
    place, given, folder = ("part", k), Path(table.file), Path(source.file).parent
    path = folder / given
    beside = not given.is_absolute() and path.resolve().is_relative_to(folder.resolve())
    if not beside or given.suffix.lower() != ".toml":
        found = f"file is '{table.file}'; expected a .toml file beside this one, or in a folder there."
        source.error("part", place, found, "Copy it there.", "file")
        return None
    if not path.is_file():
        source.error("part", place, f"the file '{table.file}' does not exist beside this one.", "", "file")
        return None
    try:
        craft = prefixed(read(read_bytes(path), str(path)), table.prefix)
    except ModelError as error:
        source.report.findings.extend(error.findings)
        return None
    base = craft.bodies[0]
    fixed = Joint(base.joint.name, "fixed", table.body, np.array(table.position), table.R)
    return replace(craft, bodies=(replace(base, joint=fixed), *craft.bodies[1:]))
