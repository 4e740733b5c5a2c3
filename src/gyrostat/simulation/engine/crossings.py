"""Where event functions change their signs in a step: seen from values and slopes at some points of it, by compiled
code and by the host alike.

The points are the ends of the step and, between them, its middle (on the cubic through the states and their derivatives
at the ends); of collocation with its long steps the stages. With g_0, g_1 and the slopes d_0, d_1 at two neighbours
(times their distance), the cubic through them,

    p(theta) = g_0 + d_0 theta + b theta^2 + c theta^3                                                               (1)
    b = 3 (g_1 - g_0) - 2 d_0 - d_1,   c = d_0 + d_1 - 2 (g_1 - g_0)

tells of functions that change their sign twice in between, where both look as if nothing had happened: at an extremum,
where p' = 0, it has the other sign, or nearly so. How far a function may be from (1) is judged by the point between two
others: the cubic through those two misses its value and its slope by

    e = |g - p| + |d - p'| / 4                                                                                       (2)

A function that swings faster than the points can show has a large e, whatever its values at them. Where (1) comes as
near to zero as a share of e, the step is looked at closely: by steps to points in between (event_search.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ...algebra import Array
from ...tracing.loops import Block, Mask, Vector
from .context import Context, Lane, StepFunction

if TYPE_CHECKING:
    from ..integrators.method import AbstractMethod

NEAR = 2.0**-20  # of the step: how far from its ends the slopes are taken
GRAZING = 0.01  # of the slopes: how near to zero an extremum is looked at closely
LEEWAY = 0.5  # of (2): how far a function may be from the cubic between neighbours (a sixteenth, if it is smooth)


def near_count(method: AbstractMethod, lanes: int) -> int:
    """How many times n_events vectors `g_near` holds: after the begin, before the end;
    at the points between, and after them.
    """
    return 2 + 2 * method.looks_between(lanes)


def watch(f: StepFunction, method: AbstractMethod, accepted: Mask) -> None:
    """g_new, `g_near`, and `Lane.event` where something may have changed its sign."""
    lane = f.lane
    method.look_between(f)
    f.copy(f.y_new, f.stage, f.n)
    f.x[0] = lane[Lane.t_new]
    f.evaluate(Context.events, f.g_new)
    directions = f.pointer_at(Context.directions)
    with f.loop(f.n_events) as i:
        way = f.broadcast(directions.number(i))
        old, new = f.g_old[i], f.g_new[i]
        begin = (0.0, old, (near_block(f, 0)[i] - old) / NEAR)
        end = (1.0, new, (new - near_block(f, 1)[i]) / NEAR)
        seen = [begin, *method.seen_between(f, i), end]
        for (left, right), error in zip(pairwise(seen), _errors(f, seen), strict=True):
            lane[Lane.event] = (accepted & _doubtful(f, left, right, error, way)).where(1.0, lane[Lane.event])


def near_block(f: StepFunction, place: int) -> Block:
    """Of `g_near`."""
    return f.g_near.after(f.n_events * place)


def look_near(f: StepFunction, y: Block, ydot: Block, dt: Vector, t: Vector, place: int) -> None:
    """Events a little beside the time t."""
    with f.loop(f.n) as i:
        f.stage[i] = y[i] + dt * ydot[i]
    f.x[0] = t + dt
    f.evaluate(Context.events, near_block(f, place))


def look_at_middle(f: StepFunction, K_new: Block) -> None:
    """Events near both ends, and in the middle on the cubic through them:

    y = (y_0 + y_1)/2 + h (K_0 - K_1)/8,  h y' = 3 (y_1 - y_0)/2 - h (K_0 + K_1)/4.
    """
    h = f.lane[Lane.h_tried]
    look_near(f, f.y, f.K0, NEAR * h, f.lane[Lane.t], 0)
    look_near(f, f.y_new, K_new, -NEAR * h, f.lane[Lane.t_new], 1)
    for place, dt in ((2, 0.0), (3, NEAR)):
        with f.loop(f.n) as i:
            y, y_new, K = f.y[i], f.y_new[i], h * f.K0[i]
            middle = 0.5 * (y + y_new) + 0.125 * (K - h * K_new[i])
            f.stage[i] = middle + dt * (1.5 * (y_new - y) - 0.25 * (K + h * K_new[i])) if dt else middle
        f.x[0] = f.lane[Lane.t] + (0.5 + dt) * h
        f.evaluate(Context.events, near_block(f, place))


def seen_at_middle(f: StepFunction, i: Any) -> list[tuple[float, Vector, Vector]]:
    """(theta, value, slope per step) of event i there."""
    middle = near_block(f, 2)[i]
    return [(0.5, middle, (near_block(f, 3)[i] - middle) / NEAR)]


def _errors(f: StepFunction, seen: Sequence[tuple[float, Vector, Vector]]) -> list[Vector]:
    """LEEWAY of (2), for each two neighbours: the larger one of those at them."""
    inner = []
    for (a, old, d0), (x, g, d), (b, new, d1) in zip(seen, seen[1:], seen[2:], strict=False):
        value, slope = _cubic(old, new, (b - a) * d0, (b - a) * d1, (x - a) / (b - a))
        inner.append(LEEWAY * (f.abs(g - value) + 0.25 * f.abs((b - a) * d - slope)))
    return [inner[0], *(f.max(e, following) for e, following in pairwise(inner)), inner[-1]]


def _cubic(old: Any, new: Any, d0: Any, d1: Any, x: float) -> tuple[Any, Any]:
    """p and p' at x."""
    b, c = 3.0 * (new - old) - 2.0 * d0 - d1, d0 + d1 - 2.0 * (new - old)
    return old + x * (d0 + x * (b + x * c)), d0 + x * (2.0 * b + 3.0 * x * c)


def _doubtful(f: StepFunction, left: Any, right: Any, error: Vector, way: Vector) -> Mask:
    """Whether something seems to happen between two points."""
    (a, old, d0), (b, new, d1) = left, right
    d0, d1 = (b - a) * d0, (b - a) * d1
    rising, falling = (old < 0.0) & (new >= 0.0), (old > 0.0) & (new <= 0.0)
    crossed = (rising & (way >= 0.0)) | (falling & (way <= 0.0))
    doubt = GRAZING * (f.abs(d0) + f.abs(d1)) + error
    some_below, some_above = (old < 0.0) | (new < 0.0), (old > 0.0) | (new > 0.0)
    for inside, value in _extrema(f, old, new, d0, d1):
        crossed = crossed | (inside & (((value > -1.0 * doubt) & some_below) | ((value < doubt) & some_above)))
    middle, _ = _cubic(old, new, d0, d1, 0.5)
    return crossed | (f.abs(middle) < error)


def _extrema(f: StepFunction, old: Vector, new: Vector, d0: Vector, d1: Vector) -> list[tuple[Mask, Vector]]:
    """Whether (1) has an extremum between the points, and its value there."""
    b, c = 3.0 * (new - old) - 2.0 * d0 - d1, d0 + d1 - 2.0 * (new - old)
    root = f.sqrt(f.max(b * b - 3.0 * c * d0, 0.0))
    q = (b < 0.0).where(root - b, -1.0 * b - root)
    values = []
    for theta in (q / (3.0 * c), d0 / q):
        inside = (theta > 0.0) & (theta < 1.0) & (b * b > 3.0 * c * d0)
        theta = inside.where(theta, 0.0)
        values.append((inside, old + theta * (d0 + theta * (b + theta * c))))
    return values


class Point(NamedTuple):
    """A time of a step, an event function there, and its slope per second."""

    t: float
    g: float
    slope: float


class Interval(NamedTuple):
    """Between two neighbours. error: how far the function may be from the cubic through them."""

    left: Point
    right: Point
    error: float

    @property
    def slopes(self) -> tuple[float, float]:
        """Times the distance."""
        length = self.right.t - self.left.t
        return length * self.left.slope, length * self.right.slope

    @property
    def resolved(self) -> bool:
        """True if (1) can be trusted."""
        return self.error <= GRAZING * sum(map(abs, self.slopes))

    def at(self, x: float) -> float:
        """(1)"""
        return float(_cubic(self.left.g, self.right.g, *self.slopes, x)[0])

    def extrema(self) -> list[float]:
        """Places from 0 to 1 that `watch` takes notice of, in order."""
        old, new, (d0, d1) = self.left.g, self.right.g, self.slopes
        square, cube = 3.0 * (new - old) - 2.0 * d0 - d1, d0 + d1 - 2.0 * (new - old)
        doubt, found = GRAZING * (abs(d0) + abs(d1)) + self.error, []
        for x in _zeros(3.0 * cube, 2.0 * square, d0):
            p = old + x * (d0 + x * (square + x * cube))
            if (p > -doubt and min(old, new) < 0.0) or (p < doubt and max(old, new) > 0.0):
                found.append(x)
        return found

    @property
    def doubtful(self) -> bool:
        """Whether something seems to happen in it."""
        return changes(self.left.g, self.right.g) or bool(self.extrema()) or abs(self.at(0.5)) < self.error

    def split(self, middle: Point) -> tuple[Interval, Interval]:
        """Into halves, with the error (2) that the function shows at a point in between."""
        length = self.right.t - self.left.t
        value, slope = _cubic(self.left.g, self.right.g, *self.slopes, (middle.t - self.left.t) / length)
        error = LEEWAY * (abs(middle.g - value) + 0.25 * abs(length * middle.slope - slope))
        return Interval(self.left, middle, error), Interval(middle, self.right, error)


def _zeros(a: float, b: float, c: float) -> list[float]:
    """Of a x^2 + b x + c, between 0 and 1, in order."""
    square = b * b - 4.0 * a * c
    if not 0.0 <= square < math.inf:
        return []
    q = -0.5 * (b + math.copysign(math.sqrt(square), b))
    roots = {q / a if a else -1.0, c / q if q else -1.0}
    return sorted(x for x in roots if 0.0 < x < 1.0)


def intervals(
    between: Sequence[float], begin: float, end: float, old: float, new: float, near: Array
) -> list[Interval]:
    """Of an event in one lane, as `watch` saw them at the points `between`;
    near: its values in `g_near`, (near_count, lanes).
    """
    h = end - begin
    values, after = near[2::2].ravel(), near[3::2].ravel()
    rows = [(begin, old, (near[0, 0] - old) / NEAR), (end, new, (new - near[1, 0]) / NEAR)]
    rows[1:1] = [(begin + c * h, g, (g1 - g) / NEAR) for c, g, g1 in zip(between, values, after, strict=True)]
    seen = [Point(float(t), float(g), float(slope) / h) for t, g, slope in rows]
    inner = [Interval(a, b, 0.0).split(m)[0].error for a, m, b in zip(seen, seen[1:], seen[2:], strict=False)]
    errors = [inner[0], *map(max, pairwise(inner)), inner[-1]]
    return [Interval(a, b, e) for (a, b), e in zip(pairwise(seen), errors, strict=True)]


def changes(old: float, new: float, direction: int = 0) -> bool:
    """Whether a function with these values has changed its sign, in that direction (0: in any)."""
    rising, falling = old < 0.0 <= new, old > 0.0 >= new
    return (rising and direction >= 0) or (falling and direction <= 0)
