"""What a kind of scenario is: how its files are told, what they hold, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...io.toml.source import Source
from ...io.toml.tables import Table, tables_in
from ..scenario import Scenario


@dataclass(frozen=True, eq=False)
class Kind:
    """Of scenario files.

    marks: keys at the top by which its files are told from others'. build(source, table, path): the scenario of a file;
    what is wrong goes to the source's report. hints: what to do in place of keys that other kinds have, by their names:
    "run.duration".
    """

    name: str
    table: type[Table]
    build: Callable[[Source, Any, Path], Scenario]
    marks: tuple[str, ...] = ()
    hints: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def tables(self) -> dict[tuple[str, ...], type[Table]]:
        """All of them, by their keys."""
        return tables_in(self.table)
