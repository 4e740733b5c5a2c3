"""What was found in a model: errors, warnings and notes, each with its place and the way to mend it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from .names import printable

MAX_COMPARED, MAX_LENGTH = 2000, 100
Level = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """One thing worth saying about a model or its file."""

    level: Level
    message: str  # what was found, with its value, and what was expected
    hint: str = ""  # how to mend it
    element: str = ""  # e.g. "joint 'elbow'"
    file: str = ""
    line: int | None = None
    code: str = ""  # stable short name, e.g. "negative-mass"

    def __str__(self) -> str:
        place = self.file + (f":{self.line}" if self.line else "")
        head = ": ".join(part for part in (place, self.element) if part)
        text = f"{head}: {self.message}" if head else self.message
        return printable(f"{text} {self.hint}" if self.hint else text)

    def _repr_html_(self) -> str:
        from .notebook import finding_html

        return finding_html(self)


class ModelError(ValueError):
    """The model cannot be used; `findings` says why."""

    def __init__(self, findings: Iterable[Finding]):
        self.findings = tuple(findings)
        super().__init__("\n".join(str(f) for f in self.findings if f.level == "error"))


class InternalError(RuntimeError):
    """gyrostat is at fault, not its user."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A phrase that names what is known, nearest first."""
    known = list(known)
    near = [other for other in known[:MAX_COMPARED] if len(other) <= MAX_LENGTH]  # comparing costs their product
    close = difflib.get_close_matches(name, near, n=1) if len(name) <= MAX_LENGTH else []
    if close:
        return f"Did you mean '{close[0]}'?"
    shown = ", ".join(known[:12])[:400] + (", ..." if len(known) > 12 else "")
    return f"Known: {shown}." if known else "There is none."
