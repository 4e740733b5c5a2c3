"""Interpolation in constant tables, on floats and on traced values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.elementary import Array, floor, maximum, minimum
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

    Raises ValueError unless xp and fp are finite, of one length, and xp increases.
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


def lookup(place: Any, table: Any) -> Any:
    """table[place], of a row of floats and whole numbers as floats: a symbol, such as the counter of `scan`, or an
    array of them. Nothing asks whether a place is in the table.
    """
    table = np.asarray(table, dtype=float)
    return _at_table("lookup", np.asarray(place), table)[()]


class Pieces:
    """Polynomials on equal intervals that follow each other: what a library knows, where compiled code can read it.

    coefficients (intervals, terms, ...): of Chebyshev polynomials in u, which goes from -1 to 1 over an interval.
    Beyond the ends the first and the last go on.
    """

    def __init__(self, start: float, length: float, coefficients: Any) -> None:
        self.start, self.length = float(start), float(length)
        self.coefficients = np.asarray(coefficients, dtype=float)
        if self.coefficients.ndim < 2 or not self.length > 0 or not np.isfinite(self.coefficients).all():
            raise ValueError(
                f"pieces: coefficients of shape {self.coefficients.shape}, intervals of {length}; expected finite "
                "numbers (intervals, terms, ...), and a length above zero."
            )

    @property
    def end(self) -> float:
        return self.start + self.length * len(self.coefficients)

    def __call__(self, x: Any) -> Any:
        """Its value at x, a float, an array or a symbol; the shape of x, then that of one coefficient."""
        count, terms, *shape = self.coefficients.shape
        x = np.asarray(x)
        ahead = (x - self.start) / self.length
        place = np.asarray(minimum(maximum(floor(ahead), 0.0), count - 1.0))
        u = 2.0 * (ahead - place) - 1.0
        columns = self.coefficients.reshape(count, terms, -1)
        out = []
        for j in range(columns.shape[2]):
            c = [_at_table("lookup", place, columns[:, i, j]) for i in range(terms)]
            b1: Any = 0.0
            b2: Any = 0.0
            for i in reversed(range(1, terms)):  # Clenshaw
                b1, b2 = c[i] + 2.0 * u * b1 - b2, b1
            out.append(c[0] + u * b1 - b2)
        return np.stack(out, axis=-1).reshape(x.shape + tuple(shape))[()]

    def derivative(self) -> Pieces:
        slopes = np.polynomial.chebyshev.chebder(self.coefficients, axis=1) * (2.0 / self.length)
        return Pieces(self.start, self.length, slopes)


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
