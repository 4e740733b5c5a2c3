"""Gauss-Legendre methods: implicit, symmetric, symplectic with fixed steps (Butcher 1964)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .runge_kutta import Row, hermite


class Gauss(NamedTuple):
    """Gauss-Legendre collocation with three stages, order 6."""

    name: str
    order: int
    c: Row
    a: tuple[Row, ...]
    b: Row
    weights: Callable[[Any], list[Any]]  # on (f(t, y), K_1, K_2, K_3, K_new)


_R = 15**0.5
_GAUSS_B = (5 / 18, 4 / 9, 5 / 18)
GAUSS6 = Gauss(
    "gauss6",
    6,
    (0.5 - _R / 10, 0.5, 0.5 + _R / 10),
    (
        (5 / 36, 2 / 9 - _R / 15, 5 / 36 - _R / 30),
        (5 / 36 + _R / 24, 2 / 9, 5 / 36 - _R / 24),
        (5 / 36 + _R / 30, 2 / 9 + _R / 15, 5 / 36),
    ),
    _GAUSS_B,
    hermite((0.0, *_GAUSS_B)),
)


class Collocation(NamedTuple):
    """Gauss-Legendre collocation whose stages are evaluated side by side. Rows of `legendre`: degrees 2, 3, 6 and 7 of the stages.

    lagrange: 1 / prod_{m != j} (c_j - c_m), for the polynomial through the stages.
    """

    name: str
    order: int
    c: Row
    a: tuple[Row, ...]
    b: Row
    legendre: tuple[Row, ...]
    lagrange: Row


def _collocation(stages: int) -> Collocation:
    """With x_j = 2 c_j - 1 the zeros of P_s, and P_k Legendre's polynomials:

    a_ij = b_j (c_i + sum_k (P_{k+1}(x_i) - P_{k-1}(x_i)) P_k(x_j) / 2),  k = 1 .. s-1,   C_k = (2k + 1) sum_j b_j P_k(x_j) K_j
    """
    x, w = np.polynomial.legendre.leggauss(stages)
    c, b = (1.0 + x) / 2.0, w / 2.0
    P = np.polynomial.legendre.legvander(x, stages).T
    a = c[:, None] + sum(0.5 * np.outer(P[k + 1] - P[k - 1], P[k]) for k in range(1, stages))
    coefficients = [(2 * k + 1) * b * P[k] for k in (2, 3, stages - 2, stages - 1)]
    lagrange = [1.0 / np.prod(np.delete(c[j] - c, j)) for j in range(stages)]

    def row(values: Any) -> Row:
        return tuple(float(v) for v in values)

    rows = tuple(row(r) for r in a * b)
    return Collocation(
        f"gauss{2 * stages}", 2 * stages, row(c), rows, row(b), tuple(map(row, coefficients)), row(lagrange)
    )


GAUSS16 = _collocation(8)
