"""Flexible bodies in a file: tables of their own, or what a beam, plate or truss boom is made of."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from ...algebra import Array
from .tables import Name, Positive, Real, Table
from .units import InertiaRows, Length, Mass, Position, QuantityError

MOST_MODES, MOST_NODES, MOST_ELEMENTS = 40, 20_000, 400  # what a file of somebody else's may ask for


def _numbers(value: Any) -> Array:
    """Numbers in lists of any depth, all as long as their neighbours."""
    value = value if isinstance(value, list) else [value]
    array = np.array(value, dtype=object)
    if any(type(x) not in (int, float) for x in array.ravel().tolist()):
        raise QuantityError("malformed-number", "expected numbers, in lists that are as long as their neighbours")
    try:
        return array.astype(float)
    except OverflowError:
        raise QuantityError("malformed-number", "holds a number that is too large") from None


Numbers = Annotated[Any, PlainValidator(_numbers), WithJsonSchema({"type": ["number", "array"]})]
Count = Annotated[int, Field(ge=1, le=MOST_ELEMENTS)]
ModeCount = Annotated[int, Field(ge=1, le=MOST_MODES)]
Names = dict[Name, list[str]]


class NodeTable(Table):
    """translations, rotations: three rows, one number for each mode; second_order: three matrices (modes, modes)."""

    name: Name
    position: Position
    mass: Mass = 0.0
    inertia: InertiaRows = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    translations: Numbers
    rotations: Numbers | None = None
    second_order: Numbers | None = None


class FlexibleTable(Table):
    node: Annotated[list[NodeTable], Field(min_length=1, max_length=MOST_NODES)]
    stiffness: Numbers | None = None
    frequencies: Numbers | None = None
    damping: Numbers | None = None
    damping_ratios: Numbers | None = None
    rotary: str = "points"
    terms: str = "all"
    interfaces: list[Name] = Field(default_factory=list)
    lines: list[Annotated[list[Name], Field(min_length=2, max_length=2)]] = Field(default_factory=list)


class MaterialTable(Table):
    young: Positive
    poisson: Real
    density: Positive


Material = Literal["aluminium", "steel", "titanium"] | MaterialTable


class TubeTable(Table):
    outer_radius: Length
    thickness: Length
    material: Material


class BoxTable(Table):
    width: Length
    height: Length
    thickness: Length
    material: Material


class RectangleTable(Table):
    width: Length
    height: Length
    material: Material


class SectionTable(Table):
    """One of tube, box and rectangle; or EA, EIy, EIz, GJ and rhoA, in SI."""

    tube: TubeTable | None = None
    box: BoxTable | None = None
    rectangle: RectangleTable | None = None
    EA: Real | None = None
    EIy: Real | None = None
    EIz: Real | None = None
    GJ: Real | None = None
    rhoA: Real | None = None
    rhoIy: Real | None = None
    rhoIz: Real | None = None

    @model_validator(mode="after")
    def _one(self) -> SectionTable:
        given = [key for key in ("tube", "box", "rectangle") if getattr(self, key) is not None]
        numbers = [key for key in NUMBERS if getattr(self, key) is not None]
        missing = [key for key in NUMBERS[:5] if key not in numbers]
        if len(given) + bool(numbers) != 1:
            raise ValueError(f"{' and '.join(given + numbers) or 'nothing'} given; expected {SECTION}")
        if numbers and missing:
            raise ValueError(f"has no {', '.join(missing)}; expected {SECTION}")
        return self


NUMBERS = ("EA", "EIy", "EIz", "GJ", "rhoA", "rhoIy", "rhoIz")
SECTION = "one of tube, box, rectangle, or all of EA, EIy, EIz, GJ, rhoA"


class Generated(Table):
    """What all generators have in common."""

    interfaces: Names | None = None
    damping_ratios: Numbers | None = None
    stiffening: bool = True
    terms: str = "all"


class BeamTable(Generated):
    length: Length
    section: SectionTable
    modes: ModeCount = 4
    motions: list[str] | None = None
    stations: dict[Name, Length] | None = None
    elements: Count = 20


class PlateSectionTable(Table):
    bending: Positive
    membrane: Positive
    poisson: Real
    density: Positive


class PlateTable(Generated):
    length: Length
    width: Length
    section: PlateSectionTable
    modes: ModeCount = 6
    stations: dict[Name, Annotated[list[Length], Field(min_length=2, max_length=2)]] | None = None
    root: Length | None = None
    elements: Annotated[list[Annotated[int, Field(ge=1, le=60)]], Field(min_length=2, max_length=2)] = Field(
        default_factory=lambda: [8, 4]
    )


class BarTable(Table):
    EA: Positive
    rhoA: Positive


class TrussBoomTable(Generated):
    length: Length
    radius: Length
    bays: Count
    longeron: BarTable
    batten: BarTable
    diagonal: BarTable
    sides: Annotated[int, Field(ge=3, le=24)] = 3
    joint_mass: Mass = 0.0
    modes: ModeCount = 6
    stations: dict[Name, Annotated[int, Field(ge=1)]] | None = None
