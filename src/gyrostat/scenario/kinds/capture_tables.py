"""What a scenario file may hold besides, where a second spacecraft is approached, grasped and held;
docs/constraints.md describes it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ...io.toml.tables import Real, Table
from ...io.toml.units import Length, Time
from ..parts.flight import Flight
from ..parts.run import Integration
from ..parts.start import Start

Pair = Annotated[list[str], Field(min_length=2, max_length=2)]


class Target(Table):
    """The second spacecraft, free to move, and where it starts."""

    spacecraft: Annotated[str, Field(min_length=1)] = Field(
        description="A file beside this one, or a bundled spacecraft."
    )
    start: Start = Field(default_factory=lambda: Start())


class Until(Table):
    """A phase ends when the origins of two frames come closer than a distance."""

    frames: Pair
    closer_than: Length

    @model_validator(mode="after")
    def _distance(self) -> Until:
        if not self.closer_than > 0:
            raise ValueError(f"closer_than is {self.closer_than:g} m; expected more than zero")
        return self


class GraspTable(Table):
    """Two frames held where they are at the start of the phase."""

    frames: Pair
    kind: Literal["weld", "point", "revolute"] = "weld"
    name: str = "grip"


class PhaseTable(Table):
    """From the end of the one before, for some time or until something happens."""

    name: Annotated[str, Field(min_length=1)]
    duration: Time
    until: Until | None = None
    grasp: list[GraspTable] = Field(default_factory=list)
    release: list[str] = Field(default_factory=list, description="Names of grasps that end.")
    restitution: Real = Field(default=0.0, description="0: held; 1: bounces off without loss.")

    @model_validator(mode="after")
    def _sensible(self) -> PhaseTable:
        if not self.duration > 0:
            raise ValueError(f"duration is {self.duration:g} s; expected more than zero")
        if not 0.0 <= self.restitution <= 1.0:
            raise ValueError(f"restitution is {self.restitution:g}; expected 0 (held) to 1 (elastic)")
        return self


class CaptureTable(Flight):
    """A scenario with a target and phases."""

    run: Integration = Field(default_factory=lambda: Integration())
    target: Target
    phase: Annotated[list[PhaseTable], Field(min_length=1)]
