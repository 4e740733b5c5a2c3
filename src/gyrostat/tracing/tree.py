"""Nested values (tuples, named tuples, lists, dicts, dataclasses) as a flat list of leaves, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple


class Structure(NamedTuple):
    """How leaves are nested: the container's type, its keys, and the structure under each key."""

    kind: Any
    keys: tuple[Any, ...] = ()
    children: tuple[Structure, ...] = ()


LEAF = Structure("leaf")
NOTHING = Structure("none")


def entries(value: Any) -> dict[Any, Any] | None:
    """The named parts of a container; None if `value` is no container."""
    if isinstance(value, dict):
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    if isinstance(value, (tuple, list)):
        return dict(enumerate(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def flatten(value: Any, name: str) -> tuple[list[tuple[tuple[str, ...], Any]], Structure]:
    """The leaves of `value`, each with its path of keys (a bare leaf's path is `name`), and how they are nested."""
    if value is None:
        return [], NOTHING
    named = entries(value)
    if named is None:
        return [((name,), value)], LEAF
    leaves, children = [], []
    for key, entry in named.items():
        inner, structure = flatten(entry, str(key))
        nested = structure is not LEAF
        leaves += [((str(key), *path) if nested else path, leaf) for path, leaf in inner]
        children.append(structure)
    return leaves, Structure(type(value), tuple(named), tuple(children))


def unflatten(structure: Structure, leaves: Iterator[Any]) -> Any:
    """The nested value with that structure; takes its leaves from `leaves` in order."""
    if structure.kind == "leaf":
        return next(leaves)
    if structure.kind == "none":
        return None
    parts = {k: unflatten(child, leaves) for k, child in zip(structure.keys, structure.children, strict=True)}
    if issubclass(structure.kind, dict):
        return parts
    if structure.kind in (tuple, list):
        return structure.kind(parts.values())
    return structure.kind(**parts)
