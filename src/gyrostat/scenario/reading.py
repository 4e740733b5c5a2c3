"""A scenario file, read: which kind it is, and its tables."""

from __future__ import annotations

from pathlib import Path

from ..io.bounded import read_file
from ..io.report import fail
from ..io.toml.source import Source
from ..io.toml.tables import Table
from .kinds import Kind, elsewhere, kind_of

MAX_BYTES = 1024 * 1024
EXAMPLES = {
    "duration": 'duration = "60 s"',
    "run": '[run] with duration = "60 s"',
    "spacecraft": 'spacecraft = "servicer", or the name of a file',
    "at": 'at = "10 s"',
    "joints": 'joints = { joint_1 = "30 deg" }',
    "name": 'name = "..."',
    "position": 'position = ["0 m", "-10 m", "0 m"]',
    "environment": '[environment.orbit] with altitude = "500 km"',
    "member": "[[member]] with name and spacecraft",
}


def read_scenario(path: Path, *, trust: bool = False) -> tuple[Kind, Table, Source]:
    """Which kind it is, what it holds, and where. Raises a `ModelError` with every finding."""
    file = str(path)
    source = Source(read_file(path, MAX_BYTES, "a scenario file"), file, trust=trust)
    if "body" in source.raw and "spacecraft" not in source.raw:
        raise fail(
            "not-a-scenario",
            file,
            "describes a spacecraft, not a scenario.",
            "Try `gyrostat view` or `gyrostat check`.",
        )
    kind = kind_of(source.raw)
    return kind, source.checked(kind.table, hint=lambda keys: elsewhere(keys, kind), examples=EXAMPLES), source
