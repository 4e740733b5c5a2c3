"""What a verification reports: worst disagreements by quantity and pair, and who could not take part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..model.names import printable


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

    def __str__(self) -> str:
        """A line for each quantity, every disagreement, who could not take part, and the verdict."""
        lines = [f"{printable(self.craft)}, {self.states} random states, seed {self.seed}"]
        for quantity in dict.fromkeys(c.quantity for c in self.comparisons):
            rows = [c for c in self.comparisons if c.quantity == quantity]
            worst = max(rows, key=lambda c: c.worst)
            pair = f"{worst.first} / {worst.second}"
            lines.append(
                f"  {quantity}: {len(rows)} pairs within {worst.worst:.1e} ({pair}); allowed {worst.allowed:.0e}"
            )
        failed = [c for c in self.comparisons if not c.passed]
        lines += [f"  {c.quantity}: {c.first} and {c.second} differ by {c.worst:.2e}" for c in failed]
        lines += [f"  not compared: {name}: {printable(reason)}" for name, reason in self.absent.items()]
        verdict = (
            "agree" if self.passed else f"FAILED: {len(failed)} differ" if failed else "FAILED: nothing to compare"
        )
        return "\n".join([*lines, f"{len(self.comparisons)} comparisons: {verdict}"])

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
