"""The coefficients of the integrators, as plain numbers.

An explicit method with s stages K_1..K_s, of which K_1 = f(t, y), and K_new = f(t + h, y_new):

    K_i = f(t + c_i h, y + h sum_j a_ij K_j),   y_new = y + h sum_j b_j K_j,
    y(t + theta h) = y + h sum_j w_j(theta) K_j     (dense output; j runs over stages, K_new and extra stages)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

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


def _combine(scales: Sequence[Any], rows: Sequence[Row]) -> list[Any]:
    """sum_k scales[k] rows[k], component by component; zeros left out, None where all are."""
    total: list[Any] = [None] * max(map(len, rows))
    for scale, row in zip(scales, rows, strict=True):
        for j, x in enumerate(row):
            if x != 0.0:
                total[j] = scale * x if total[j] is None else total[j] + scale * x
    return total


def _hermite(b: Row) -> Callable[[Any], list[Any]]:
    """Cubic through y, y_new and their derivatives, for a method with weights b."""

    def weights(theta: Any) -> list[Any]:
        square = theta * theta
        blend, start, end = square * (3.0 - 2.0 * theta), theta * (1.0 - theta) * (1.0 - theta), square * (theta - 1.0)
        first = (1.0, *[0.0] * len(b))
        last = (*[0.0] * len(b), 1.0)
        return _combine([blend, start, end], [(*b, 0.0), first, last])

    return weights


# Dormand & Prince's method of order 8, error estimates of orders 5 and 3, dense output of order 7.
# Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I (1993), section II.10 and the code DOP853.
# fmt: off
_DOP853_C = (
    0.0, 0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726, 0.3333333333333333, 0.25,
    0.3076923076923077, 0.6512820512820513, 0.6, 0.8571428571428571, 1.0,
)
_DOP853_A = (
    (
        0.05260015195876773,
    ),
    (
        0.0197250569845379, 0.0591751709536137,
    ),
    (
        0.02958758547680685, 0.0, 0.08876275643042054,
    ),
    (
        0.2413651341592667, 0.0, -0.8845494793282861, 0.924834003261792,
    ),
    (
        0.037037037037037035, 0.0, 0.0, 0.17082860872947386, 0.12546768756682242,
    ),
    (
        0.037109375, 0.0, 0.0, 0.17025221101954405, 0.06021653898045596, -0.017578125,
    ),
    (
        0.03709200011850479, 0.0, 0.0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402,
        0.008273789163814023,
    ),
    (
        0.6241109587160757, 0.0, 0.0, -3.3608926294469414, -0.868219346841726, 27.59209969944671, 20.154067550477894,
        -43.48988418106996,
    ),
    (
        0.47766253643826434, 0.0, 0.0, -2.4881146199716677, -0.590290826836843, 21.230051448181193,
        15.279233632882423, -33.28821096898486, -0.020331201708508627,
    ),
    (
        -0.9371424300859873, 0.0, 0.0, 5.186372428844064, 1.0914373489967295, -8.149787010746927, -18.52006565999696,
        22.739487099350505, 2.4936055526796523, -3.0467644718982196,
    ),
    (
        2.273310147516538, 0.0, 0.0, -10.53449546673725, -2.0008720582248625, -17.9589318631188, 27.94888452941996,
        -2.8589982771350235, -8.87285693353063, 12.360567175794303, 0.6433927460157636,
    ),
)
_DOP853_B = (
    0.054293734116568765, 0.0, 0.0, 0.0, 0.0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
    0.3111643669578199, -0.1521609496625161, 0.20136540080403034, 0.04471061572777259,
)
_DOP853_E5 = (
    0.01312004499419488, 0.0, 0.0, 0.0, 0.0, -1.2251564463762044, -0.4957589496572502, 1.6643771824549864,
    -0.35032884874997366, 0.3341791187130175, 0.08192320648511571, -0.022355307863886294,
)
_DOP853_E3 = (
    -0.18980075407240762, 0.0, 0.0, 0.0, 0.0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
    -0.4226823213237919, -0.1521609496625161, 0.20136540080403034, 0.02265179219836082,
)
_DOP853_EXTRA = (
    (0.1, (
        0.056167502283047954, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25350021021662483, -0.2462390374708025,
        -0.12419142326381637, 0.15329179827876568, 0.00820105229563469, 0.007567897660545699, -0.008298,
    )),
    (0.2, (
        0.03183464816350214, 0.0, 0.0, 0.0, 0.0, 0.028300909672366776, 0.053541988307438566, -0.05492374857139099,
        0.0, 0.0, -0.00010834732869724932, 0.0003825710908356584, -0.00034046500868740456, 0.1413124436746325,
    )),
    (0.7777777777777778, (
        -0.42889630158379194, 0.0, 0.0, 0.0, 0.0, -4.697621415361164, 7.683421196062599, 4.06898981839711,
        0.3567271874552811, 0.0, 0.0, 0.0, -0.0013990241651590145, 2.9475147891527724, -9.15095847217987,
    )),
)
_DOP853_D = (
    (
        -8.428938276109013, 0.0, 0.0, 0.0, 0.0, 0.5667149535193777, -3.0689499459498917, 2.38466765651207,
        2.117034582445028, -0.871391583777973, 2.2404374302607883, 0.6315787787694688, -0.08899033645133331,
        18.148505520854727, -9.194632392478356, -4.436036387594894,
    ),
    (
        10.427508642579134, 0.0, 0.0, 0.0, 0.0, 242.28349177525817, 165.20045171727028, -374.5467547226902,
        -22.113666853125306, 7.733432668472264, -30.674084731089398, -9.332130526430229, 15.697238121770845,
        -31.139403219565178, -9.35292435884448, 35.81684148639408,
    ),
    (
        19.985053242002433, 0.0, 0.0, 0.0, 0.0, -387.0373087493518, -189.17813819516758, 527.8081592054236,
        -11.57390253995963, 6.8812326946963, -1.0006050966910838, 0.7777137798053443, -2.778205752353508,
        -60.19669523126412, 84.32040550667716, 11.99229113618279,
    ),
    (
        -25.69393346270375, 0.0, 0.0, 0.0, 0.0, -154.18974869023643, -231.5293791760455, 357.6391179106141,
        93.40532418362432, -37.45832313645163, 104.0996495089623, 29.8402934266605, -43.53345659001114,
        96.32455395918828, -39.17726167561544, -149.72683625798564,
    ),
)
# fmt: on


def _dop853_weights(theta: Any) -> list[Any]:
    """Hairer's nested form, which loses no digits: theta (F_0 + (1 - theta) (F_1 + theta (F_2 + ...)))."""
    zeros = (0.0,) * 12
    first, last = (1.0, *zeros), (*zeros, 1.0)
    b = (*_DOP853_B, 0.0)
    rows = [
        b,
        tuple(f - x for f, x in zip(first, b, strict=True)),
        tuple(2.0 * x - f - g for x, f, g in zip(b, first, last, strict=True)),
        *_DOP853_D,
    ]
    scales, scale = [], theta
    for k in range(len(rows)):
        scales.append(scale)
        scale = scale * ((1.0 - theta) if k % 2 == 0 else theta)
    return _combine(scales, rows)


DOP853 = Tableau(
    "dop853", 8, _DOP853_C, _DOP853_A, _DOP853_B, (_DOP853_E5, _DOP853_E3), 8, _DOP853_EXTRA, _dop853_weights
)

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
    return _combine([theta, square, square * theta, square * square], _RK45_P)


RK45 = Tableau("rk45", 5, (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0), _RK45_A, _RK45_B, (_RK45_E,), 5, (), _rk45_weights)

# The classical method of order 4, for fixed steps.
_RK4_B = (1 / 6, 1 / 3, 1 / 3, 1 / 6)
RK4 = Tableau(
    "rk4", 4, (0.0, 0.5, 0.5, 1.0), ((0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), _RK4_B, (), 4, (), _hermite(_RK4_B)
)


class Gauss(NamedTuple):
    """Gauss-Legendre collocation with three stages, order 6: symplectic, symmetric, implicit (Butcher 1964)."""

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
    _hermite((0.0, *_GAUSS_B)),
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

Method = Tableau | Gauss | Collocation
METHODS: dict[str, Method] = {method.name: method for method in (DOP853, RK45, RK4, GAUSS6, GAUSS16)}


def place_of_new(method: Tableau | Gauss) -> int:
    """Place of K_new among the stages."""
    return 4 if isinstance(method, Gauss) else method.stages


def stage_count(method: Method, lanes: int) -> int:
    """How many K blocks the method needs."""
    if isinstance(method, Collocation):
        return 1 + 2 * (len(method.c) // lanes)
    return 5 if isinstance(method, Gauss) else method.stages + 1 + len(method.extra)
