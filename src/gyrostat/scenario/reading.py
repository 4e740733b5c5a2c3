"""A scenario file, read: TOML in, checked tables out; everything that is wrong is said at once, with its line."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..io.report import Report, fail
from ..io.toml_text import Place, key_lines, line_of, parse_toml, reason_of
from ..model import nearest
from .formation_schema import FormationTable
from .kinds import elsewhere, kind_of
from .schema import ScenarioTable

MAX_BYTES = 1024 * 1024
MAX_REPORTED = 40


class Source:
    """The text of a file and where its keys stand, for messages; and whether files that it names may run code."""

    def __init__(self, file: str, text: str, trust: bool = False) -> None:
        self.file, self.text, self.trust = file, text, trust
        self.lines = key_lines(text)
        self.report = Report(file)

    def line(self, place: Place) -> int | None:
        """Line of a key, or of the table it stands in."""
        return line_of(self.lines, place)

    def error(self, code: str, place: Place, message: str, hint: str = "", key: str = "") -> None:
        """key: of the table at `place`, where the line is that key's."""
        self.report.error(code, words(place), message, hint, self.line((*place, key) if key else place))


def read_scenario(path: Path, *, trust: bool = False) -> tuple[ScenarioTable | FormationTable, Source]:
    """Raises a `ModelError` with every finding."""
    file = str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise fail("unreadable", file, f"cannot be read: {error.strerror}.", "Check the name.") from None
    if len(data) > MAX_BYTES:
        raise fail("too-large", file, f"has {len(data) / 2**20:.1f} MB; a scenario has 1 MB at most.")
    text, raw = parse_toml(data, file)
    source = Source(file, text, trust)
    if "body" in raw and "spacecraft" not in raw:
        raise fail(
            "not-a-scenario",
            file,
            "describes a spacecraft, not a scenario.",
            "Try `gyrostat view` or `gyrostat check`.",
        )
    kind, tables = kind_of(raw)
    try:
        return kind.model_validate(raw), source
    except ValidationError as error:
        items = error.errors(include_url=False)[:MAX_REPORTED]
        unknown = [item["loc"] for item in items if item["type"] == "extra_forbidden"]
        for item in items:
            if not (item["type"] == "missing" and _misspelt(item["loc"], unknown)):
                _report(source, item, tables)
    source.report.raise_errors()
    raise AssertionError("unreachable: every item is an error")


def _misspelt(missing: Place, unknown: list[Place]) -> bool:
    """Whether an unknown key of the same table was meant: then one message is enough."""
    beside = [str(place[-1]) for place in unknown if place[:-1] == missing[:-1]]
    return bool(difflib.get_close_matches(str(missing[-1]), beside, n=1))


def _report(source: Source, item: Any, tables: Mapping[tuple[str, ...], Any]) -> None:
    """One finding from one pydantic error."""
    place: Place = tuple(part for part in item["loc"] if isinstance(part, int) or not _internal(part))
    key = next((str(part) for part in reversed(place) if isinstance(part, str)), "")
    if item["type"] == "extra_forbidden":
        table = tables.get(tuple(part for part in place[:-1] if isinstance(part, str)), tables[()])
        hint = elsewhere(key, tables) if len(place) == 1 else ""
        source.error("unknown-key", place[:-1], f"unknown key '{key}'.", hint or nearest(key, table.model_fields), key)
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


def words(place: Place) -> str:
    """As in "waypoint 2, joints"."""
    words: list[str] = []
    for part in place:
        if isinstance(part, int) and words:
            words[-1] += f" {part + 1}"
        else:
            words.append(str(part))
    return ", ".join(words)
