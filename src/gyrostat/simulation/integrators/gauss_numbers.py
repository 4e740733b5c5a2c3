"""The numbers of Gauss-Legendre collocation with eight stages (Butcher 1964)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .method import Row


class Pairs(NamedTuple):
    """Complex coordinates in which A is diagonal, the real and imaginary part of each in two places,
    one after the other.

    P A P^-1 = diag(lambda_m), m = 1 .. 4; the conjugates are left out. Rows: `into` P, `back` P^-1, `values` lambda_m.
    beyond: w_m with Re sum_m w_m / (1 - lambda_m z) = (8! / 16!) z^7 / prod_m |1 - lambda_m z|^2
    """

    into: tuple[Row, ...]
    back: tuple[Row, ...]
    values: Row
    beyond: Row


@dataclass(frozen=True, eq=False)
class Collocation:
    """Gauss-Legendre collocation whose stages are evaluated side by side. Rows of `low` and `high`: degrees 2 and 3, 6
    and 7 of the polynomial through the stages.

    lagrange: 1 / prod_{m != j} (c_j - c_m), for the polynomial through the stages.
    """

    name: str
    order: int
    c: Row
    a: tuple[Row, ...]
    b: Row
    low: tuple[Row, ...]
    high: tuple[Row, ...]
    lagrange: Row
    pairs: Pairs


def collocation(stages: int) -> Collocation:
    """With x_j = 2 c_j - 1 the zeros of P_s, and P_k Legendre's polynomials:

    a_ij = b_j (c_i + sum_k (P_{k+1}(x_i) - P_{k-1}(x_i)) P_k(x_j) / 2),  k = 1 .. s-1
    C_k = (2k + 1) sum_j b_j P_k(x_j) K_j
    """
    x, w = np.polynomial.legendre.leggauss(stages)
    c, b = (1.0 + x) / 2.0, w / 2.0
    P = np.polynomial.legendre.legvander(x, stages).T
    a = (c[:, None] + sum(0.5 * np.outer(P[k + 1] - P[k - 1], P[k]) for k in range(1, stages))) * b
    low, high = ([(2 * k + 1) * b * P[k] for k in degrees] for degrees in ((2, 3), (stages - 2, stages - 1)))
    lagrange = [1.0 / np.prod(np.delete(c[j] - c, j)) for j in range(stages)]
    rows = (_row(c), _rows(a), _row(b), _rows(low), _rows(high), _row(lagrange))
    return Collocation(f"gauss{2 * stages}", 2 * stages, *rows, _pairs(a))


def _pairs(a: Any) -> Pairs:
    stages = len(a)
    values, vectors = np.linalg.eig(a)
    order = np.argsort(values.imag)[stages // 2 :]
    chosen, vectors = values[order], vectors[:, order]
    back = np.stack([2.0 * vectors.real, -2.0 * vectors.imag], axis=-1).reshape(stages, stages)
    scale = math.factorial(stages) / math.factorial(2 * stages)
    beyond = [2.0 * scale * v ** (1 - stages) / np.prod([1 - u / v for u in values if u != v]) for v in chosen]
    return Pairs(_rows(np.linalg.inv(back)), _rows(back), _row(_flat(chosen)), _row(_flat(np.array(beyond))))


def _flat(z: Any) -> Any:
    return np.stack([z.real, z.imag], axis=-1).reshape(-1)


def _row(values: Any) -> Row:
    return tuple(float(v) for v in values)


def _rows(values: Any) -> tuple[Row, ...]:
    return tuple(_row(r) for r in values)
