"""What a verification reports: worst disagreements by quantity and pair, and who could not take part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class Comparison(NamedTuple):
    """The worst disagreement of two computations over all states, and the largest allowed."""

    quantity: str
    first: str
    second: str
    worst: float
    allowed: float

    @property
    def passed(self) -> bool:
        return bool(self.worst <= self.allowed)  # false for NaN


@dataclass(frozen=True)
class VerifyReport:
    """Who was compared on what; `absent` says why a formulation, peer or compilation is missing."""

    craft: str
    states: int
    seed: int
    comparisons: tuple[Comparison, ...]
    absent: dict[str, str]

    @property
    def passed(self) -> bool:
        return bool(self.comparisons) and all(comparison.passed for comparison in self.comparisons)

    @property
    def worst(self) -> Comparison | None:
        """The comparison nearest to its limit, or furthest beyond."""
        if not self.comparisons:
            return None
        return max(self.comparisons, key=lambda c: float("inf") if c.worst != c.worst else c.worst / c.allowed)

    def as_dict(self) -> dict[str, Any]:
        """For machines; a disagreement that is no number is null."""
        return {
            "craft": self.craft,
            "states": self.states,
            "seed": self.seed,
            "passed": self.passed,
            "comparisons": [
                {
                    "quantity": c.quantity,
                    "first": c.first,
                    "second": c.second,
                    "worst": c.worst if c.worst == c.worst and abs(c.worst) != float("inf") else None,
                    "allowed": c.allowed,
                    "passed": c.passed,
                }
                for c in self.comparisons
            ],
            "absent": self.absent,
        }
