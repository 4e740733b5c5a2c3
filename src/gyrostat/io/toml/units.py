"""Numbers with units, as people write them: "5 deg", "7000 km", "2 min". SI inside; a plain number is SI already."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema

from ...model import nearest
from ...model.validation import LARGEST

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
    "mass": {"kg": 1.0, "gram": 1e-3, "t": 1e3},
    "moment of inertia": {"kg m^2": 1.0, "kg cm^2": 1e-4, "kg mm^2": 1e-6},
    "stiffness": {"N/m": 1.0, "N/mm": 1e3, "kN/m": 1e3},
    "rotational stiffness": {"N m/rad": 1.0, "N m/deg": 180 / math.pi},
    "damping": {"N s/m": 1.0, "mN s/m": 1e-3},
    "rotational damping": {"N m s/rad": 1.0, "N m s/deg": 180 / math.pi},
}
# of joints: what turns, and what slides
OF_JOINTS = {
    "position": ("angle", "length"),
    "rate": ("angular rate", "speed"),
    "load": ("torque", "force"),
    "stiffness": ("rotational stiffness", "stiffness"),
    "damping": ("rotational damping", "damping"),
    "inertia": ("moment of inertia", "mass"),
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
_SPELLINGS |= {"kg*m^2": "kg m^2", "kgm^2": "kg m^2", "kg m2": "kg m^2", "grams": "gram", "tonne": "t", "tonnes": "t"}
_SPELLINGS |= {"Nm/rad": "N m/rad", "N*m/rad": "N m/rad", "Nm/deg": "N m/deg", "Nms/rad": "N m s/rad"}
_SPELLINGS |= {"days": "day", "hour": "h", "minute": "min", "second": "s", "°": "deg", "meters": "m", "metres": "m"}
_TEXT = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*", re.ASCII | re.DOTALL)


class QuantityError(ValueError):
    """Why a value is no quantity; `code` is that of the finding it becomes."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class Measure(NamedTuple):
    """A number in SI, and its dimension where a unit was given."""

    value: float
    dimension: str | None
    text: str

    def of(self, dimension: str) -> float:
        """The number, if it has this dimension or none."""
        if self.dimension not in (None, dimension):
            found = f'is "{self.text}", {_a(self.dimension)}'
            raise QuantityError("wrong-unit", f"{found}; expected {_a(dimension)}, such as {example(dimension)}")
        return self.value

    def plain(self, why: str) -> float:
        """The number, if it has no unit."""
        if self.dimension is not None:
            raise QuantityError("wrong-unit", f'is "{self.text}"; expected plain numbers: {why}')
        return self.value


def joint_dimension(unit: str, what: str) -> str:
    """Of a joint's coordinate or rate whose unit is "rad", "rad/s", "m" or "m/s", for what = "position", "load", ..."""
    return OF_JOINTS[what][unit.startswith("m")]


def _a(words: str | None) -> str:
    return f"an {words}" if words and words[0] in "aeiou" else f"a {words}"


def example(dimension: str) -> str:
    """As in '"5 deg"'."""
    return f'"5 {list(UNITS[dimension])[1] if dimension in ("angle", "angular rate") else SI[dimension]}"'


def measure(value: Any, *, infinite: bool = False) -> Measure:
    """A number, or text with a unit. Raises a ValueError that says which units there are. infinite: inf is one, too."""
    if isinstance(value, Measure):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise QuantityError("malformed-number", 'expected a number, or text with a unit such as "5 deg"')
    if isinstance(value, (int, float)):
        return Measure(_number(value, infinite), None, str(value))
    match = _TEXT.fullmatch(value)
    if match is None:
        message = f"'{value[:40]}' does not start with a number; expected text such as \"5 deg\""
        raise QuantityError("malformed-number", message)
    if match[2][:1] == ",":
        raise QuantityError("malformed-number", f"'{value[:40]}' is no number; write a decimal point, as in 2.5")
    number, unit = _number(match[1], False), _SPELLINGS.get(match[2], " ".join(match[2].split()))
    if not unit:
        return Measure(number, None, value.strip())
    if unit not in _DIMENSION:
        raise QuantityError("wrong-unit", f"unknown unit '{unit[:20]}'. {nearest(unit, _DIMENSION)}")
    dimension = _DIMENSION[unit]
    return Measure(number * UNITS[dimension][unit], dimension, value.strip())


def _number(value: Any, infinite: bool) -> float:
    try:
        number = float(value)
    except OverflowError:
        raise QuantityError("malformed-number", "is too large for a number") from None
    if math.isnan(number) or (math.isinf(number) and not infinite):
        raise QuantityError(
            "not-finite", "expected a number, or inf for no limit" if infinite else "expected a finite number"
        )
    if LARGEST <= abs(number) < math.inf:
        raise QuantityError("malformed-number", "is too large for a number")
    return number


def plain_number(value: Any) -> float:
    """A finite number, without a unit."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        quoted = " without quotes or unit" if isinstance(value, str) else ""
        raise QuantityError("malformed-number", f"expected a number{quoted}")
    return _number(value, False)


def _schema(dimension: str | None, *, several: bool = False, nested: bool = False) -> WithJsonSchema:
    units = list(UNITS[dimension] if dimension else _DIMENSION)
    words = (
        f"{dimension}: a number in {SI[dimension]}, or text with a unit"
        if dimension
        else "a number in SI, or text with a unit"
    )
    pattern = r"^\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?\s*(" + "|".join(re.escape(u) for u in units) + r")?\s*$"
    one: list[dict[str, Any]] = [{"type": "number"}, {"type": "string", "pattern": pattern}]
    more: list[dict[str, Any]] = [{"type": "array", "items": {"anyOf": one}}] if several else []
    if nested:
        more.append({"type": "array", "items": more[0]})
    return WithJsonSchema({"anyOf": one + more, "description": words})


def quantity(dimension: str, *, infinite: bool = False) -> Any:
    """The pydantic type of a number of this dimension. infinite: inf is one, too: no limit."""

    def read(value: Any) -> float:
        return measure(value, infinite=infinite).of(dimension)

    return Annotated[float, BeforeValidator(read), _schema(dimension)]


def _measures(value: Any) -> tuple[Measure, ...]:
    return tuple(measure(item) for item in value) if isinstance(value, list) else (measure(value),)


def _values(value: Any) -> Any:
    return tuple(_values(item) for item in value) if isinstance(value, (list, tuple)) else measure(value)


def each(values: Any, read: Any) -> Any:
    """One measure, a list or lists of them, as numbers: read(measure, its place in its list)."""
    if isinstance(values, Measure):
        return read(values, 0)
    return tuple(read(one, k) if isinstance(one, Measure) else each(one, read) for k, one in enumerate(values))


Values = Annotated[Any, PlainValidator(_values), _schema(None, several=True, nested=True)]
Measures = Annotated[tuple[Measure, ...], PlainValidator(_measures), _schema(None, several=True)]
AnyLimit = Annotated[Measure, PlainValidator(lambda value: measure(value, infinite=True)), _schema(None)]
AnyMeasure = Annotated[Measure, PlainValidator(measure), _schema(None)]
Time, Length, Angle, AngularRate = quantity("time"), quantity("length"), quantity("angle"), quantity("angular rate")
Speed, Acceleration, Frequency = quantity("speed"), quantity("acceleration"), quantity("frequency")
Mass, Inertia = quantity("mass"), quantity("moment of inertia")
TorqueLimit, ForceLimit = quantity("torque", infinite=True), quantity("force", infinite=True)
RateLimit, TimeLimit = quantity("angular rate", infinite=True), quantity("time", infinite=True)


def three(kind: Any) -> Any:
    """The pydantic type of a vector."""
    return Annotated[list[kind], Field(min_length=3, max_length=3)]


Position, RollPitchYaw = three(Length), three(Angle)


def _inertia_rows(value: Any) -> Any:
    ok = isinstance(value, list) and (
        (len(value) in (3, 6) and not any(isinstance(x, list) for x in value))
        or (len(value) == 3 and all(isinstance(row, list) and len(row) == 3 for row in value))
    )
    if not ok:
        raise ValueError("expected [xx, yy, zz], [xx, xy, xz, yy, yz, zz], or three rows of three")
    return [[_moment(x) for x in row] if isinstance(row, list) else _moment(row) for row in value]


def _moment(value: Any) -> float:
    return measure(value).of("moment of inertia")


InertiaRows = Annotated[list[Any], BeforeValidator(_inertia_rows)]
