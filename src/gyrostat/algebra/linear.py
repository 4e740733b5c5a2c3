"""Small linear algebra on float and symbolic arrays: no pivoting, no branching on values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .elementary import Array


def mirror(A: Array) -> Array:
    """The symmetric matrix with the upper triangle of `A`: (n, n).

    When traced, the lower triangle is never computed.
    """
    i, j = np.indices(A.shape)
    return A[np.minimum(i, j), np.maximum(i, j)]


def ldl(A: Array) -> tuple[Array, Array]:
    """Unit lower triangular L (n, n) and d (n,) with `A = L diag(d) L^T`, for symmetric A without zero pivots."""
    n = len(A)
    L, d = np.array(np.eye(n), dtype=A.dtype), np.empty(n, dtype=A.dtype)
    Ld = np.array(A, dtype=A.dtype)  # column j holds L[:, j] d[j] once it is done
    for j in range(n):
        d[j] = Ld[j, j]
        L[j + 1 :, j] = Ld[j + 1 :, j] / d[j]
        for i in range(j + 1, n):
            Ld[i:, i] = Ld[i:, i] - L[i:, j] * Ld[i, j]
    return L, d


def ldl_solve(L: Array, d: Array, b: Array) -> Array:
    """x with `L diag(d) L^T x = b`; b is (n,) or (n, k)."""
    n = len(d)
    x: list[Any] = list(b)
    for i in range(n):
        for k in range(i):
            x[i] = x[i] - L[i, k] * x[k]
    x = [x[i] / d[i] for i in range(n)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - L[k, i] * x[k]
    return np.array(x) if n else np.asarray(b)


def solve_spd(A: Array, b: Array) -> Array:
    """x with `A x = b` for symmetric positive definite A (n, n); b is (n,) or (n, k)."""
    if len(A) == 1:
        return b / A[0, 0]
    return ldl_solve(*ldl(A), b)


def inverse_spd(M: Array) -> Array:
    """M^-1 of a symmetric positive definite M = L diag(d) L^T, as L^-T diag(d)^-1 L^-1, of which half is computed.

    Eliminated from the tips to the base: branches of the tree stay apart, so zeros stay zeros.
    """
    L, d = ldl(M[::-1, ::-1])
    K = np.array(np.eye(len(d)), dtype=L.dtype)  # L^-1
    for i in range(len(d)):
        K[i, :i] = -(L[i, :i] @ K[:i, :i])
    return mirror(K.T @ (K / d[:, None]))[::-1, ::-1]
