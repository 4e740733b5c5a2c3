"""Key = value notation of the space data committee's messages (CCSDS 502.0-B, 504.0-B): lines, dates, numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

BY_DAY = re.compile(r"(\d{4})-(\d{3})T(.*)")  # a date by the day of its year


class Line(NamedTuple):
    """key: empty for a line of data; text: the value without its unit, or the whole line."""

    path: Path
    number: int
    key: str
    text: str
    unit: str = ""

    def error(self, found: str) -> ValueError:
        return ValueError(f"{self.path}:{self.number}: {found}")

    def quantity(self, unit: str, power: int = 0) -> float:
        """The number times 10^power, bit for bit what was written; in another unit it is refused."""
        if self.unit not in ("", unit):
            raise self.error(f"{self.key} is in [{self.unit}]; expected [{unit}].")
        try:
            return float(Decimal(self.text).scaleb(power))
        except InvalidOperation:
            raise self.error(f"{self.key} is '{self.text[:60]}'; expected a number.") from None

    def date(self) -> Any:
        try:
            return date_of(self.text)
        except ValueError:
            raise self.error(f"{self.key} is '{self.text[:60]}'; expected a date.") from None


def lines_of(path: str | Path, what: str) -> Iterator[Line]:
    """Of a file, without comments and empty ones."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{what}: cannot read '{path}' ({error.strerror}).") from None
    if text.lstrip().startswith("<"):
        raise ValueError(f"{path}: it is XML; expected key = value notation.")
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0] == "COMMENT":
            continue
        key, equals, value = line.partition("=")
        if not equals:
            yield Line(path, number, "", line.strip())
            continue
        value, _, unit = value.partition("[")
        yield Line(path, number, key.strip(), value.strip(), unit.strip().rstrip("]"))


def date_of(text: str) -> Any:
    """datetime64[ns] of 2026-03-01T12:00:00 or 2026-060T12:00:00, with a Z or without."""
    text = text.removesuffix("Z")
    by_day = BY_DAY.fullmatch(text)
    if by_day is None:
        return np.datetime64(text, "ns")
    year, day, clock = by_day.groups()
    first = np.datetime64(f"{year}-01-01", "D") + (int(day) - 1)
    return np.datetime64(f"{first}T{clock}", "ns")


def scaled(x: Any, power: int) -> str:
    """x times 10^power, with as many digits as tell it from its neighbours."""
    return str(Decimal(repr(float(x))).scaleb(power))


def required(found: dict[str, Any], keys: Any, path: str | Path, what: str) -> None:
    """Raise where one of the keys is missing."""
    missing = [key for key in keys if key not in found]
    if missing:
        raise ValueError(f"{path}: {missing[0]} is missing; it is no {what}.")
