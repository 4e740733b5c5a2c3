"""What single precision has cost: the first block of a campaign is run in double precision, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..algebra import Array
from .requirements import Requirement

if TYPE_CHECKING:
    from .plan import Block, Plan


class SinglePrecision(NamedTuple):
    """Of one outcome: by how much runs in single precision differ from the same in double, in its unit; spread: what
    lies between the 5th and the 95th percentile, to measure that by. otherwise: runs that a requirement judges
    otherwise, or that fail in one of the two only.
    """

    outcome: str
    largest: float
    median: float
    spread: float
    otherwise: int
    runs: int

    def __str__(self) -> str:
        share = f", {self.largest / self.spread:.1g} of their spread" if self.spread > 0 else ""
        judged = f"; {self.otherwise} of them end otherwise" if self.otherwise else ""
        return (
            f"{self.outcome}: single precision moves {self.runs} runs by {self.largest:.2g} at most{share}, half of "
            f"them by less than {self.median:.2g}{judged}"
        )


def is_single(plan: Plan) -> bool:
    return plan.options.get("precision") == "single"


def compared(plan: Plan, single: Block, double: Block, asked: Sequence[Requirement]) -> tuple[SinglePrecision, ...]:
    return tuple(
        _of_one(one.name, single.outcomes[:, k], double.outcomes[:, k], [r for r in asked if r.outcome == one.name])
        for k, one in enumerate(plan.outcomes)
    )


def _of_one(name: str, single: Array, double: Array, asked: Sequence[Requirement]) -> SinglePrecision:
    there = np.isfinite(single) & np.isfinite(double)
    other = (single != double) & ~there & ~(np.isnan(single) & np.isnan(double))
    for one in asked:
        other |= one.holds(single) != one.holds(double)
    if not there.any():
        return SinglePrecision(name, np.nan, np.nan, np.nan, int(other.sum()), len(single))
    apart = np.abs(single[there] - double[there])
    low, high = np.quantile(double[there], (0.05, 0.95))
    return SinglePrecision(
        name, float(apart.max()), float(np.median(apart)), float(high - low), int(other.sum()), len(single)
    )
