"""All kinds of scenarios. A new one is a module with a `Kind`, and a line here."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from .formation import FORMATION
from .kind import Kind as Kind
from .one_craft import ONE
from .phased import PHASED

KINDS = (PHASED, FORMATION, ONE)  # the last is what a file holds that has no key of another


def kind_of(keys: Iterable[str]) -> Kind:
    """By the keys at the top of the file; misspelt ones count where no other is there."""
    keys = list(keys)
    for kind in KINDS:
        if any(mark in keys for mark in kind.marks):
            return kind
    unknown = [key for key in keys if key not in KINDS[-1].table.model_fields]
    for kind in KINDS:
        if any(difflib.get_close_matches(key, kind.marks, n=1, cutoff=0.8) for key in unknown):
            return kind
    return KINDS[-1]


def elsewhere(keys: tuple[str, ...], kind: Kind) -> str:
    """Where a key belongs that this kind of file does not have, as a hint; empty if nowhere."""
    if ".".join(keys) in kind.hints:
        return kind.hints[".".join(keys)]
    key = keys[0] if len(keys) == 1 else ""
    others = [other.name for other in KINDS if key in other.table.model_fields]
    return f"It belongs to {others[-1]}, without [[{kind.marks[0]}]]." if others and kind.marks else ""
