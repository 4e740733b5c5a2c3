"""Key = value notation of the space data committee's messages (CCSDS 502.0-B, 504.0-B): lines, dates, numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...model.names import wrong_name
from ..files import text_of

MOST = 2**26  # bytes of a file: half a million states
CLOCK = r"(T\d\d:\d\d(:\d\d(\.\d*)?)?)?Z?"
BY_DAY = re.compile(r"(\d{4})-(\d{3})" + CLOCK)  # a date by the day of its year
BY_MONTH = re.compile(r"(\d{4})-\d\d-\d\d" + CLOCK)
YEARS = (1678, 2261)  # that datetime64[ns] reaches, whole ones


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
            return number(self.text, power)
        except ValueError:
            raise self.error(f"{self.key} is '{self.text[:60]}'; expected a number.") from None

    def date(self) -> Any:
        try:
            return date_of(self.text)
        except ValueError:
            raise self.error(
                f"{self.key} is '{self.text[:60]}'; expected a date of the years {YEARS[0]} to {YEARS[1]}."
            ) from None


def lines_of(path: str | Path, what: str) -> Iterator[Line]:
    """Of a file, without comments and empty ones."""
    path = Path(path)
    text = text_of(path, f"a file of key = value: {what}", MOST)
    if text.lstrip().startswith("<"):
        raise ValueError(f"{path}: it is XML; expected key = value notation.")
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0] == "COMMENT":
            continue
        wrong = wrong_name(line.replace("\t", " "))
        if wrong:
            raise ValueError(f"{path}:{number}: {wrong.removeprefix('its name ')}")
        key, equals, value = line.partition("=")
        if not equals:
            yield Line(path, number, "", line.strip())
            continue
        value, _, unit = value.partition("[")
        yield Line(path, number, key.strip(), value.strip(), unit.strip().rstrip("]"))


def date_of(text: str) -> Any:
    """datetime64[ns] of 2026-03-01T12:00:00 or 2026-060T12:00:00, with a Z or without. Raises a ValueError."""
    by_day = BY_DAY.fullmatch(text)
    match = by_day or BY_MONTH.fullmatch(text)
    if match is None or not YEARS[0] <= int(match[1]) <= YEARS[1]:
        raise ValueError(text)
    if by_day is None:
        return np.datetime64(text.removesuffix("Z"), "ns")
    day = np.datetime64(f"{match[1]}-01-01", "D") + (int(match[2]) - 1)
    if str(day)[:4] != match[1]:
        raise ValueError(text)  # the 366th of a common year
    return np.datetime64(f"{day}{match[3] or ''}", "ns")


def number(text: str, power: int = 0) -> float:
    """Times 10^power, bit for bit what was written. Raises a ValueError where it is none, or not finite."""
    try:
        found = float(Decimal(text).scaleb(power))
    except ArithmeticError:  # InvalidOperation, Overflow
        raise ValueError(text) from None
    if not math.isfinite(found):
        raise ValueError(text)
    return found


def entry(key: str, value: Any) -> str:
    """A line of a head. A value of several lines would bring keys of its own."""
    wrong = wrong_name(str(value))
    if wrong:
        raise ValueError(f"{key}: {wrong.removeprefix('its name ')}")
    return f"{key} = {value}"


def scaled(x: Any, power: int) -> str:
    """x times 10^power, with as many digits as tell it from its neighbours."""
    return str(Decimal(repr(float(x))).scaleb(power))


def demand_whole(path: str | Path, head: dict[str, str], last: Any) -> None:
    """A file that says when it stops holds the times until then."""
    try:
        stop = date_of(head.get("STOP_TIME", ""))
    except ValueError:
        return  # optional, and nobody's business
    if last < stop:
        raise ValueError(f"{path}: it ends at {last}, and STOP_TIME is {head['STOP_TIME']}: it is cut off.")


def required(found: dict[str, Any], keys: Any, path: str | Path, what: str) -> None:
    """Raise where one of the keys is missing."""
    missing = [key for key in keys if key not in found]
    if missing:
        raise ValueError(f"{path}: {missing[0]} is missing; it is no {what}.")
