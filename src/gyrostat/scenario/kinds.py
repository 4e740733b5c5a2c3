"""Which kind of scenario a file holds: of one spacecraft, of a capture, or of a formation; each by keys of its own."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .capture_schema import CAPTURE_TABLES, CaptureTable
from .formation_schema import FORMATION_TABLES, FormationTable
from .schema import TABLES, ScenarioTable, Table

Tables = Mapping[tuple[str, ...], type[Table]]


class Kind(NamedTuple):
    """The table of a whole file, and those in it."""

    table: type[ScenarioTable | FormationTable]
    tables: Tables


ONE = Kind(ScenarioTable, TABLES)
MARKS = {
    ("phase", "target"): Kind(CaptureTable, CAPTURE_TABLES),
    ("member", "station"): Kind(FormationTable, FORMATION_TABLES),
}  # keys at the top by which a file is told from one with a single spacecraft


def kind_of(keys: Iterable[str]) -> Kind:
    """By the keys at the top of the file; misspelt ones count where no other is there."""
    keys = list(keys)
    for marks, kind in MARKS.items():
        if any(mark in keys for mark in marks):
            return kind
    unknown = [key for key in keys if key not in ScenarioTable.model_fields]
    for marks, kind in MARKS.items():
        if any(difflib.get_close_matches(key, marks, n=1, cutoff=0.8) for key in unknown):
            return kind
    return ONE


def elsewhere(key: str, tables: Tables) -> str:
    """Where a key belongs that this kind of file does not have at the top, as a hint; empty if nowhere."""
    if tables is FORMATION_TABLES and key in CaptureTable.model_fields:
        if key in tables["member",].model_fields or key == "start":
            return "Here every [[member]] has its own spacecraft, position, velocity, rpy and joints."
        return "It belongs to a scenario of one spacecraft, without [[member]]."
    return ""


def json_schema() -> dict[str, Any]:
    """The JSON schema of scenario files of every kind.

    Editors complete from `properties`, all keys of all kinds, and check by `if`, `then` and `else`, which choose the kind as
    `kind_of` does: the messages are then about that kind alone.
    """
    from pydantic.json_schema import models_json_schema

    kinds = [*MARKS.values(), ONE]
    refs, made = models_json_schema([(kind.table, "validation") for kind in kinds])
    defs = _without_null(made["$defs"])
    ref = {kind.table: refs[kind.table, "validation"] for kind in kinds}
    chosen: dict[str, Any] = ref[ScenarioTable]
    for marks, kind in reversed(MARKS.items()):
        chosen = {
            "if": {"anyOf": [{"required": [mark]} for mark in marks]},
            "then": ref[kind.table],
            "else": chosen,
        }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "gyrostat scenario",
        "type": "object",
        "properties": _all_properties(defs, [kind.table.__name__ for kind in reversed(kinds)]),
        **chosen,
        "$defs": defs,
    }


def _without_null(schema: Any) -> Any:
    """TOML has no null: a key that may be left out is of its own kind alone, so that messages are about that."""
    if isinstance(schema, list):
        return [_without_null(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _without_null(value) for key, value in schema.items() if not (key == "default" and value is None)}
    options = [option for option in found.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) == 1:
        return {**options[0], **{key: value for key, value in found.items() if key != "anyOf"}}
    return found | {"anyOf": options} if options else found


def _all_properties(defs: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Keys of all kinds; where kinds differ, either will do."""
    found: dict[str, list[Any]] = {}
    for name in names:
        for key, value in defs[name]["properties"].items():
            at = found.setdefault(key, [])
            if value not in at:
                at.append(value)
    return {key: values[0] if len(values) == 1 else {"anyOf": values} for key, values in found.items()}
