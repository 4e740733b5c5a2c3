"""What scenario files can name: a registry of entries, each a dataclass beside the code that it makes.

Its fields are the keys of its table, with their units and meanings; `build` makes the thing. The file's schema, hints
for misspelt keys and the rows of the docs all come from these fields. Nothing here needs more than Python: the tables
are made where files are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Annotated, Any, TypeVar

Kind = TypeVar("Kind", bound=type)


@dataclass(frozen=True)
class Unit:
    """Of a number, or of three: its dimension, such as "angle"."""

    dimension: str


@dataclass(frozen=True)
class Above:
    """Of a plain number: more than zero."""


@dataclass(frozen=True)
class OfJoints:
    """Of a table by joint: "position", "rate" or "load", in the units that each joint has."""

    what: str


@dataclass(frozen=True)
class OfTarget:
    """Of a number, a list or a list of lists: in the unit of what it is a value of, which another key names."""


Three = tuple[float, float, float]
Positive = Annotated[float, Above()]
Angle = Annotated[float, Unit("angle")]
Angles = Annotated[Three, Unit("angle")]
Length = Annotated[float, Unit("length")]
Lengths = Annotated[Three, Unit("length")]
Time = Annotated[float, Unit("time")]
Frequency = Annotated[float, Unit("frequency")]
Torque = Annotated[float, Unit("torque")]
AngularRate = Annotated[float, Unit("angular rate")]
Values = Annotated[Any, OfTarget()]
JointPositions = Annotated[dict[str, Any], OfJoints("position")]


def key(says: str, default: Any = MISSING) -> Any:
    """A field of an entry: what it means, and its default; needed without one."""
    if isinstance(default, (dict, list)):
        return field(default_factory=lambda: type(default)(default), metadata={"says": says})
    return field(default=default, metadata={"says": says})


@dataclass(frozen=True)
class Entry:
    """name: in files. says: the docs row. kind: the dataclass. example: lines of a file that use it."""

    name: str
    says: str
    kind: type
    example: str = ""

    @property
    def keys(self) -> dict[str, str]:
        """What each key means."""
        return {f.name: f.metadata.get("says", "") for f in fields(self.kind)}


class Registry(Mapping[str, Entry]):
    """Entries by name. `tag`: the key by which a table says which it is; empty where the table's own name does."""

    def __init__(self, title: str, tag: str = "") -> None:
        self.title, self.tag = title, tag
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, says: str, example: str = "") -> Callable[[Kind], Kind]:
        """Decorator of the entry's dataclass."""

        def register(kind: Kind) -> Kind:
            if name in self._entries:
                raise ValueError(f"{self.title}: '{name}' is registered twice.")
            self._entries[name] = Entry(name, says, kind, example)
            return kind

        return register

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
