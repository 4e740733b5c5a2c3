"""A scenario file, read: TOML in, checked tables out; everything that is wrong is said at once, with its line."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..io.bounded import read_file
from ..io.report import fail
from ..io.toml_text import Place, parse_toml, reason_of
from ..model import InternalError, nearest
from .kinds import Kind, elsewhere, kind_of
from .parts.table import Table
from .source import Source

MAX_BYTES = 1024 * 1024
MAX_REPORTED = 40


def read_scenario(path: Path, *, trust: bool = False) -> tuple[Kind, Table, Source]:
    """Which kind it is, what it holds, and where. Raises a `ModelError` with every finding."""
    file = str(path)
    data = read_file(path, MAX_BYTES, "a scenario file")
    text, raw = parse_toml(data, file)
    source = Source(file, text, trust)
    if "body" in raw and "spacecraft" not in raw:
        raise fail(
            "not-a-scenario",
            file,
            "describes a spacecraft, not a scenario.",
            "Try `gyrostat view` or `gyrostat check`.",
        )
    kind = kind_of(raw)
    try:
        return kind, kind.table.model_validate(raw), source
    except ValidationError as error:
        items = error.errors(include_url=False)[:MAX_REPORTED]
        unknown = [item["loc"] for item in items if item["type"] == "extra_forbidden"]
        for item in items:
            if not (item["type"] == "missing" and _misspelt(item["loc"], unknown)):
                _report(source, item, kind)
    source.report.raise_errors()
    raise InternalError("a file that is wrong in no way that could be said.")


def _misspelt(missing: Place, unknown: list[Place]) -> bool:
    """Whether an unknown key of the same table was meant: then one message is enough."""
    beside = [str(place[-1]) for place in unknown if place[:-1] == missing[:-1]]
    return bool(difflib.get_close_matches(str(missing[-1]), beside, n=1))


def _report(source: Source, item: Any, kind: Kind) -> None:
    """One finding from one pydantic error."""
    place: Place = tuple(part for part in item["loc"] if isinstance(part, int) or not _internal(part))
    key = next((str(part) for part in reversed(place) if isinstance(part, str)), "")
    if item["type"] == "extra_forbidden":
        keys = tuple(part for part in place if isinstance(part, str))
        table = kind.tables.get(keys[:-1], kind.table)
        hint = elsewhere(keys, kind) or nearest(key, table.model_fields)
        source.error("unknown-key", place[:-1], f"unknown key '{key}'.", hint, key)
    elif item["type"] == "missing":
        source.error("missing-key", place[:-1], f"has no '{key}'.", f"Add {_example(key)}.")
    else:
        value = repr(item["input"])
        value = value if len(value) <= 60 else value[:57] + "..."
        found = f"{key} is {value}: " if not isinstance(item["input"], dict) and key else ""
        source.error("wrong-value", place, f"{found}{reason_of(item, key)}.")


def _internal(part: str) -> bool:
    """Steps that pydantic adds for unions and validators."""
    return "[" in part or part in ("list", "function-before", "float", "Measure", "dict")


def _example(key: str) -> str:
    return {
        "duration": 'duration = "60 s"',
        "run": '[run] with duration = "60 s"',
        "spacecraft": 'spacecraft = "servicer", or the name of a file',
        "at": 'at = "10 s"',
        "joints": 'joints = { joint_1 = "30 deg" }',
        "name": 'name = "..."',
        "position": 'position = ["0 m", "-10 m", "0 m"]',
        "environment": '[environment.orbit] with altitude = "500 km"',
        "member": "[[member]] with name and spacecraft",
    }.get(key, f"{key} = ...")
