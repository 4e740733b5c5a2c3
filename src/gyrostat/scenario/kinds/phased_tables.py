"""What a scenario file may hold besides, where it goes through phases, with or without other spacecraft that are
approached, grasped and attached; docs/constraints.md describes it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic_core.core_schema import CoreSchema

from ...io.toml.tables import Name, Real, Table
from ...io.toml.units import Time
from ..parts.acting import Acts, Moved
from ..parts.events import EventTable, Pair, Until
from ..parts.flight import Flight
from ..parts.run import Integration
from ..parts.start import Start

MOVES = ("control", "waypoint", "rate", "torque")  # keys of what a craft does


class OneOrMore:
    """Of a list of tables: [target], or [[target]] which may be repeated."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        several = handler(schema)
        return {"if": {"type": "array"}, "then": several, "else": several["items"]}


class Target(Acts):
    """Another spacecraft, where it starts, and what it does; without a law it drifts. Joints by its own names."""

    name: Name | None = Field(default=None, description="Its name here; by default its own.")
    spacecraft: Annotated[str, Field(min_length=1)] = Field(
        description="A file beside this one, or a bundled spacecraft."
    )
    start: Start = Field(default_factory=lambda: Start())


class GraspTable(Table):
    """Two frames held where they are at the start of the phase."""

    frames: Pair
    kind: Literal["weld", "point", "revolute"] = "weld"
    name: str = "grip"


PhaseKind = Literal["coast", "approach", "grasp", "attach", "detumble", "release"]
NEEDS = {"approach": "until", "grasp": "grasp", "release": "release"}  # what makes a phase one of its kind


class PhaseTable(Moved):
    """From the end of the one before, for some time or until something happens. What it says of a law, of sensors,
    motors or the environment takes the place of what stands at the top of the file; its times count from its start.
    """

    name: Annotated[str, Field(min_length=1)]
    duration: Time
    kind: PhaseKind | None = Field(
        default=None,
        description="coast: no law acts. approach, grasp, release: checked for until, grasp, release. attach: what is "
        "held is one tree. detumble: by wheels, unless [phase.control] says otherwise.",
    )
    until: Until | None = Field(default=None, description="It ends when this happens; if never, the run ends there.")
    grasp: list[GraspTable] = Field(default_factory=list)
    attach: list[str] = Field(
        default_factory=list, description="Names of welds whose craft are one tree from here on, until released."
    )
    release: list[str] = Field(default_factory=list, description="Names of grasps that end.")
    restitution: Real = Field(default=0.0, description="0: held; 1: bounces off without loss.")
    event: list[EventTable] = Field(default_factory=list, description="What is told of when it happens.")
    of: dict[str, Acts] = Field(
        default_factory=dict, description="What other spacecraft do in this phase, by name: [phase.of.client.control]."
    )

    @model_validator(mode="after")
    def _sensible(self) -> PhaseTable:
        if not self.duration > 0:
            raise ValueError(f"duration is {self.duration:g} s; expected more than zero")
        if not 0.0 <= self.restitution <= 1.0:
            raise ValueError(f"restitution is {self.restitution:g}; expected 0 (held) to 1 (elastic)")
        if self.restitution and (self.attach or self.kind == "attach"):
            raise ValueError("what is attached does not bounce off: leave restitution out")
        needed = NEEDS.get(self.kind or "")
        if needed and not getattr(self, needed):
            raise ValueError(f'a phase of kind "{self.kind}" has {needed}; here is none')
        given = [key for key in MOVES if key in self.model_fields_set]
        if self.kind == "coast" and given:
            raise ValueError(f'in a phase of kind "coast" no law acts: leave {given[0]} out, or the kind')
        return self


def _several(given: Any) -> Any:
    return [given] if isinstance(given, dict) else given


class PhasedTable(Flight):
    """A scenario in phases, alone or with other spacecraft."""

    run: Integration = Field(default_factory=lambda: Integration())
    target: Annotated[list[Target], BeforeValidator(_several), OneOrMore()] = Field(
        default_factory=list, description="The spacecraft that is met; [[target]] where there are several."
    )
    phase: Annotated[list[PhaseTable], Field(min_length=1)]
