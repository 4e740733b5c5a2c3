"""Newton's iteration for the stages of collocation,
where fixed-point iteration would keep the steps of a stiff motion short.

    (I - h A (x) J) dK = F(K) - K,   J = df/dy in the middle of the step                              (1)

In the coordinates w = P K in which A is diagonal (`Pairs`) these are four complex systems of n equations,
side by side in the lanes:

    (I - h lambda_m J) dw_m = (P (F - K))_m,   dK = P^-1 dw                                           (2)

A complex number stands in two lanes, its real part first. J is found by differences, as many of its columns at once as
there are lanes (steps as in Hairer & Wanner's RADAU5). The matrices are factored without pivoting: should that fail,
the iteration does not converge, and the step is made shorter.

The error of a step is what the first terms that the polynomial of the stages lacks, about C_6 P_6 + C_7 P_7,
do to y' = J y:

    e = h r(h J) (C_6 + C_7)                                                                                         (3)
    r(z) = int_0^1 exp(z (1 - s)) P_8(2 s - 1) ds = about z^7 / prod_m |1 - lambda_m z|^2 8! / 16!
"""

from __future__ import annotations

from typing import Any

from ...tracing.loops import Block, Vector
from ..engine.context import Context, Lane, StepFunction
from .gauss_numbers import Collocation
from .stages import Stages, in_turn, mix, only, part, swapped, weighted

MIDDLE = 4  # the stage at whose predicted state the Jacobian is taken


def factor(f: StepFunction, method: Collocation, stages: Stages) -> None:
    """The matrices of (2) as L U, column by column, from the predicted stages.
    In the place of a pivot stands its inverse.

    Most of what moves a position is zero, and stays so: each column is kept from its first to its last other entry.
    """
    _jacobian(f, method, stages)
    h, n = f.lane[Lane.h_tried], f.n
    for k, matrix in enumerate(stages.factors):
        scale = -1.0 * h * part(f, method.pairs.values, k)
        with f.loop(n) as j:
            column, after = matrix.after(j * n), j + 1
            group, lane = j // f.lanes, j % f.lanes
            entries = stages.columns.after(group * n)
            with f.loop(n) as i:
                column[i] = scale * f.broadcast(entries.address(i).number(lane))
            column[j] = column[j] + in_turn(f, (1.0, 0.0))
            first, last = f.counter(j), f.counter(after)
            with f.loop(j) as m, f.when((~column[m].equals(0.0)).any()):
                _subtract(f, column, column[m], matrix.after(m * n), m + 1, _last(f, stages, k, m))
                first.set((m < first.get()).where(m, first.get()))
            column[j] = _inverse(f, column[j])
            with f.loop(n, after) as i, f.when((~column[i].equals(0.0)).any()):
                column[i] = _times(f, column[j], column[i])
                last.set(i + 1)
            place = stages.spans[k].address(j)
            place.store(0, first.get())
            place.store(1, last.get())


def correct(f: StepFunction, method: Collocation, stages: Stages) -> None:
    """From the residual F - K in `rest` the correction dK, there too, by (2)."""
    for k, pairs in enumerate(stages.pairs):
        with f.loop(f.n) as i:
            pairs[i] = mix(f, method.pairs.into, stages.rest, i, k)
        _solve(f, stages, k)
    for k, rest in enumerate(stages.rest):
        with f.loop(f.n) as i:
            rest[i] = mix(f, method.pairs.back, stages.pairs, i, k)


def beyond(f: StepFunction, method: Collocation, stages: Stages) -> Any:
    """From C_6 + C_7 in the first block of `rest` a function of i: component i of (3), without the factor h."""
    for k, pairs in enumerate(stages.pairs):
        with f.loop(f.n) as i:
            pairs[i] = part(f, method.pairs.beyond, k) * stages.rest[0][i]
        _solve(f, stages, k)
    real = [1.0, 0.0] * (len(method.c) // 2)
    return lambda i: weighted(f, real, stages.pairs, i)


def _jacobian(f: StepFunction, method: Collocation, stages: Stages) -> None:
    """Columns j, ..., j + lanes - 1 as n vectors. The first lane without a column has f itself:
    the last vectors come first.

    The state is kept in the first block of `rest`, f in the first of `pairs`.
    """
    lane, n, h = f.lane, f.n, f.lane[Lane.h_tried]
    y, value = stages.rest[0], stages.pairs[0]
    with f.loop(n) as i:
        y[i] = f.y[i] + h * weighted(f, method.a[MIDDLE], stages.now, i)
    f.copy(y, f.stage, n)
    f.x[0] = f.min(lane[Lane.t] + method.c[MIDDLE] * h, lane[Lane.before_stop])
    last, free = n // f.lanes, n % f.lanes
    with f.loop(last + 1) as back:
        group = last - back
        column, step = stages.columns.after(group * n), f.variable(1.0)
        for k in range(f.lanes):
            j = group * f.lanes + k
            with f.when(j < n):
                own = only(f, k)
                step[0] = own.where(f.sqrt(1e-16 * f.max(f.abs(y[j]), 1e-5)), step[0])
                f.stage[j] = own.where(y[j] + step[0], y[j])
        f.evaluate(Context.rhs, column)
        with f.when(back.equals(0)), f.loop(n) as i:
            value[i] = f.broadcast(column.address(i).number(free))
        inverse = 1.0 / step[0]
        with f.loop(n) as i:
            column[i] = (column[i] - value[i]) * inverse
        for k in range(f.lanes):
            j = group * f.lanes + k
            with f.when(j < n):
                f.stage[j] = y[j]


def _solve(f: StepFunction, stages: Stages, k: int) -> None:
    """L U x = b, in place of b in block k of `pairs`."""
    n, matrix, b = f.n, stages.factors[k], stages.pairs[k]
    with f.loop(n) as m:
        _subtract(f, b, b[m], matrix.after(m * n), m + 1, _last(f, stages, k, m))
    with f.loop(n) as back:
        m = n - 1 - back
        column = matrix.after(m * n)
        b[m] = _times(f, b[m], column[m])
        _subtract(f, b, b[m], column, _first(f, stages, k, m), m)


def _first(f: StepFunction, stages: Stages, k: int, column: Any) -> Any:
    return stages.spans[k].address(column).integer()


def _last(f: StepFunction, stages: Stages, k: int, column: Any) -> Any:
    """The place after it."""
    return stages.spans[k].address(column).integer(1)


# ---- complex numbers


def _subtract(f: StepFunction, target: Block, factor: Vector, source: Block, start: Any, end: Any) -> None:
    """target -= factor source, from `start` to before `end`."""
    straight, crossed = _rows_of(f, factor)
    with f.loop(end, start) as i:
        x = source[i]
        target[i] = target[i] - straight * x - crossed * swapped(f, x)


def _times(f: StepFunction, a: Vector, b: Vector) -> Vector:
    straight, crossed = _rows_of(f, a)
    return straight * b + crossed * swapped(f, b)


def _rows_of(f: StepFunction, a: Vector) -> tuple[Vector, Vector]:
    """(Re, Re) and (-Im, Im): what b and its swapped parts are multiplied with in a b."""
    even, odd = ([k - k % 2 + s for k in range(f.lanes)] for s in (0, 1))
    return f.shuffle(a, even), f.shuffle(a, odd) * in_turn(f, (-1.0, 1.0))


def _inverse(f: StepFunction, a: Vector) -> Vector:
    square = a * a
    return a * in_turn(f, (1.0, -1.0)) / (square + swapped(f, square))
