"""Many cases at once in plain NumPy: a number that is really an array of numbers, one per case,
and behaves as a scalar.

A function written for one case, of shape (n,), takes an object array of n such numbers and so computes all cases
in one pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .elementary import Array


def over_lanes(f: Callable[[Array], Any], x: Any) -> Any:
    """f of each row: x (..., n) to (..., shape of f's result).

    Symbols, and a single row, are handed to f as they are.
    """
    x = np.asarray(x)
    if x.ndim == 1 or x.dtype == object:
        return f(x)
    rows = x.reshape(-1, x.shape[-1])
    argument = np.empty(x.shape[-1], dtype=object)
    argument[:] = [Lanes(column) for column in rows.T]
    y = np.asarray(f(argument))
    columns = [np.broadcast_to(_plain(e), len(rows)) for e in y.ravel().tolist()]
    return np.stack(columns, axis=-1).reshape(*x.shape[:-1], *y.shape)


def _plain(x: Any) -> Any:
    return x.values if isinstance(x, Lanes) else x


def _operator(function: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(a: Lanes, b: Any) -> Any:
        return NotImplemented if isinstance(b, np.ndarray) else Lanes(function(a.values, _plain(b)))

    def reflected(b: Lanes, a: Any) -> Any:
        return NotImplemented if isinstance(a, np.ndarray) else Lanes(function(_plain(a), b.values))

    return forward, reflected


def _function(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda a: Lanes(function(a.values))


class Lanes:
    """One number per case."""

    __slots__ = ("values",)
    __array_priority__ = -1.0  # above NumPy's scalars, which leave operators to it; below arrays

    def __init__(self, values: Array) -> None:
        self.values = values

    __add__, __radd__ = _operator(np.add)
    __sub__, __rsub__ = _operator(np.subtract)
    __mul__, __rmul__ = _operator(np.multiply)
    __truediv__, __rtruediv__ = _operator(np.divide)
    __pow__, __rpow__ = _operator(np.power)
    __lt__, __gt__ = _operator(np.less)
    __le__, __ge__ = _operator(np.less_equal)
    __and__, __rand__ = _operator(np.logical_and)
    __or__, __ror__ = _operator(np.logical_or)
    atan2, ratan2 = _operator(np.arctan2)
    minimum, rminimum = _operator(np.minimum)
    maximum, rmaximum = _operator(np.maximum)
    __neg__, __invert__ = _function(np.negative), _function(np.logical_not)
    __abs__ = absolute = _function(np.absolute)
    sin, cos, tan = _function(np.sin), _function(np.cos), _function(np.tan)
    asin, acos, atan = _function(np.arcsin), _function(np.arccos), _function(np.arctan)
    exp, log, sqrt = _function(np.exp), _function(np.log), _function(np.sqrt)
    sign, floor = _function(np.sign), _function(np.floor)

    def where(self, a: Any, b: Any) -> Lanes:
        """Of a comparison: a where it holds, else b."""
        return Lanes(np.where(self.values, _plain(a), _plain(b)))

    def __repr__(self) -> str:
        return f"Lanes({self.values})"
