"""What a gyrostat TOML file may hold; docs/file-format.md describes it key by key.

Unknown keys and wrong types are refused.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from ...algebra import Array, rotation, rotation_from_rpy
from .flexible_tables import BeamTable, FlexibleTable, PlateTable, TrussBoomTable
from .tables import Name, Real, Rows, Table, Vector
from .units import (
    AnyLimit,
    AnyMeasure,
    ForceLimit,
    Inertia,
    InertiaRows,
    Mass,
    Measure,
    Position,
    QuantityError,
    RateLimit,
    RollPitchYaw,
    Time,
    TimeLimit,
    TorqueLimit,
)

NONE, ENDLESS = Measure(0.0, None, "0"), Measure(math.inf, None, "inf")


def origin() -> list[float]:
    return [0.0, 0.0, 0.0]


class Placed(Table):
    """A pose: position, and at most one of `rotation` (3 x 3), `quaternion` (w, x, y, z), `rpy`."""

    position: Position = Field(default_factory=origin)
    rotation: Rows | None = None
    quaternion: Annotated[list[Real], Field(min_length=4, max_length=4)] | None = None
    rpy: RollPitchYaw | None = None

    @field_validator("quaternion")
    @classmethod
    def _unit(cls, value: list[float] | None) -> list[float] | None:
        if value is not None and abs(math.hypot(*value) - 1.0) > 1e-6:
            raise QuantityError("quaternion-norm", f"has norm {math.hypot(*value):.9g}; expected 1 within 1e-6")
        return value

    @field_validator("rotation")
    @classmethod
    def _orthogonal(cls, value: list[list[float]] | None) -> list[list[float]] | None:
        if value is not None:
            R = np.array(value)
            if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
                raise ValueError("is no rotation matrix; expected R R^T = 1 and det R = 1")
        return value

    @model_validator(mode="after")
    def _one_orientation(self) -> Placed:
        given = [name for name in ("rotation", "quaternion", "rpy") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} are both given; keep one")
        return self

    @property
    def R(self) -> Array:
        if self.rotation is not None:
            return np.array(self.rotation)
        if self.quaternion is not None:
            return rotation(np.array(self.quaternion))
        return rotation_from_rpy(np.array(self.rpy)) if self.rpy is not None else np.eye(3)


class LimitsTable(Table):
    """Angles and torques, or lengths and forces, as the joint is."""

    lower: AnyLimit = Measure(-math.inf, None, "-inf")
    upper: AnyLimit = ENDLESS
    velocity: AnyLimit = ENDLESS
    effort: AnyLimit = ENDLESS


class JointTable(Placed):
    name: Name | None = None
    kind: str = "revolute"
    node: Name | None = None
    axis: Vector = Field(default_factory=lambda: [0.0, 0.0, 1.0])
    axis2: Vector = Field(default_factory=lambda: [0.0, 1.0, 0.0])
    limits: LimitsTable = Field(default_factory=LimitsTable)
    stiffness: AnyMeasure = NONE
    rest: AnyMeasure = NONE
    damping: AnyMeasure = NONE
    friction: AnyMeasure = NONE
    backlash: AnyMeasure = NONE
    rotor_inertia: AnyMeasure = NONE
    gear_ratio: Real = 1.0
    driven: bool | Literal["wheel"] | None = None


class ShapeTable(Placed):
    kind: Literal["box", "cylinder", "sphere", "mesh"]
    size: list[AnyMeasure]
    color: Annotated[list[Real], Field(min_length=3, max_length=4)] | None = None
    file: str = ""

    @model_validator(mode="after")
    def _sizes(self) -> ShapeTable:
        expected = {"box": 3, "cylinder": 2, "sphere": 1, "mesh": 3}[self.kind]
        if len(self.size) != expected:
            raise ValueError(f"size of a {self.kind} holds {len(self.size)} numbers; expected {expected}")
        for one in self.size:
            one.plain("the scale of a mesh") if self.kind == "mesh" else one.of("length")
        return self


class BodyTable(Table):
    name: Name
    parent: Name | None = None
    mass: Mass | None = None
    com: Position | None = None
    inertia: InertiaRows | None = None
    included: bool = False
    joint: JointTable = Field(default_factory=JointTable)
    shape: list[ShapeTable] = Field(default_factory=list)
    flexible: FlexibleTable | None = None
    beam: BeamTable | None = None
    plate: PlateTable | None = None
    truss_boom: TrussBoomTable | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> BodyTable:
        if len(self.bending) > 1:
            raise ValueError(f"{' and '.join(self.bending)} are both given; keep one")
        if self.bending and self.included:
            raise ValueError("included is for wheels; a flexible body has mass of its own")
        return self

    @property
    def bending(self) -> list[str]:
        """What makes the body flexible, by its key."""
        return [key for key in ("flexible", "beam", "plate", "truss_boom") if getattr(self, key) is not None]


class WheelTable(Table):
    name: Name
    parent: Name
    axis: Vector
    spin_inertia: Inertia
    position: Position = Field(default_factory=origin)
    included: bool = True
    mass: Mass = 0.0
    transverse_inertia: Inertia = 0.0
    max_torque: TorqueLimit = math.inf
    max_speed: RateLimit = math.inf


class FrameTable(Placed):
    name: Name
    body: Name


class ThrusterTable(Table):
    name: Name
    body: Name
    position: Position
    direction: Vector
    max_thrust: ForceLimit = math.inf
    minimum_on_time: Time = 0.0
    specific_impulse: TimeLimit = math.inf
    rise_time: Time = 0.0
    fall_time: Time = 0.0


class PartTable(Placed):
    """Another file's craft, fixed on a body of this one: an arm, twice, with two prefixes."""

    file: Name
    body: Name
    prefix: Annotated[str, Field(max_length=100)] = ""


class MemberTable(Table):
    """One spacecraft of several: what hangs on its base;
    own names of the parts that had to be renamed, {own = here}.
    """

    name: Name
    base: Name
    bodies: dict[Name, Name] = Field(default_factory=dict)  # and frames
    joints: dict[Name, Name] = Field(default_factory=dict)
    thrusters: dict[Name, Name] = Field(default_factory=dict)


class Document(Table):
    gyrostat: Literal[1] = 1
    name: Name
    body: Annotated[list[BodyTable], Field(min_length=1, max_length=10_000)]
    part: Annotated[list[PartTable], Field(max_length=1000)] = Field(default_factory=list)
    wheel: Annotated[list[WheelTable], Field(max_length=10_000)] = Field(default_factory=list)
    frame: Annotated[list[FrameTable], Field(max_length=100_000)] = Field(default_factory=list)
    thruster: Annotated[list[ThrusterTable], Field(max_length=100_000)] = Field(default_factory=list)
    member: Annotated[list[MemberTable], Field(max_length=10_000)] = Field(default_factory=list)
