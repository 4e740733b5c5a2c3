"""A TOML file, read: what it holds, checked against its tables;
everything that is wrong is said at once, with its line.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Self, TypeVar

from pydantic import ValidationError

from ...model import InternalError, nearest
from ..report import Report
from .tables import Table, tables_at
from .text import Place, key_lines, line_of, parse_toml, reason_of

MAX_REPORTED = 40
Known = TypeVar("Known", bound=Table)


class Source:
    """What a file holds, and where its keys stand, for messages; and whether files that it names may run code."""

    def __init__(self, data: bytes, file: str, *, trust: bool = False) -> None:
        self.file, self.trust = file, trust
        self.text, self.raw = parse_toml(data, file)
        self.lines = key_lines(self.text)
        self.report = Report(file)
        self.loaded: dict[Any, Any] = {}  # what files that it names hold, each read once
        self._at: Place = ()

    def inside(self, *place: str | int) -> Self:
        """The same file, with the same report, whose places are counted from this table of it."""
        part = copy(self)
        part._at = (*self._at, *place)
        return part

    def line(self, place: Place) -> int | None:
        """Line of a key, or of the table it stands in."""
        return line_of(self.lines, (*self._at, *place))

    def error(self, code: str, place: Place, message: str, hint: str = "", key: str = "") -> None:
        """key: of the table at `place`, where the line is that key's."""
        self.report.error(code, self.words(place), message, hint, self.line((*place, key) if key else place))

    def words(self, place: Place) -> str:
        """As in "body 'arm', joint, limits"; or "waypoint 2, joints", where it has no name."""
        words: list[str] = []
        at: Any = self.raw
        for part in (*self._at, *place):
            try:
                at = at[part]
            except (KeyError, IndexError, TypeError):
                at = None
            if isinstance(part, int) and words:
                name = at.get("name") if isinstance(at, dict) else None
                words[-1] += f" '{name}'" if isinstance(name, str) and name else f" {part + 1}"
            else:
                words.append(str(part))
        return ", ".join(words)

    def checked(
        self,
        table: type[Known],
        *,
        hint: Callable[[tuple[str, ...]], str] = lambda keys: "",
        examples: Mapping[str, str] | None = None,
    ) -> Known:
        """The document as this table. Raises a `ModelError` with every finding.

        hint(keys): what to do about an unknown key, where its table knows better than its spelling.
        examples: of keys that are missing.
        """
        try:
            return table.model_validate(self.raw)
        except ValidationError as error:
            items = error.errors(include_url=False)[:MAX_REPORTED]
        unknown = [item["loc"] for item in items if item["type"] == "extra_forbidden"]
        for item in items:
            place = self._place(item["loc"], item["type"] == "missing")
            key = next((str(part) for part in reversed(place) if isinstance(part, str)), "")
            if item["type"] == "extra_forbidden":
                keys = tuple(part for part in place if isinstance(part, str))
                known = [name for at in tables_at(table, item["loc"][:-1]) or [table] for name in at.model_fields]
                meant = hint(keys) or nearest(key, known)
                self.error("unknown-key", place[:-1], f"unknown key '{key}'.", meant, key)
            elif item["type"] != "missing":
                self._wrong(place, key, item)
            elif not _misspelt(item["loc"], unknown):
                example = (examples or {}).get(key, f"{key} = ...")
                self.error("missing-key", place[:-1], f"has no '{key}'.", f"Add {example}.")
        self.report.raise_errors()
        raise InternalError("a file that is wrong in no way that could be said.")

    def _place(self, loc: tuple[str | int, ...], missing: bool) -> Place:
        """Without the steps that pydantic adds for unions and validators: what the file itself has."""
        found: list[str | int] = []
        at: Any = self.raw
        for k, part in enumerate(loc):
            inside = isinstance(at, dict) and part in at
            inside = inside or (isinstance(at, list) and isinstance(part, int) and part < len(at))
            if inside or (missing and k == len(loc) - 1):
                found.append(part)
                at = at[part] if inside else None
        return tuple(found)

    def _wrong(self, place: Place, key: str, item: Any) -> None:
        value = repr(item["input"])
        value = value if len(value) <= 60 else value[:57] + "..."
        found = f"{key} is {value}: " if not isinstance(item["input"], dict) and key else ""
        code = getattr(item.get("ctx", {}).get("error"), "code", "wrong-value")
        around = place[:-1] if found and place[-1] == key and len(place) > 1 else place
        self.report.error(code, self.words(around), f"{found}{reason_of(item, key)}.", "", self.line(place))


def _misspelt(missing: Place, unknown: list[Place]) -> bool:
    """Whether an unknown key of the same table was meant: then one message is enough."""
    beside = [str(place[-1]) for place in unknown if place[:-1] == missing[:-1]]
    return bool(difflib.get_close_matches(str(missing[-1]), beside, n=1))
