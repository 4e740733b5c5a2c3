"""What a reproduction reports: checks with numbers, and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple


class Check(NamedTuple):
    """One statement about a run.

    `measured` and `required` as they should be printed; value and bound where it is `value <= bound`.
    """

    name: str
    measured: str
    required: str
    passed: bool
    comment: str = ""
    value: float | None = None
    bound: float | None = None


class Reproduction(NamedTuple):
    """All checks, the pictures that were written, what the paper leaves open,
    and what agrees with it or does not, in words.
    """

    checks: list[Check]
    figures: list[Path]
    assumptions: list[str]
    remarks: Sequence[str] = ()

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)


def at_most(name: str, value: float | None, bound: float, unit: str = "", comment: str = "") -> Check:
    """Passed if value <= bound; not if there is no value, as where nothing was audited."""
    if value is None:
        return Check(name, "not audited", f"<= {bound:.0e}{unit}", False, comment, None, float(bound))
    shown = f"{value:.2e}{unit}", f"<= {bound:.0e}{unit}"
    return Check(name, *shown, bool(value <= bound), comment, float(value), float(bound))


def worst(drifts: Iterable[float | None]) -> float | None:
    """The largest; None if any is."""
    found = list(drifts)
    return None if None in found else max(x for x in found if x is not None)


def holds(name: str, truth: bool, measured: str, required: str, comment: str = "") -> Check:
    """Passed if `truth`."""
    return Check(name, measured, required, bool(truth), comment)


def named(run: str, found: Iterable[Check]) -> list[Check]:
    """The same checks, with the name of their run in front."""
    return [check._replace(name=f"{run}: {check.name}") for check in found]
