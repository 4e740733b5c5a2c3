"""What a gyrostat TOML file may hold; docs/file-format.md describes it key by key. Unknown keys and wrong types are refused."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from ..algebra import Array, rotation, rotation_from_rpy
from ..model.validation import LARGEST

ANGLES = {"deg": math.pi / 180, "rad": 1.0}
RATES = {"deg/s": math.pi / 180, "rad/s": 1.0, "rpm": math.pi / 30}


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        quoted = " without quotes" if isinstance(value, str) else ""
        raise ValueError(f"expected a number{quoted}")  # noqa: TRY004 (what pydantic catches)
    try:
        return float(value)
    except OverflowError:
        raise ValueError("is too large for a number") from None


def _finite(value: Any) -> float:
    number = _number(value)
    if not abs(number) < LARGEST:
        raise ValueError("expected a finite number" if not math.isfinite(number) else "is too large for a number")
    return number


def _not_nan(value: Any) -> float:
    number = _number(value)
    if math.isnan(number):
        raise ValueError("expected a number, or inf for no limit")
    return number


def _with_unit(units: dict[str, float], plain: Any) -> BeforeValidator:
    """A plain number in SI, or text such as "5 deg"."""

    def read(value: Any) -> float:
        if not isinstance(value, str):
            return plain(value)
        text, _, unit = value.strip().partition(" ")
        unit = unit.strip()
        if unit not in units:
            raise ValueError(f'expected a number, or text with a unit such as "5 {next(iter(units))}"')
        try:
            return plain(float(text)) * units[unit]
        except ValueError:
            raise ValueError(f"'{text}' is no number") from None

    return BeforeValidator(read)


Real = Annotated[float, BeforeValidator(_finite)]
Angle = Annotated[float, _with_unit(ANGLES, _finite)]
Position = Annotated[float, _with_unit(ANGLES, _not_nan)]  # of a joint: rad or m
Rate = Annotated[float, _with_unit(RATES, _not_nan)]
Bound = Annotated[float, BeforeValidator(_not_nan)]
Vector = Annotated[list[Real], Field(min_length=3, max_length=3)]
Name = Annotated[str, Field(min_length=1, max_length=1000)]


class Table(BaseModel):
    """A table of the file: strict types, no unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Placed(Table):
    """A pose: position, and at most one of `rotation` (3 x 3), `quaternion` (w, x, y, z), `rpy`."""

    position: Vector = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    rotation: Annotated[list[Vector], Field(min_length=3, max_length=3)] | None = None
    quaternion: Annotated[list[Real], Field(min_length=4, max_length=4)] | None = None
    rpy: Annotated[list[Angle], Field(min_length=3, max_length=3)] | None = None

    @field_validator("quaternion")
    @classmethod
    def _unit(cls, value: list[float] | None) -> list[float] | None:
        if value is not None and abs(math.hypot(*value) - 1.0) > 1e-6:
            raise ValueError(f"has norm {math.hypot(*value):.9g}; expected 1 within 1e-6")
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
    lower: Position = -math.inf
    upper: Position = math.inf
    velocity: Rate = math.inf
    effort: Bound = math.inf


class JointTable(Placed):
    name: Name | None = None
    kind: str = "revolute"
    axis: Vector = Field(default_factory=lambda: [0.0, 0.0, 1.0])
    axis2: Vector = Field(default_factory=lambda: [0.0, 1.0, 0.0])
    limits: LimitsTable = Field(default_factory=LimitsTable)
    stiffness: Real = 0.0
    rest: Angle = 0.0
    damping: Real = 0.0
    friction: Real = 0.0
    rotor_inertia: Real = 0.0
    gear_ratio: Real = 1.0
    driven: bool | None = None


class ShapeTable(Placed):
    kind: Literal["box", "cylinder", "sphere", "mesh"]
    size: list[Real]
    color: Annotated[list[Real], Field(min_length=3, max_length=4)] | None = None
    file: str = ""

    @model_validator(mode="after")
    def _sizes(self) -> ShapeTable:
        expected = {"box": 3, "cylinder": 2, "sphere": 1, "mesh": 3}[self.kind]
        if len(self.size) != expected:
            raise ValueError(f"size of a {self.kind} holds {len(self.size)} numbers; expected {expected}")
        return self


class BodyTable(Table):
    name: Name
    parent: Name | None = None
    mass: Real
    com: Vector = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    inertia: list[Real] | list[Vector] = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    included: bool = False
    joint: JointTable = Field(default_factory=JointTable)
    shape: list[ShapeTable] = Field(default_factory=list)

    @field_validator("inertia", mode="before")
    @classmethod
    def _inertia(cls, value: Any) -> Any:
        ok = isinstance(value, list) and (
            (len(value) in (3, 6) and not any(isinstance(x, list) for x in value))
            or (len(value) == 3 and all(isinstance(row, list) and len(row) == 3 for row in value))
        )
        if not ok:
            raise ValueError("expected [xx, yy, zz], [xx, xy, xz, yy, yz, zz], or three rows of three")
        numbers = [x for row in value for x in (row if isinstance(row, list) else [row])]
        for x in numbers:
            _finite(x)
        return value


class WheelTable(Table):
    name: Name
    parent: Name
    axis: Vector
    spin_inertia: Real
    position: Vector = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    included: bool = True
    mass: Real = 0.0
    transverse_inertia: Real = 0.0
    max_torque: Bound = math.inf
    max_speed: Rate = math.inf


class FrameTable(Placed):
    name: Name
    body: Name


class ThrusterTable(Table):
    name: Name
    body: Name
    position: Vector
    direction: Vector
    max_thrust: Bound = math.inf
    minimum_on_time: Real = 0.0
    specific_impulse: Bound = math.inf


class MemberTable(Table):
    """One spacecraft of several: what hangs on its base; own names of the parts that had to be renamed, {own = here}."""

    name: Name
    base: Name
    bodies: dict[Name, Name] = Field(default_factory=dict)  # and frames
    joints: dict[Name, Name] = Field(default_factory=dict)
    thrusters: dict[Name, Name] = Field(default_factory=dict)


class Document(Table):
    gyrostat: Literal[1] = 1
    name: Name
    body: Annotated[list[BodyTable], Field(min_length=1, max_length=10_000)]
    wheel: Annotated[list[WheelTable], Field(max_length=10_000)] = Field(default_factory=list)
    frame: Annotated[list[FrameTable], Field(max_length=100_000)] = Field(default_factory=list)
    thruster: Annotated[list[ThrusterTable], Field(max_length=100_000)] = Field(default_factory=list)
    member: Annotated[list[MemberTable], Field(max_length=10_000)] = Field(default_factory=list)


TABLES: dict[tuple[str, ...], type[Table]] = {
    (): Document,
    ("body",): BodyTable,
    ("body", "joint"): JointTable,
    ("body", "joint", "limits"): LimitsTable,
    ("body", "shape"): ShapeTable,
    ("wheel",): WheelTable,
    ("frame",): FrameTable,
    ("thruster",): ThrusterTable,
    ("member",): MemberTable,
}
