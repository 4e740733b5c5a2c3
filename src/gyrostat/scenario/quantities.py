"""Numbers with units, as people write them: "5 deg", "7000 km", "2 min". SI inside; a plain number is SI already."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema

from ..model import nearest

_ANGLES = {"rad": 1.0, "deg": math.pi / 180, "mrad": 1e-3, "arcmin": math.pi / 10800, "arcsec": math.pi / 648000}
_ANGLES["rev"] = 2 * math.pi
_LENGTHS = {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "km": 1e3}
_TIMES = {"s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0, "day": 86400.0}
_FORCES = {"N": 1.0, "mN": 1e-3, "kN": 1e3}
UNITS: dict[str, dict[str, float]] = {
    "time": _TIMES,
    "length": _LENGTHS,
    "angle": _ANGLES,
    "angular rate": {
        "rad/s": 1.0,
        "deg/s": math.pi / 180,
        "mrad/s": 1e-3,
        "deg/min": math.pi / 10800,
        "rpm": math.pi / 30,
    },
    "speed": {"m/s": 1.0, "mm/s": 1e-3, "cm/s": 1e-2, "km/s": 1e3},
    "torque": {"N m": 1.0, "mN m": 1e-3, "kN m": 1e3},
    "force": _FORCES,
    "acceleration": {"m/s^2": 1.0, "mm/s^2": 1e-3, "g": 9.80665},
    "frequency": {"Hz": 1.0, "mHz": 1e-3},
}
SI = {dimension: next(iter(units)) for dimension, units in UNITS.items()}
_DIMENSION = {unit: dimension for dimension, units in UNITS.items() for unit in units}
_SPELLINGS = {"Nm": "N m", "N*m": "N m", "N.m": "N m", "mNm": "mN m", "kNm": "kN m", "m/s2": "m/s^2", "m/s**2": "m/s^2"}
_SPELLINGS |= {
    "degrees": "deg",
    "degree": "deg",
    "sec": "s",
    "seconds": "s",
    "minutes": "min",
    "hours": "h",
    "d": "day",
}
_SPELLINGS |= {"days": "day", "hour": "h", "minute": "min", "second": "s", "°": "deg", "meters": "m", "metres": "m"}
_TEXT = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*", re.ASCII | re.DOTALL)


class Measure(NamedTuple):
    """A number in SI, and its dimension where a unit was given."""

    value: float
    dimension: str | None
    text: str

    def of(self, dimension: str) -> float:
        """The number, if it has this dimension or none."""
        if self.dimension not in (None, dimension):
            raise ValueError(
                f'is "{self.text}", {_a(self.dimension)}; expected {_a(dimension)}, such as {example(dimension)}'
            )
        return self.value


def _a(words: str | None) -> str:
    return f"an {words}" if words and words[0] in "aeiou" else f"a {words}"


def example(dimension: str) -> str:
    """As in '"5 deg"'."""
    return f'"5 {list(UNITS[dimension])[1] if dimension in ("angle", "angular rate") else SI[dimension]}"'


def measure(value: Any) -> Measure:
    """A number, or text with a unit. Raises a ValueError that says which units there are."""
    if isinstance(value, Measure):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError('expected a number, or text with a unit such as "5 deg"')  # noqa: TRY004 (what pydantic catches)
    if isinstance(value, (int, float)):
        return Measure(_finite(value), None, str(value))
    match = _TEXT.fullmatch(value)
    if match is None:
        raise ValueError(f"'{value[:40]}' does not start with a number; expected text such as \"5 deg\"")
    number, unit = _finite(match[1]), _SPELLINGS.get(match[2], " ".join(match[2].split()))
    if not unit:
        return Measure(number, None, value.strip())
    if unit not in _DIMENSION:
        raise ValueError(f"unknown unit '{unit[:20]}'. {nearest(unit, _DIMENSION)}")
    dimension = _DIMENSION[unit]
    return Measure(number * UNITS[dimension][unit], dimension, value.strip())


def _finite(value: Any) -> float:
    try:
        number = float(value)
    except OverflowError:
        raise ValueError("is too large for a number") from None
    if not math.isfinite(number):
        raise ValueError("expected a finite number")
    return number


def _schema(dimension: str | None, *, several: bool = False) -> WithJsonSchema:
    units = list(UNITS[dimension] if dimension else _DIMENSION)
    words = (
        f"{dimension}: a number in {SI[dimension]}, or text with a unit"
        if dimension
        else "a number in SI, or text with a unit"
    )
    pattern = r"^\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?\s*(" + "|".join(re.escape(u) for u in units) + r")?\s*$"
    one: list[dict[str, Any]] = [{"type": "number"}, {"type": "string", "pattern": pattern}]
    more = [{"type": "array", "items": {"anyOf": one}}] if several else []
    return WithJsonSchema({"anyOf": one + more, "description": words})


def quantity(dimension: str) -> Any:
    """The pydantic type of a number of this dimension."""
    return Annotated[float, BeforeValidator(lambda value: measure(value).of(dimension)), _schema(dimension)]


def _measures(value: Any) -> tuple[Measure, ...]:
    return tuple(measure(item) for item in value) if isinstance(value, list) else (measure(value),)


Measures = Annotated[tuple[Measure, ...], PlainValidator(_measures), _schema(None, several=True)]
Time, Length, Angle, AngularRate = quantity("time"), quantity("length"), quantity("angle"), quantity("angular rate")
Speed, Acceleration, Frequency = quantity("speed"), quantity("acceleration"), quantity("frequency")


def three(kind: Any) -> Any:
    """The pydantic type of a vector."""
    return Annotated[list[kind], Field(min_length=3, max_length=3)]
