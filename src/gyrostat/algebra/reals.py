"""Numbers at the door: text and complex numbers are refused, where NumPy would guess, or drop a part of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .elementary import Array

REAL = "biufO"  # kinds of dtype: numbers, and objects that may stand for some


def reals(given: Any, what: str) -> Array:
    """`given` as floats. Raises a ValueError for what is no array of real numbers; what: how the user calls it."""
    try:
        found = np.asarray(given)
        if found.dtype.kind in REAL:
            return np.asarray(found, dtype=float)
        is_what = f"holds {found.dtype}" if found.ndim else f"is {given!r:.80}"
    except (TypeError, ValueError, OverflowError):
        is_what = f"is {given!r:.80}"
    raise ValueError(f"{what} {is_what}; expected real numbers.")


def seconds(given: Any, what: str) -> float:
    """`given` as one finite time. Raises a ValueError for anything else."""
    try:
        found = reals(given, what)
    except ValueError:
        found = np.zeros(0)
    if found.shape != () or not np.isfinite(found):
        raise ValueError(f"{what} is {given!r:.80}; expected a time in seconds.")
    return float(found)
