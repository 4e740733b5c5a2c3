"""The keys at the top of a file that is about one spacecraft, whatever it meets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from ...algebra import Array
from ...io.toml.source import Source
from ...model import Spacecraft
from .acting import Acting
from .events import EventTable, events_of
from .limits import limits_met
from .outputs import Output
from .requirements import RequireTable
from .start import Start


class Flight(Acting):
    """A spacecraft, where it starts, what it does, what is kept of it."""

    scenario: Literal[1] = Field(default=1, description="Version of the format.")
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    spacecraft: Annotated[str, Field(min_length=1)] = Field(
        description="A file (.urdf, .xml, .toml, .xacro) beside this one, or the name of a bundled spacecraft."
    )
    base: str | None = Field(default=None, description="Kind of the base's joint, in place of the file's.")
    outputs: list[Output] = Field(
        default_factory=list, description="What to keep in the result file besides states and loads."
    )
    event: list[EventTable] = Field(default_factory=list, description="What is told of when it happens.")
    require: list[RequireTable] = Field(default_factory=list, description="What the run has to reach.")
    start: Start = Field(default_factory=lambda: Start())


def happening(source: Source, craft: Spacecraft, table: Flight, q: Array, v: Array) -> dict[str, Any]:
    """Limits that end the run, and the file's own events, as an option of `gs.simulate`."""
    found = limits_met(source, craft, table, q, v) + events_of(source, craft, table.event, q, v)
    return {"events": found} if found else {}
