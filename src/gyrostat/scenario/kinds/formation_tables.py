"""What a scenario file holds where several spacecraft fly in one orbit; docs/formations.md describes it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from ...io.toml.tables import Name, Table
from ...io.toml.units import Angle, Frequency, Length, Speed, three
from ..parts.acting import Acts
from ..parts.environment import EnvironmentTable
from ..parts.events import EventTable
from ..parts.motors import Motors
from ..parts.run import Run
from ..parts.start import JointValues
from .formation_requirements import MemberRequireTable


class MemberTable(Acts, Motors):
    """A spacecraft, where it starts in the Hill frame (x radial, y along-track, z normal), and what it does."""

    name: Name
    spacecraft: Name = Field(description="A file beside this one, or a bundled spacecraft.")
    position: three(Length) = Field(  # type: ignore[valid-type]
        default_factory=lambda: [0.0, 0.0, 0.0], description="Of its base from the reference orbit, in the Hill frame."
    )
    velocity: three(Speed) = Field(  # type: ignore[valid-type]
        default_factory=lambda: [0.0, 0.0, 0.0], description="As seen in the Hill frame."
    )
    rpy: three(Angle) = Field(  # type: ignore[valid-type]
        default_factory=lambda: [0.0, 0.0, 0.0], description="Roll, pitch, yaw of its base from the Hill frame."
    )
    turning: bool = Field(default=True, description="It turns with the Hill frame, as nadir-pointing craft do.")
    joints: JointValues = Field(default_factory=dict, description="Positions by joint; held there by a station.")
    event: list[EventTable] = Field(default_factory=list, description="What is told of when it happens.")


class StationTable(Table):
    """A member that approaches a place and stays there: its base and its joints are controlled, by passivity."""

    member: Name
    of: Name | None = Field(default=None, description="The member it stays beside; the reference orbit by default.")
    frame: Name | None = Field(
        default=None, description="Which frame of it shall be at the place; its base by default."
    )
    position: three(Length) = Field(description="From there, in the axes of the Hill frame.")  # type: ignore[valid-type]
    rpy: three(Angle) | None = Field(  # type: ignore[valid-type]
        default=None, description="Of its base from the Hill frame; as it starts by default."
    )
    bandwidth: Frequency = Field(default=0.004, description='How fast it comes, such as "4 mHz".')

    @field_validator("bandwidth")
    @classmethod
    def _positive(cls, value: float) -> float:
        if not value > 0:
            raise ValueError("expected more than zero")
        return value


class FormationTable(Table):
    """A gyrostat scenario with several spacecraft in one orbit."""

    scenario: Literal[1] = Field(default=1, description="Version of the format.")
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    environment: EnvironmentTable
    run: Run
    member: Annotated[list[MemberTable], Field(min_length=1)]
    station: list[StationTable] = Field(default_factory=list)
    require: list[MemberRequireTable] = Field(default_factory=list, description="What the run has to reach.")
