"""Units in which people are told outcomes: those that their requirements are written in, SI otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ..io.toml.units import SI, measure
from ..outcomes import Outcome
from .requirements import Requirement
from .single import SinglePrecision


class Shown(NamedTuple):
    """title: the outcome's name with the unit. factor: what a number in SI is multiplied by."""

    title: str
    unit: str
    factor: float

    def cost(self, found: SinglePrecision) -> SinglePrecision:
        """What single precision has cost, in this unit."""
        k = self.factor
        return found._replace(largest=k * found.largest, median=k * found.median, spread=k * found.spread)


def shown_in(one: Outcome, requirements: Sequence[Requirement]) -> Shown:
    """As the first requirement of this outcome writes it, if of the outcome's dimension: "deg" of what is in rad."""
    for asked in requirements:
        if asked.outcome == one.name and asked.unit:
            written = measure(f"1 {asked.unit}")
            if written.dimension is not None and SI[written.dimension] == one.unit:
                return Shown(str(replace(one, unit=asked.unit)), asked.unit, 1.0 / written.value)
    return Shown(str(one), one.unit, 1.0)
