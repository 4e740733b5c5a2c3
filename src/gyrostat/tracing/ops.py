"""The operations a graph is made of: all that a printer for another language has to know.

Every other function is composed of these when it is recorded (tan, asin, acos, atan, interpolation, normal numbers).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Op(NamedTuple):
    """One operation: number of arguments, meaning on NumPy floats, meaning in words."""

    arity: int
    numeric: Callable[..., Any]
    meaning: str


def _search(x: Any, table: Any) -> Any:
    return np.clip(np.searchsorted(table, x, side="right") - 1, 0, len(table) - 1) * 1.0


def _lookup(i: Any, table: Any) -> Any:
    return table[np.asarray(i).astype(int)]


def _mix(h: Any) -> Any:
    """A bijection of 64-bit integers that leaves no visible pattern (moremur, P. Evensen 2019)."""
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x3C79AC492BA7B653)
    h = (h ^ (h >> np.uint64(33))) * np.uint64(0x1C69B3F74AC4AE35)
    return h ^ (h >> np.uint64(27))


def random_bits(*keys: Any) -> Any:
    """64 random bits for the integers `keys`: each key is added, times the golden ratio, and mixed in."""
    h: Any = np.uint64(0)
    with np.errstate(over="ignore"):
        for key in keys:
            h = _mix(
                h + np.uint64(0x9E3779B97F4A7C15) * (np.asarray(key).astype(np.int64).astype(np.uint64) + np.uint64(1))
            )
    return h


def _uniform(*keys: Any) -> Any:
    return ((random_bits(*keys) >> np.uint64(12)).astype(float) + 0.5) * 2.0**-52


# Numbers. `search` and `lookup` carry the index of a constant table as their node's data.
NUMBERS = {
    "add": Op(2, np.add, "a + b"),
    "sub": Op(2, np.subtract, "a - b"),
    "mul": Op(2, np.multiply, "a * b"),
    "neg": Op(1, np.negative, "-a"),
    "recip": Op(1, lambda a: 1.0 / a, "1 / a"),
    "sqrt": Op(1, np.sqrt, "square root"),
    "pow": Op(2, np.power, "a to the power b"),
    "sin": Op(1, np.sin, "sine"),
    "cos": Op(1, np.cos, "cosine"),
    "atan2": Op(2, np.arctan2, "angle of the point (x=b, y=a)"),
    "exp": Op(1, np.exp, "e to the power a"),
    "log": Op(1, np.log, "natural logarithm"),
    "abs": Op(1, np.abs, "|a|"),
    "min": Op(2, np.minimum, "the smaller; NaN if either is"),
    "max": Op(2, np.maximum, "the larger; NaN if either is"),
    "sign": Op(1, np.sign, "-1, 0 or 1"),
    "floor": Op(1, np.floor, "largest integer not above a"),
    "mod": Op(2, np.mod, "a - floor(a / b) b, with the sign of b"),
    "where": Op(3, np.where, "b if the condition a holds, else c"),
    "search": Op(1, _search, "largest i with table[i] <= a, as a number; 0 if there is none or a is NaN"),
    "lookup": Op(1, _lookup, "table[a]"),
    "uniform": Op(4, _uniform, "random number in (0, 1) for the four integers a, b, c, d (see random_bits)"),
}
# Conditions: results that only these operations and the first argument of `where` take.
CONDITIONS = {
    "lt": Op(2, np.less, "a < b"),
    "le": Op(2, np.less_equal, "a <= b"),
    "and": Op(2, np.logical_and, "both"),
    "or": Op(2, np.logical_or, "either"),
    "not": Op(1, np.logical_not, "not"),
}
OPS = NUMBERS | CONDITIONS
