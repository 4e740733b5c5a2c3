"""Where event functions change their signs in a step: seen from values and slopes at its ends, by compiled code and by the host alike.

With g_0, g_1 and the slopes d_0, d_1 (per step), the cubic through them,

    p(theta) = g_0 + d_0 theta + b theta^2 + c theta^3,   b = 3 (g_1 - g_0) - 2 d_0 - d_1,   c = d_0 + d_1 - 2 (g_1 - g_0)        (1)

tells of functions that change their sign twice within a step, whose ends alone look as if nothing had happened: at an extremum, where
p' = 0, it has the other sign, or nearly so. Whether that is true is found out by steps to there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array
from .context import Context, Lane, StepFunction
from .loops import Mask, Vector
from .tableaus import Collocation, Method, place_of_new

NEAR = 2.0**-20  # of the step: how far from its ends the slopes are taken
GRAZING = 0.01  # of the slopes: how near to zero an extremum is looked at closely


def watch(f: StepFunction, method: Method, accepted: Mask) -> None:
    """g_new, the values near both ends (`g_near`), and `Lane.event` where something may have changed its sign."""
    lane, h = f.lane, f.lane[Lane.h_tried]
    if isinstance(method, Collocation):
        f.copy(f.y, f.stage, f.n)
        f.x[0] = lane[Lane.t]
        f.evaluate(Context.rhs, f.at)
        _evaluate_near(f, f.y, f.at, NEAR * h, lane[Lane.t], first=True)
        f.evaluate_new(f.at)
        _evaluate_near(f, f.y_new, f.at, -NEAR * h, lane[Lane.t_new], first=False)
    else:
        _evaluate_near(f, f.y, f.K0, NEAR * h, lane[Lane.t], first=True)
        _evaluate_near(f, f.y_new, f.K(place_of_new(method)), -NEAR * h, lane[Lane.t_new], first=False)
    f.copy(f.y_new, f.stage, f.n)
    f.x[0] = lane[Lane.t_new]
    f.evaluate(Context.events, f.g_new)
    directions = f.pointer_at("ctx", Context.directions)
    with f.loop(f.n_events) as i:
        old, new, way = f.g_old[i], f.g_new[i], f.broadcast(f.number_at(directions, i))
        rising, falling = (old < 0.0) & (new >= 0.0), (old > 0.0) & (new <= 0.0)
        crossed = (rising & (way >= 0.0)) | (falling & (way <= 0.0))
        d0, d1 = (f.g_near[i] - old) / NEAR, (new - f.g_near[f.b.add(i, f.n_events)]) / NEAR
        doubt = GRAZING * (f.abs(d0) + f.abs(d1))
        for inside, value in _extrema(f, old, new, d0, d1):
            above, below = value > -1.0 * doubt, value < doubt
            crossed = crossed | (
                inside & ((above & ((old < 0.0) | (new < 0.0))) | (below & ((old > 0.0) | (new > 0.0))))
            )
        lane[Lane.event] = (accepted & crossed).where(1.0, lane[Lane.event])


def _evaluate_near(f: StepFunction, y: Any, ydot: Any, dt: Vector, t: Vector, *, first: bool) -> None:
    with f.loop(f.n) as i:
        f.stage[i] = y[i] + dt * ydot[i]
    f.x[0] = t + dt
    f.evaluate(Context.events, f.g_near if first else f.g_near.after(f.n_events))


def _extrema(f: StepFunction, old: Vector, new: Vector, d0: Vector, d1: Vector) -> list[tuple[Mask, Vector]]:
    """Whether (1) has an extremum within the step, and its value there."""
    b, c = 3.0 * (new - old) - 2.0 * d0 - d1, d0 + d1 - 2.0 * (new - old)
    root = f.sqrt(f.max(b * b - 3.0 * c * d0, 0.0))
    q = (b < 0.0).where(root - b, -1.0 * b - root)
    values = []
    for theta in (q / (3.0 * c), d0 / q):
        inside = (theta > 0.0) & (theta < 1.0) & (b * b > 3.0 * c * d0)
        theta = inside.where(theta, 0.0)
        values.append((inside, old + theta * (d0 + theta * (b + theta * c))))
    return values


def extrema(old: float, new: float, near: Array) -> list[float]:
    """theta at the extrema of (1) within the step that `watch` takes notice of, in order; near: values at NEAR from both ends."""
    d0, d1 = (near[0] - old) / NEAR, (new - near[1]) / NEAR
    b, c = 3.0 * (new - old) - 2.0 * d0 - d1, d0 + d1 - 2.0 * (new - old)
    roots = np.roots([3.0 * c, 2.0 * b, d0]) if np.isfinite([b, c, d0]).all() else np.zeros(0)
    inside = sorted(float(x.real) for x in roots if x.imag == 0.0 and 0.0 < x.real < 1.0)
    doubt = GRAZING * (abs(d0) + abs(d1))
    values = [old + x * (d0 + x * (b + x * c)) for x in inside]
    lowest, highest = min(old, new), max(old, new)
    return [
        x for x, p in zip(inside, values, strict=True) if (p > -doubt and lowest < 0.0) or (p < doubt and highest > 0.0)
    ]


def changes(old: float, new: float, direction: int) -> bool:
    """Whether a function with these values has changed its sign, in that direction (0: in any)."""
    rising, falling = old < 0.0 <= new, old > 0.0 >= new
    return (rising and direction >= 0) or (falling and direction <= 0)
