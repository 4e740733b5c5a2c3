"""Where event functions change their signs in a step: seen from values and slopes at some points of it, by compiled code and by the host alike.

The points are the ends of the step and, of collocation with its long steps, the stages between them. With g_0, g_1 and the slopes d_0, d_1 at
two neighbours (times their distance), the cubic through them,

    p(theta) = g_0 + d_0 theta + b theta^2 + c theta^3,   b = 3 (g_1 - g_0) - 2 d_0 - d_1,   c = d_0 + d_1 - 2 (g_1 - g_0)        (1)

tells of functions that change their sign twice in between, where both look as if nothing had happened: at an extremum, where p' = 0, it
has the other sign, or nearly so. Whether that is true is found out by steps to there.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...tracing.loops import Block, Mask, Vector
from ..integrators.methods import Collocation, Method, place_of_new
from ..integrators.stages import Stages, mix, part
from .context import Context, Lane, StepFunction

NEAR = 2.0**-20  # of the step: how far from its ends the slopes are taken
GRAZING = 0.01  # of the slopes: how near to zero an extremum is looked at closely


def near_count(method: Method, lanes: int) -> int:
    """How many times n_events vectors `g_near` holds: after the begin, before the end; at the stages of each block, and after them."""
    return 2 + 2 * (len(method.c) // lanes) if isinstance(method, Collocation) else 2


def watch(f: StepFunction, method: Method, accepted: Mask) -> None:
    """g_new, `g_near`, and `Lane.event` where something may have changed its sign."""
    lane, h = f.lane, f.lane[Lane.h_tried]
    t, t_new = lane[Lane.t], lane[Lane.t_new]
    if isinstance(method, Collocation):
        _evaluate_stages(f, method)
        f.copy(f.y, f.stage, f.n)
        f.x[0] = t
        f.evaluate(Context.rhs, f.at)
        _evaluate_near(f, f.y, f.at, NEAR * h, t, 0)
        f.evaluate_new(f.at)
        _evaluate_near(f, f.y_new, f.at, -NEAR * h, t_new, 1)
    else:
        _evaluate_near(f, f.y, f.K0, NEAR * h, t, 0)
        _evaluate_near(f, f.y_new, f.K(place_of_new(method)), -NEAR * h, t_new, 1)
    f.copy(f.y_new, f.stage, f.n)
    f.x[0] = t_new
    f.evaluate(Context.events, f.g_new)
    directions = f.pointer_at(Context.directions)
    with f.loop(f.n_events) as i:
        way = f.broadcast(directions.number(i))
        for left, right in pairwise(_points(f, method, i)):
            lane[Lane.event] = (accepted & _doubtful(f, left, right, way)).where(1.0, lane[Lane.event])


def _near(f: StepFunction, place: int) -> Block:
    return f.g_near.after(f.n_events * place)


def _evaluate_near(f: StepFunction, y: Any, ydot: Any, dt: Vector, t: Vector, place: int) -> None:
    with f.loop(f.n) as i:
        f.stage[i] = y[i] + dt * ydot[i]
    f.x[0] = t + dt
    f.evaluate(Context.events, _near(f, place))


def _evaluate_stages(f: StepFunction, method: Collocation) -> None:
    h, stages = f.lane[Lane.h_tried], Stages(f, method)
    for k, K in enumerate(stages.now):
        for m, dt in enumerate((0.0 * h, NEAR * h)):
            with f.loop(f.n) as i:
                f.stage[i] = f.y[i] + h * mix(f, method.a, stages.now, i, k) + dt * K[i]
            f.x[0] = f.lane[Lane.t] + part(f, method.c, k) * h + dt
            f.evaluate(Context.events, _near(f, 2 + 2 * k + m))


def _points(f: StepFunction, method: Method, i: Any) -> list[tuple[float, Vector, Vector]]:
    """(theta, value, slope per step) of event i, in order."""
    old, new = f.g_old[i], f.g_new[i]
    begin, end = (0.0, old, (_near(f, 0)[i] - old) / NEAR), (1.0, new, (new - _near(f, 1)[i]) / NEAR)
    between = []
    for s, c in enumerate(method.c if isinstance(method, Collocation) else ()):
        k, lane = divmod(s, f.lanes)
        value, after = (f.broadcast(_near(f, 2 + 2 * k + m).address(i).number(lane)) for m in (0, 1))
        between.append((c, value, (after - value) / NEAR))
    return [begin, *between, end]


def _doubtful(f: StepFunction, left: Any, right: Any, way: Vector) -> Mask:
    """Whether something seems to happen between two points."""
    (a, old, d0), (b, new, d1) = left, right
    d0, d1 = (b - a) * d0, (b - a) * d1
    rising, falling = (old < 0.0) & (new >= 0.0), (old > 0.0) & (new <= 0.0)
    crossed = (rising & (way >= 0.0)) | (falling & (way <= 0.0))
    doubt, some_below, some_above = (
        GRAZING * (f.abs(d0) + f.abs(d1)),
        (old < 0.0) | (new < 0.0),
        (old > 0.0) | (new > 0.0),
    )
    for inside, value in _extrema(f, old, new, d0, d1):
        crossed = crossed | (inside & (((value > -1.0 * doubt) & some_below) | ((value < doubt) & some_above)))
    return crossed


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


class Extremum(NamedTuple):
    """Where the cubic has it, between which neighbours, and their values."""

    theta: float
    bounds: tuple[float, float]
    ends: tuple[float, float]


def points(method: Method, old: float, new: float, near: Array) -> Array:
    """Rows (theta, value, slope per step) of an event in one lane; near: its values in `g_near`, (near_count, lanes)."""
    rows = [(0.0, old, (near[0, 0] - old) / NEAR), (1.0, new, (new - near[1, 0]) / NEAR)]
    if isinstance(method, Collocation):
        values, after = near[2::2].ravel(), near[3::2].ravel()
        rows[1:1] = zip(method.c, values, (after - values) / NEAR, strict=True)
    return np.array(rows)


def extrema(rows: Array) -> list[Extremum]:
    """Extrema of (1) that `watch` takes notice of, in order."""
    found = []
    for (a, old, d0), (b, new, d1) in pairwise(rows):
        d0, d1 = (b - a) * d0, (b - a) * d1
        square, cube = 3.0 * (new - old) - 2.0 * d0 - d1, d0 + d1 - 2.0 * (new - old)
        if not np.isfinite([square, cube, d0]).all():
            continue
        roots = np.roots([3.0 * cube, 2.0 * square, d0])
        doubt = GRAZING * (abs(d0) + abs(d1))
        for x in sorted(float(r.real) for r in roots if r.imag == 0.0 and 0.0 < r.real < 1.0):
            p = old + x * (d0 + x * (square + x * cube))
            if (p > -doubt and min(old, new) < 0.0) or (p < doubt and max(old, new) > 0.0):
                found.append(Extremum(float(a + x * (b - a)), (float(a), float(b)), (float(old), float(new))))
    return found


def changes(old: float, new: float, direction: int = 0) -> bool:
    """Whether a function with these values has changed its sign, in that direction (0: in any)."""
    rising, falling = old < 0.0 <= new, old > 0.0 >= new
    return (rising and direction >= 0) or (falling and direction <= 0)
