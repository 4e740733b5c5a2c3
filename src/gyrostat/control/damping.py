"""Damped least squares: joint rates for a wanted twist that stay bounded near singularities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, ldl, ldl_solve, maximum, mirror, sqrt, where


class Damping(NamedTuple):
    """Below the manipulability `onset`, the damping rises smoothly to `largest`. Rotations count as `length` metres per
    radian.
    """

    onset: float = 0.02
    largest: float = 0.1
    length: float = 1.0


USUAL = Damping()


class Inverse(NamedTuple):
    """Joint rates, and how near to a singularity they were found."""

    rates: Array  # (n,)
    manipulability: Any  # sqrt det(J J^T), of the scaled J
    damping: Any  # lambda: zero away from singularities


def damped_inverse(J: Array, wanted: Array, damping: Damping = USUAL, *, null_motion: Array | None = None) -> Inverse:
    """Joint rates x (n,) with J x = wanted (m <= n rows), damped near singularities:

        x = J^T (J J^T + lambda^2 1)^-1 (wanted - J z) + z                                                  (1)
        lambda^2 = largest^2 (1 - (mu / onset)^2)^2  for mu = sqrt det(J J^T) < onset, else 0               (2)

    z, the null motion, is a wish for joint rates, of which the part that J does not see survives (for n > m). With six
    rows, the first three are rotations and are scaled. Nakamura & Hanafusa (1986).

    Raises ValueError for more rows than joints.
    """
    scale = np.concatenate([np.full(3, damping.length), np.ones(3)]) if len(J) == 6 else np.ones(len(J))
    A, b = scale[:, None] * J, scale * wanted
    if A.shape[0] > A.shape[1]:
        raise ValueError(f"{A.shape[0]} rows are wanted of {A.shape[1]} joints: choose fewer rows of the twist.")
    G = mirror(A @ A.T)
    mu = sqrt(maximum(_determinant(G), 0.0))
    near = maximum(1.0 - (mu / damping.onset) * (mu / damping.onset), 0.0)
    lam = damping.largest * near  # (2)
    L, d = ldl(G + (lam * lam) * np.eye(len(G)))
    z = np.zeros(A.shape[1]) if null_motion is None else null_motion
    return Inverse(A.T @ ldl_solve(L, d, b - A @ z) + z, mu, lam)  # (1)


def _determinant(G: Array) -> Any:
    """Of a symmetric positive semi-definite matrix: the product of its pivots, none divided by where it vanishes."""
    n = len(G)
    rows = [list(row) for row in G]
    product: Any = 1.0
    for j in range(n):
        pivot = rows[j][j]
        product = product * pivot
        safe = where(pivot > 1e-300, pivot, 1.0)
        for i in range(j + 1, n):
            factor = rows[i][j] / safe
            for k in range(j, n):
                rows[i][k] = rows[i][k] - factor * rows[j][k]
    return product
