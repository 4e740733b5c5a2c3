"""Requirements: an outcome within a bound, in a share of all runs, shown with confidence."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ..algebra import Array
from ..io.toml.units import measure
from .statistics import Interval, at_least, at_most, proportion

FAR = 10**9  # runs that nobody makes


class Judged(StrEnum):
    met = "met"
    not_met = "not met"
    open = "not yet known"


@dataclass(frozen=True)
class Requirement:
    """limit, in SI, and `below`: which side of it is good. A run that failed does not meet it.

    unit: that the limit was written in; empty: SI.
    """

    outcome: str
    limit: float
    below: bool
    share: float
    confidence: float
    text: str = ""
    unit: str = ""

    def __str__(self) -> str:
        sign = "<" if self.below else ">"
        words = self.text or f"{self.outcome} {sign} {self.limit:g}"
        return f"{words} in {100 * self.share:.6g} % of runs, with {100 * self.confidence:.6g} % confidence"

    def holds(self, values: Array) -> Array:
        return values < self.limit if self.below else values > self.limit


@dataclass(frozen=True)
class Verdict:
    """share: of the runs that met it, with its two-sided interval. more: further runs that would decide it if they went
    as those before; None if that is out of reach.
    """

    requirement: Requirement
    judged: Judged
    runs: int
    failing: int
    share: Interval
    more: int | None = None

    def __str__(self) -> str:
        seen = f"{self.failing} of {self.runs} runs did not"
        further = ""
        if self.judged is Judged.open:
            more = "more than anyone makes" if self.more is None else f"about {self.more}"
            further = f"; {more} further runs would decide it, if they go as these"
        return f"{self.judged.value}: {self.requirement} ({seen}{further})"


def require(
    outcome: str,
    *,
    below: float | None = None,
    above: float | None = None,
    share: float = 0.997,
    confidence: float = 0.95,
) -> Requirement:
    """`outcome` is below (or above) a limit in `share` of all runs, shown with `confidence`.

    Raises ValueError unless one finite limit is given, and shares lie between 0 and 1.
    """
    if (below is None) == (above is None):
        raise ValueError(f"require '{outcome}': give below= or above=, one of them.")
    limit = float(below if above is None else above)  # type: ignore[arg-type]
    for name, x in (("share", share), ("confidence", confidence)):
        if not 0.0 < x < 1.0:
            raise ValueError(f"require '{outcome}': {name} is {x}; expected between 0 and 1, such as 0.997.")
    if not math.isfinite(limit):
        raise ValueError(f"require '{outcome}': the limit is {limit}; expected a finite number.")
    return Requirement(outcome, limit, above is None, share, confidence)


_PARTS = re.compile(
    r"\s*(?P<outcome>.+?)\s*(?P<sign>[<>])\s*(?P<limit>[-+0-9.eE]+)\s*(?P<unit>.*?)"
    r"\s+in\s+(?P<share>[0-9.]+)\s*%(\s+of\s+(the\s+|all\s+)?runs)?"
    r"(\s*,?\s*with\s+(?P<confidence>[0-9.]+)\s*%\s+confidence)?\s*"
)


def requirement_from_text(text: str) -> Requirement:
    """As in "pointing < 0.5 deg in 99.7 % of runs, with 95 % confidence".

    Raises ValueError where the text is no requirement, with an example of one.
    """
    found = _PARTS.fullmatch(text)
    if found is None:
        raise ValueError(
            f"'{text:.100}' is no requirement; expected one as in 'pointing < 0.5 deg in 99.7 % of runs, with 95 % "
            "confidence'."
        )
    try:
        limit = measure(f"{found['limit']} {found['unit']}").value if found["unit"] else float(found["limit"])
    except ValueError as error:
        raise ValueError(f"'{text:.100}': the limit {error}.") from None
    share, confidence = float(found["share"]) / 100, float(found["confidence"] or 95.0) / 100
    side = {"below" if found["sign"] == "<" else "above": limit}
    made = require(found["outcome"], share=share, confidence=confidence, **side)
    words = f"{found['outcome']} {found['sign']} {found['limit']} {found['unit']}".strip()
    return Requirement(made.outcome, made.limit, made.below, made.share, made.confidence, words, found["unit"])


def requirements_given(given: object) -> tuple[Requirement, ...]:
    """One or several, texts or made by `require`."""
    several = [given] if isinstance(given, str | Requirement) else list(given or ())  # type: ignore[call-overload]
    for one in several:
        if not isinstance(one, str | Requirement):
            raise TypeError(f"requirements: found {one!r:.60}; expected require(...) or a sentence.")
    return tuple(requirement_from_text(one) if isinstance(one, str) else one for one in several)


def judge(requirement: Requirement, values: Array, confidence: float | None = None) -> Verdict:
    """By the exact binomial bounds, one-sided: the chance of a wrong "met" (or "not met") is at most 1 - confidence.

    values: of independent runs; those that failed are no numbers. confidence: another than the requirement's, where a
    campaign is judged several times.
    """
    confidence = requirement.confidence if confidence is None else confidence
    runs = len(values)
    good = int(np.count_nonzero(requirement.holds(np.asarray(values, dtype=float))))
    judged = _judged(good, runs, requirement.share, confidence)
    more = _more(good, runs, requirement.share, confidence) if judged is Judged.open else None
    return Verdict(requirement, judged, runs, runs - good, proportion(good, runs, requirement.confidence), more)


def _judged(good: int, runs: int, share: float, confidence: float) -> Judged:
    if at_least(good, runs, confidence) >= share:
        return Judged.met
    return Judged.not_met if at_most(good, runs, confidence) < share else Judged.open


def _more(good: int, runs: int, share: float, confidence: float) -> int | None:
    """Further runs until it is decided, if the share of those that fail stays as it is."""
    rate = (runs - good) / runs

    def decided(n: int) -> bool:
        return _judged(n - math.floor(rate * n + 0.5), n, share, confidence) is not Judged.open

    low, high = runs, 2 * runs
    while not decided(high):
        if high > FAR:
            return None
        low, high = high, 2 * high
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if decided(middle) else (middle, high)
    return high - runs
