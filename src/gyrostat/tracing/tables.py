"""Interpolation in constant tables, on floats and on traced values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.elementary import Array, maximum, minimum
from .expr import Expr
from .ops import OPS


class Table:
    """A constant row of floats that a node refers to; equal tables are the same."""

    def __init__(self, values: Any) -> None:
        self.values = np.array(values, dtype=float)
        self._bytes = self.values.tobytes()

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self._bytes == other._bytes


def interp(x: Any, xp: Any, fp: Any) -> Any:
    """Piecewise linear interpolation, held constant beyond the ends, as `np.interp`.

    x: float, traced value, or array of either, any shape; xp (n,): increasing; fp (n,) or (n, ...): values at xp, n >=
    2. Returns the shape of x followed by that of fp[0].
    The derivative is the slope of the interval that starts at or before x.
    """
    xp, fp = np.asarray(xp, dtype=float), np.asarray(fp, dtype=float)
    if xp.ndim != 1 or len(xp) < 2 or len(fp) != len(xp) or not np.all(np.diff(xp) > 0):
        raise ValueError(
            f"interp: xp has shape {xp.shape}, fp {fp.shape}. Expected xp (n,) strictly increasing with n >= 2, and n "
            "values in fp."
        )
    if not np.all(np.isfinite(xp)) or not np.all(np.isfinite(fp)):
        raise ValueError("interp: the table holds NaN or infinity. Remove those rows.")
    columns = fp.reshape(len(xp), -1)
    slopes = np.diff(columns, axis=0) / np.diff(xp)[:, None]
    held = np.asarray(minimum(maximum(x, xp[0]), xp[-1]))
    start = _at_table("search", held, xp[:-1])
    offset = held - _at_table("lookup", start, xp[:-1])
    out = [
        _at_table("lookup", start, c[:-1]) + _at_table("lookup", start, s) * offset
        for c, s in zip(columns.T, slopes.T, strict=True)
    ]
    value = np.stack(out, axis=-1).reshape(held.shape + fp.shape[1:])
    return value[()]


def _at_table(op: str, x: Array, values: Array) -> Array:
    """`search` or `lookup` of every element of x."""
    if x.dtype != object:
        return np.asarray(OPS[op].numeric(x, values))
    table = Table(values)
    out = np.empty(x.shape, dtype=object)
    out.reshape(-1)[:] = [table_rule(op, e, table) for e in x.reshape(-1)]
    return out


def table_rule(op: str, x: Any, table: Table) -> Any:
    """`search` or `lookup` of an Expr or a plain number, as a rule (see rules.py)."""
    return x.trace.node(op, (x,), table) if isinstance(x, Expr) else float(OPS[op].numeric(float(x), table.values))
