"""The JSON schema of scenario files, by which editors complete and check them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .kinds import KINDS


def json_schema() -> dict[str, Any]:
    """The JSON schema of scenario files of every kind.

    Editors complete from `properties`, all keys of all kinds, and check by `if`, `then` and `else`, which choose the
    kind as `kind_of` does: the messages are then about that kind alone.
    """
    from pydantic.json_schema import models_json_schema

    refs, made = models_json_schema([(kind.table, "validation") for kind in KINDS])
    defs = _told_apart(_without_null(made["$defs"]), made["$defs"])
    ref = {kind.table: refs[kind.table, "validation"] for kind in KINDS}
    chosen: dict[str, Any] = ref[KINDS[-1].table]
    for kind in reversed(KINDS[:-1]):
        chosen = {
            "if": {"anyOf": [{"required": [mark]} for mark in kind.marks]},
            "then": ref[kind.table],
            "else": chosen,
        }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "gyrostat scenario",
        "type": "object",
        "properties": _all_properties(defs, [kind.table.__name__ for kind in reversed(KINDS)]),
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


def _told_apart(schema: Any, defs: Mapping[str, Any]) -> Any:
    """Tables of which a key says which one is meant, by its value or by being there: chosen by that key, so that
    messages are about that one alone.

    The first of them, which has no such key of its own, is what the others are not.
    """
    if isinstance(schema, list):
        return [_told_apart(item, defs) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _told_apart(value, defs) for key, value in schema.items() if key not in ("oneOf", "discriminator")}
    if "oneOf" not in schema:
        return found
    chosen, *others = schema["oneOf"]
    for ref in others:
        table = defs[ref["$ref"].rpartition("/")[2]]
        properties, needed = table["properties"], table.get("required", [])
        tag = {key: {"const": value["const"]} for key, value in properties.items() if "const" in value}
        chosen = {"if": {"properties": tag, "required": list(tag) or needed}, "then": ref, "else": chosen}
    return found | chosen


def _all_properties(defs: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Keys of all kinds; where kinds differ, either will do."""
    found: dict[str, list[Any]] = {}
    for name in names:
        for key, value in defs[name]["properties"].items():
            at = found.setdefault(key, [])
            if value not in at:
                at.append(value)
    return {key: values[0] if len(values) == 1 else {"anyOf": values} for key, values in found.items()}
