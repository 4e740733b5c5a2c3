"""Registry entries as tables of a file: their fields become keys, checked as every other key is."""

from __future__ import annotations

import dataclasses
import types
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import Field, create_model, model_validator

from ..io.toml.tables import Positive, Real, Table
from ..io.toml.units import Measures, Values, quantity, three
from ..model.entries import Above, Entry, OfJoints, OfTarget, Registry, Unit


@cache
def table_of(kind: type, tag: str = "", name: str = "", says: str = "") -> type[Table]:
    """The pydantic table of an entry's dataclass; tag = name is the key that chooses it."""
    hints = get_type_hints(kind, include_extras=True)
    keys: dict[str, Any] = {}
    if tag:
        keys[tag] = (Literal[name], Field(description=says))
    for field in dataclasses.fields(kind):
        words = field.metadata.get("says", "")
        if field.default_factory is not dataclasses.MISSING:
            info = Field(default_factory=field.default_factory, description=words)
        elif field.default is dataclasses.MISSING:
            info = Field(description=words)
        else:
            info = Field(default=field.default, description=words)
        keys[field.name] = (_annotation(hints[field.name]), info)

    def check(self: Any) -> Any:
        made(kind, self)  # what the dataclass refuses is said with the table's line
        return self

    checks: dict[str, Any] = {"checked": model_validator(mode="after")(check)}
    words = says or kind.__doc__
    return create_model(f"{kind.__name__}Table", __base__=Table, __doc__=words, __validators__=checks, **keys)


def made(kind: type, table: Any) -> Any:
    """The entry itself, from its table."""
    hints = get_type_hints(kind, include_extras=True)
    return kind(**{f.name: _value(hints[f.name], getattr(table, f.name)) for f in dataclasses.fields(kind)})


def entry_table(registry: Registry, entry: Entry) -> type[Table]:
    return table_of(entry.kind, registry.tag, entry.name, entry.says)


def tables_by_name(registry: Registry, name: str, says: str) -> type[Table]:
    """A table with one optional table for each entry of a registry: [environment.drag], [sensors.gyro]."""
    keys: dict[str, Any] = {
        entry.name: (entry_table(registry, entry) | None, Field(default=None, description=entry.says))
        for entry in registry.values()
    }
    return create_model(name, __base__=Table, __doc__=says, **keys)


def entries_given(registry: Registry, table: Any) -> dict[str, Any]:
    """Those entries of `tables_by_name` that a file has, by name."""
    return {
        name: made(entry.kind, getattr(table, name))
        for name, entry in registry.items()
        if getattr(table, name, None) is not None
    }


def _inner(hint: Any) -> Any:
    """X of `X | None`."""
    options = [option for option in get_args(hint) if option is not type(None)]
    return options[0]


def _annotation(hint: Any) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _annotation(_inner(hint)) | None
    if origin is Annotated:
        base, *marks = get_args(hint)
        for mark in marks:
            if isinstance(mark, Unit):
                one = quantity(mark.dimension)
                return one if base is float else three(one)
            if isinstance(mark, OfJoints):
                return dict[str, Measures]
            if isinstance(mark, OfTarget):
                return Values
            if isinstance(mark, Above):
                return Positive
    if origin is tuple:
        return three(Real)
    if origin is list:
        return list[_annotation(get_args(hint)[0])]  # type: ignore[misc]
    if hint is float:
        return Real
    return table_of(hint) if dataclasses.is_dataclass(hint) and isinstance(hint, type) else hint


def _value(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _value(_inner(hint), value)
    if origin is list:
        return [_value(get_args(hint)[0], item) for item in value]
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return made(hint, value)
    return tuple(value) if isinstance(value, list) else value
