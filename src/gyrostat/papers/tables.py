"""Numbers that a paper prints against those of what was built."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..model import Joint, Spacecraft
from .checks import Check, holds

ROUND_OFF = 1e-12  # of the larger of 1 and the number: built values pass through rotations


class Entry(NamedTuple):
    """One place of a table: what is printed there and what the craft, law or run has.

    Numbers (of any shape), or words.
    """

    where: str
    printed: Any
    built: Any

    @property
    def agrees(self) -> bool:
        if isinstance(self.printed, str):
            return bool(self.printed == self.built)
        printed, built = np.asarray(self.printed, dtype=float), np.asarray(self.built, dtype=float)
        if printed.shape != built.shape:
            return False
        return bool(np.all(np.abs(built - printed) <= ROUND_OFF * np.maximum(1.0, np.abs(printed))))


def agreement(name: str, entries: Iterable[Entry], comment: str = "") -> Check:
    """One row: passed if every entry is as printed; else it names the first that is not."""
    rows = list(entries)
    wrong = [entry for entry in rows if not entry.agrees]
    measured = f"{len(rows) - len(wrong)} of {len(rows)} as printed"
    if wrong:
        measured += f"; {wrong[0].where}: {_shown(wrong[0].built)}, printed {_shown(wrong[0].printed)}"
    return holds(name, bool(rows) and not wrong, measured, "all", comment)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else " ".join(f"{x:.6g}" for x in np.ravel(np.asarray(value, dtype=float)))


def plain_joints(craft: Spacecraft, kind: str) -> list[Entry]:
    """Where a table has nothing on springs, dampers, friction, rotors and axes,
    the joints have none and turn about z of their frames.
    """
    plain = Joint("", kind)
    entries = []
    for joint in craft.joints[1:]:
        entries.append(Entry(f"{joint.name}, kind", kind, joint.kind))
        for name in ("axis", "stiffness", "rest", "damping", "friction", "backlash", "rotor_inertia", "gear_ratio"):
            entries.append(Entry(f"{joint.name}, {name}", getattr(plain, name), getattr(joint, name)))
    return entries
