"""What all tables of a file have in common: unknown keys and wrong types are refused."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core.core_schema import CoreSchema, no_info_after_validator_function

from ...model import nearest
from .units import plain_number, three


def positive(value: Any) -> float:
    number = plain_number(value)
    if not number > 0:
        raise ValueError("expected a number above zero")
    return number


Real = Annotated[float, BeforeValidator(plain_number)]
Positive = Annotated[float, BeforeValidator(positive)]
Vector: Any = three(Real)
Rows: Any = three(three(Real))


class Table(BaseModel):
    """A table of the file: strict types, no unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, eq=False)
class OneOf:
    """Of a text: one of the names that some registry holds."""

    names: Collection[str]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"enum": list(self.names)}

    def _check(self, name: str) -> str:
        if name not in self.names:
            raise ValueError(f"expected one of {', '.join(self.names)}. {nearest(name, self.names)}".rstrip("."))
        return name


Name = Annotated[str, Field(min_length=1, max_length=1000)]


def tables_in(table: type[Table]) -> dict[tuple[str, ...], type[Table]]:
    """The table itself, under (), and all tables in it by their keys: ("environment", "orbit")."""
    found: dict[tuple[str, ...], type[Table]] = {(): table}
    for key, field in table.model_fields.items():
        for inner in _tables_of(field.annotation):
            found |= {(key, *rest): at for rest, at in tables_in(inner).items()}
    return found


def tables_at(table: type[Table], loc: tuple[str | int, ...]) -> list[type[Table]]:
    """The tables that stand at a place as pydantic names it, whose parts may choose one of several by a tag."""
    here = [table]
    for part in loc:
        having = [t for t in here if part in t.model_fields]
        chosen = [t for t in here if part == t.__name__]
        if having:
            here = [inner for t in having for inner in _tables_of(t.model_fields[str(part)].annotation)]
        elif chosen:
            here = chosen
    return here


def _tables_of(annotation: Any) -> Iterator[type[Table]]:
    """`Table`, `list[Table]`, `Table | None` and the like."""
    if isinstance(annotation, type) and issubclass(annotation, Table):
        yield annotation
    for inner in get_args(annotation):
        yield from _tables_of(inner)
