"""JSON Schema, as far as `gyrostat schema` uses it: what is wrong with a value, keyword by keyword.

An unknown keyword is an error.
"""

from __future__ import annotations

import re
from typing import Any

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
WORDS = {"$schema", "$defs", "title", "description", "default", "then", "else"}  # say nothing by themselves


def problems(schema: dict[str, Any], value: Any) -> list[str]:
    return _problems(schema, value, schema, "")


def _problems(at: dict[str, Any], x: Any, root: dict[str, Any], where: str) -> list[str]:
    found: list[str] = []

    def check(rule: dict[str, Any], value: Any = x, place: str = where) -> list[str]:
        return _problems(rule, value, root, place)

    def say(what: Any) -> None:
        found.append(f"{where or '/'}: {what}")

    for word, rule in at.items():
        if word in WORDS:
            continue
        if word == "$ref":
            found += check(root["$defs"][rule.removeprefix("#/$defs/")])
        elif word == "type":
            if not _is(x, rule):
                say(f"not of type {rule}")
        elif word == "properties":
            found += [p for k in rule if isinstance(x, dict) and k in x for p in check(rule[k], x[k], f"{where}/{k}")]
        elif word == "additionalProperties":
            others = [k for k in x if k not in at.get("properties", {})] if isinstance(x, dict) else []
            if rule is False:
                found += [f"{where or '/'}: unknown key {k}" for k in others]
            elif rule is not True:
                found += [p for k in others for p in check(rule, x[k], f"{where}/{k}")]
        elif word == "required":
            found += [f"{where or '/'}: no {k}" for k in rule if isinstance(x, dict) and k not in x]
        elif word == "items":
            found += [p for k, e in enumerate(x if isinstance(x, list) else []) for p in check(rule, e, f"{where}/{k}")]
        elif word == "anyOf":
            if all(check(option) for option in rule):
                say("none of the alternatives")
        elif word == "if":
            found += check(at.get("then" if not check(rule) else "else", {}))
        elif word == "enum":
            if x not in rule:
                say(f"not one of {rule}")
        elif word == "const":
            if x != rule:
                say(f"not {rule}")
        elif word == "pattern":
            if isinstance(x, str) and not re.search(rule, x):
                say(f"does not match {rule}")
        elif word in ("minItems", "maxItems", "minLength", "maxLength", "minProperties"):
            kind = {"I": list, "L": str, "P": dict}[word[3]]
            if isinstance(x, kind) and not (len(x) >= rule if word.startswith("min") else len(x) <= rule):
                say(f"{word} {rule}")
        elif word in ("minimum", "exclusiveMinimum"):
            if _is(x, "number") and not (x >= rule if word == "minimum" else x > rule):
                say(f"{word} {rule}")
        else:
            raise NotImplementedError(f"keyword '{word}'")
    return found


def _is(x: Any, kind: str) -> bool:
    if kind in ("number", "integer"):
        return isinstance(x, int if kind == "integer" else (int, float)) and not isinstance(x, bool)
    return isinstance(x, TYPES[kind])
