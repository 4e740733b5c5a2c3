"""The same step many times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def scan(f: Callable[..., Any], start: Any, steps: Any) -> Any:
    """x after `x = f(x, k)` for k = 0.0, 1.0, ..., steps - 1: a loop that stays one when it is compiled.

    start: a number, an array, or a tuple, list or dict of them; f returns what is laid out alike. f may use traced
    values of its surroundings; k is a number to count with, no index: `gs.interp` reads tables.

    Raises TypeError unless the number of steps is known when the function is recorded.
    """
    if not isinstance(steps, int | np.integer) or isinstance(steps, bool) or steps < 0:
        raise TypeError(f"scan: steps is {steps!r}; expected a whole number, known when the function is recorded.")
    x = start
    for k in range(int(steps)):
        symbol = _symbol(x)
        if symbol is not None:
            return symbol.scan(f, x, k, int(steps))
        x = f(x, float(k))
    return x


def _symbol(x: Any) -> Any:
    """Something in x that records loops; None if there is nothing."""
    if hasattr(x, "scan"):
        return x
    if isinstance(x, np.ndarray):
        parts: Any = x.flat if x.dtype == object else ()
    elif isinstance(x, dict):
        parts = x.values()
    else:
        parts = x if isinstance(x, tuple | list) else ()
    return next((found for part in parts if (found := _symbol(part)) is not None), None)
