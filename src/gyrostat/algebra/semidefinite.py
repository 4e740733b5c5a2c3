"""Symmetric systems that may be singular: the solution of least norm, without pivoting or branching."""

from __future__ import annotations

from typing import Any

import numpy as np

from .elementary import Array, where
from .linear import ldl, ldl_solve, mirror

REDUNDANT = 1e-10  # a row whose own part is below this fraction of its diagonal depends on the rows before it
NOTHING = 1e-15  # a row whose diagonal is below this fraction of the trace is zero but for round-off
CANCELLED = 1e-18  # and so is one below this fraction of the size that its terms had before they cancelled


def semidefinite_ldl(A: Array, tolerance: float = REDUNDANT, sizes: Array | None = None) -> tuple[Array, Array, Array]:
    """L, 1/d and z with `A = L diag(d) L^T`; z is 1 where row j depends on the rows before it,
    and 1/d is then 0, L's column too.

    sizes (n,): how large the terms of each diagonal are, where they may cancel: A alone cannot tell round-off from a
    small row.
    """
    n = len(A)
    L, Ld = np.array(np.eye(n), dtype=A.dtype), np.array(A, dtype=A.dtype)
    inverse, z = np.empty(n, dtype=A.dtype), np.empty(n, dtype=A.dtype)
    nothing = NOTHING * sum(A[j, j] for j in range(n))
    for j in range(n):
        least = nothing if sizes is None else nothing + CANCELLED * sizes[j]
        own = Ld[j, j] > tolerance * A[j, j] + least
        inverse[j] = where(own, 1.0 / where(own, Ld[j, j], 1.0), 0.0)
        z[j] = where(own, 0.0, 1.0)
        L[j + 1 :, j] = Ld[j + 1 :, j] * inverse[j]
        for i in range(j + 1, n):
            Ld[i:, i] = Ld[i:, i] - L[i:, j] * Ld[i, j]
    return L, inverse, z


def least_norm_solution(A: Array, b: Array, tolerance: float = REDUNDANT, sizes: Array | None = None) -> Array:
    """x of least norm with `A x = b`, for symmetric positive semidefinite A (n, n) and b in its range, (n,) or (n, k).

    The null space of A = L diag(d) L^T is spanned by the columns of L^-T where d is zero;
    the part of any solution in it is removed. sizes: as in `semidefinite_ldl`.
    """
    if len(A) == 0:
        return np.asarray(b)
    L, inverse, z = semidefinite_ldl(A, tolerance, sizes)
    x = _backward(L, (inverse * _forward(L, b).T).T)
    if not any(_may_hold(e) for e in z):
        return x
    null = _backward(L, np.diag(z))
    shares = mirror(null.T @ null + np.diag(1.0 - z))
    return x - null @ ldl_solve(*ldl(shares), null.T @ x)


def _forward(L: Array, b: Array) -> Array:
    """L^-1 b."""
    y: list[Any] = list(b)
    for i in range(len(y)):
        for k in range(i):
            y[i] = y[i] - L[i, k] * y[k]
    return np.array(y)


def _backward(L: Array, b: Array) -> Array:
    """L^-T b."""
    y: list[Any] = list(b)
    for i in reversed(range(len(y))):
        for k in range(i + 1, len(y)):
            y[i] = y[i] - L[k, i] * y[k]
    return np.array(y)


def _may_hold(e: Any) -> bool:
    """False if e is the number zero."""
    return not (isinstance(e, (int, float, np.number)) and e == 0.0)
