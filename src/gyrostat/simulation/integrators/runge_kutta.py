"""Explicit Runge-Kutta methods as plain numbers; the pair of orders 5 and 4, and the classical method of order 4.

With s stages K_1..K_s, of which K_1 = f(t, y), and K_new = f(t + h, y_new):

    K_i = f(t + c_i h, y + h sum_j a_ij K_j),   y_new = y + h sum_j b_j K_j,
    y(t + theta h) = y + h sum_j w_j(theta) K_j     (dense output; j runs over stages, K_new and extra stages)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Row = tuple[float, ...]


class Tableau(NamedTuple):
    """An explicit Runge-Kutta method. Rows of `a` start at the second stage, and are as long as needed.

    errors: weights on (K_1..K_s, K_new) of the error estimates; order: of y_new; root: the error of a step grows as h^root.
    extra: stages (c, row) only for dense output, on (K_1..K_s, K_new, earlier extra ones).
    weights: w_j(theta) on (K_1..K_s, K_new, extra), for theta of any type with + - *.
    """

    name: str
    order: int
    c: Row
    a: tuple[Row, ...]
    b: Row
    errors: tuple[Row, ...]
    root: int
    extra: tuple[tuple[float, Row], ...]
    weights: Callable[[Any], list[Any]]

    @property
    def stages(self) -> int:
        return len(self.c)

    @property
    def needs_new(self) -> bool:
        """True if the error estimate uses K_new."""
        return any(len(row) > len(self.c) for row in self.errors)


def combined(scales: Sequence[Any], rows: Sequence[Row]) -> list[Any]:
    """sum_k scales[k] rows[k], component by component; zeros left out, None where all are."""
    total: list[Any] = [None] * max(map(len, rows))
    for scale, row in zip(scales, rows, strict=True):
        for j, x in enumerate(row):
            if x != 0.0:
                total[j] = scale * x if total[j] is None else total[j] + scale * x
    return total


def hermite(b: Row) -> Callable[[Any], list[Any]]:
    """Cubic through y, y_new and their derivatives, for a method with weights b."""

    def weights(theta: Any) -> list[Any]:
        square = theta * theta
        blend, start, end = square * (3.0 - 2.0 * theta), theta * (1.0 - theta) * (1.0 - theta), square * (theta - 1.0)
        first = (1.0, *[0.0] * len(b))
        last = (*[0.0] * len(b), 1.0)
        return combined([blend, start, end], [(*b, 0.0), first, last])

    return weights


# Dormand & Prince's pair of orders 5 and 4 (1980), dense output of order 4 (Shampine 1986).
_RK45_B = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
_RK45_A = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
_RK45_E = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
_RK45_P = (
    (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (
        -2.8535800653862835,
        0.0,
        4.023133379230305,
        -3.7324019615885042,
        2.5548038301849423,
        -1.3744241142186024,
        1.3824689317781436,
    ),
    (
        3.0717434641059005,
        0.0,
        -6.249321565289,
        10.068970589843675,
        -6.399112377351017,
        3.272657752246729,
        -3.764937863556287,
    ),
    (
        -1.1270175653862835,
        0.0,
        2.675424484351598,
        -5.685526961588504,
        3.5219323679207912,
        -1.7672812570757455,
        2.382468931778144,
    ),
)


def _rk45_weights(theta: Any) -> list[Any]:
    square = theta * theta
    return combined([theta, square, square * theta, square * square], _RK45_P)


RK45 = Tableau("rk45", 5, (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0), _RK45_A, _RK45_B, (_RK45_E,), 5, (), _rk45_weights)

# The classical method of order 4, for fixed steps.
_RK4_B = (1 / 6, 1 / 3, 1 / 3, 1 / 6)
RK4 = Tableau("rk4", 4, (0.0, 0.5, 0.5, 1.0), ((0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), _RK4_B, (), 4, (), hermite(_RK4_B))
