"""Interpolation along a line of elements, as sparse matrices from the unknowns of all elements to values at points.

Element e reaches from `edges[e]` to `edges[e + 1]`; s in [0, 1] runs along it, l is its length.

    Hermite:    unknowns (f, f') at each edge; cubic, f and f' continuous                                  (1)
    quadratic:  unknowns f at each edge and in the middle of each element; f continuous                    (2)

Products of two cubics are integrated exactly by four Gauss points an element.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..algebra import Array

Matrix = Any  # a sparse matrix of SciPy

# coefficients of s^0 .. s^3, rows: f at 0, f' at 0, f at 1, f' at 1
_CUBICS = np.array([[1.0, 0.0, -3.0, 2.0], [0.0, 1.0, -2.0, 1.0], [0.0, 0.0, 3.0, -2.0], [0.0, 0.0, -1.0, 1.0]])
# rows: f at 0, 1/2, 1
_QUADRATICS = np.array([[1.0, -3.0, 2.0], [0.0, 4.0, -4.0], [0.0, -1.0, 2.0]])


def gauss_points(edges: Array, count: int = 4) -> tuple[Array, Array]:
    """Places and weights (in m) of `count` points in each element."""
    s, w = np.polynomial.legendre.leggauss(count)
    lengths = np.diff(edges)[:, None]
    return (edges[:-1, None] + lengths * (s + 1) / 2).ravel(), (lengths * w / 2).ravel()


def hermite(edges: Array, at: Array, derivative: int = 0) -> Matrix:
    """(points, 2 edges): f, f', f'' or f''' at the points from the unknowns of (1)."""
    e, lengths, values = _values(_CUBICS, edges, at, derivative)
    values[:, [1, 3]] *= lengths[:, None]  # the unknown is the slope in x, the cubic has it in s
    return _matrix(values, 2 * e[:, None] + np.arange(4), 2 * len(edges))


def quadratic(edges: Array, at: Array, derivative: int = 0) -> Matrix:
    """(points, 2 edges - 1): f, f' or f'' at the points from the unknowns of (2)."""
    e, _, values = _values(_QUADRATICS, edges, at, derivative)
    return _matrix(values, 2 * e[:, None] + np.arange(3), 2 * len(edges) - 1)


def _values(polynomials: Array, edges: Array, at: Array, derivative: int) -> tuple[Array, Array, Array]:
    at = np.atleast_1d(np.asarray(at, dtype=float))
    e = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, len(edges) - 2)
    lengths = np.diff(edges)[e]
    s = (at - edges[e]) / lengths
    values = np.stack([np.polynomial.Polynomial(p).deriv(derivative)(s) for p in polynomials], axis=1)
    return e, lengths, values / lengths[:, None] ** derivative


def _matrix(values: Array, columns: Array, width: int) -> Matrix:
    rows = np.repeat(np.arange(len(values)), values.shape[1])
    found = sparse.csr_array((values.ravel(), (rows, columns.ravel())), shape=(len(values), width))
    found.eliminate_zeros()  # on an edge only its own unknowns count: a station that is held holds no neighbour
    return found
