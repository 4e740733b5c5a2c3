"""Branches that are taken while something is recorded, as they are at nominal values of its symbols.

A law that is made from numbers may look at them: whether a noise is negative, whether a gain is there at all. Where
those numbers are symbols, it is made as for the nominal ones, and what was asked is kept: for other numbers that are to
stand in their place it can be told whether each question would have had the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..algebra.elementary import Array
from .ops import OPS

_active: ContextVar[Decisions | None] = ContextVar("decisions", default=None)


class Decisions:
    """nominal: of symbols, a number each."""

    def __init__(self, nominal: Mapping[Any, float]) -> None:
        self._nominal = dict(nominal)
        self.taken: list[tuple[Any, bool]] = []

    def decide(self, condition: Any) -> bool | None:
        """The answer; None if it hangs on other symbols, too."""
        found = _value(condition, self._nominal, {})
        if found is None:
            return None
        self.taken.append((condition, bool(found)))
        return bool(found)

    def same(self, values: Mapping[Any, Array], count: int) -> Array:
        """For which numbers (count,) of the symbols every answer is as it was."""
        alike, known = np.ones(count, dtype=bool), dict[Any, Any]()
        for condition, answer in self.taken:
            alike &= np.broadcast_to(np.asarray(_value(condition, values, known)) == answer, (count,))
        return alike


@contextmanager
def deciding(nominal: Mapping[Any, float]) -> Iterator[Decisions]:
    decisions = Decisions(nominal)
    token = _active.set(decisions)
    try:
        yield decisions
    finally:
        _active.reset(token)


def decided(condition: Any) -> bool | None:
    """What is to be taken for its answer; None if nobody can say."""
    decisions = _active.get()
    return None if decisions is None else decisions.decide(condition)


def _value(x: Any, values: Mapping[Any, Any], known: dict[Any, Any]) -> Any:
    """Of a symbol or number; None where a symbol has no value."""
    if isinstance(x, float):
        return x
    if x in values:
        return values[x]
    if x not in known:
        if x.op == "const":
            known[x] = x.data[0] if isinstance(x.data, tuple) else x.data
        elif x.op not in OPS or x.op in ("search", "lookup"):
            known[x] = None
        else:
            parts = [_value(a, values, known) for a in x.args]
            with np.errstate(all="ignore"):
                known[x] = None if any(p is None for p in parts) else OPS[x.op].numeric(*parts)
    return known[x]
