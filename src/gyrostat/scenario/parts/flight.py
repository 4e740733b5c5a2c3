"""The keys at the top of a file that is about one spacecraft, whatever it meets."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .acting import Acting
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
    require: list[RequireTable] = Field(default_factory=list, description="What the run has to reach.")
    start: Start = Field(default_factory=lambda: Start())
