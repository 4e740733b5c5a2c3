"""Explicit Runge-Kutta steps: stages, the new state, and the step size that the error estimate allows."""

from __future__ import annotations

from ...tracing.loops import Block, Mask, Vector
from ..engine.context import Context, Lane, StepFunction
from ..engine.status import Status
from .runge_kutta import Tableau

SAFETY, SHRINK, GROW = 0.94, 0.2, 10.0
LEAST_ROOT = 0.3


def evaluate_stage(f: StepFunction, c: float, row: tuple[float, ...], place: int) -> None:
    """K_place = f(t + c h, y + h sum_j row_j K_j)."""
    t, h = f.lane[Lane.t], f.lane[Lane.h_tried]
    blocks = [f.K(j) for j in range(len(row))]
    with f.loop(f.n) as i:
        f.stage[i] = f.y[i] + h * f.sum(row, blocks, i)
    f.x[0] = f.min(t + c * h, f.lane[Lane.before_stop])
    f.evaluate(Context.rhs, f.K(place))


def stages(f: StepFunction, method: Tableau) -> list[Block]:
    for s in range(1, method.stages):
        evaluate_stage(f, method.c[s], method.a[s - 1], s)
    return [f.K(j) for j in range(method.stages)]


def explicit_trial(f: StepFunction, method: Tableau) -> None:
    """y_new and K_new of a step of the size h_tried."""
    blocks, h = stages(f, method), f.lane[Lane.h_tried]
    with f.loop(f.n) as i:
        f.y_new[i] = f.y[i] + h * f.sum(method.b, blocks, i)
    f.evaluate_new(f.K(method.stages))


def explicit_step(f: StepFunction, method: Tableau, running: Mask, last: Mask) -> tuple[Mask, Vector]:
    """Stages and y_new; K_new too, where the error estimate needs it. Whether each lane accepts, and its next step."""
    lane, h = f.lane, f.lane[Lane.h_tried]
    blocks = stages(f, method)
    size = f.variable(0.0)
    sums = [f.variable(0.0) for _ in method.errors]
    if method.needs_new:
        with f.loop(f.n) as i:
            f.y_new[i] = f.y[i] + h * f.sum(method.b, blocks, i)
            size[0] = size[0] + f.abs(f.y_new[i])
        f.evaluate_new(f.K(method.stages))
        blocks.append(f.K(method.stages))
    atol, rtol = f.pointer_at(Context.atol), f.pointer_at(Context.rtol)
    with f.loop(f.n) as i:
        if not method.needs_new:
            f.y_new[i] = f.y[i] + h * f.sum(method.b, blocks, i)
            size[0] = size[0] + f.abs(f.y_new[i])
        if method.errors:
            larger = f.max(f.abs(f.y[i]), f.abs(f.y_new[i]))
            scale = f.broadcast(atol.number(i)) + f.broadcast(rtol.number(i)) * larger
            for total, row in zip(sums, method.errors, strict=True):
                e = f.sum(row, blocks, i) / scale
                total[0] = total[0] + e * e
    finite = size[0] < float("inf")
    if not method.errors:
        f.mark(running & ~finite, Status.not_finite)
        return running & finite, lane[Lane.h]
    count = f.broadcast(f.integer_at(Context.n_control).number())
    if len(sums) == 1:
        error = h * f.sqrt(sums[0][0] / count)
    else:  # Hairer's blend of the estimates of orders 5 and 3
        blend = sums[0][0] + 0.01 * sums[1][0]
        error = (blend > 0.0).where(h * sums[0][0] / f.sqrt(blend * count), blend)
    return _control(f, method, running, last, finite, error)


def _control(
    f: StepFunction, method: Tableau, running: Mask, last: Mask, finite: Mask, error: Vector
) -> tuple[Mask, Vector]:
    """Accepted where the error is at most 1; the next step from it. With fixed steps all is accepted that is finite.

    With e = error^(1/root) and e' that of the accepted step before, the next step is h SAFETY / e (e e')^(1/4) after one that is accepted,
    a PI controller (Gustafsson 1991; Hairer & Wanner, IV.2), without which every third step is rejected where stability limits them; and
    h SAFETY / e after one that is not.
    """
    lane, h = f.lane, f.lane[Lane.h_tried]
    fixed = f.is_fixed()
    accepted = running & finite & ((error <= 1.0) | fixed)
    e = f.root(f.max(error, 1e-30), method.root)
    before = lane[Lane.error_root]
    smooth = f.root(e * (before > 0.0).where(before, 1.0), 4)
    factor = (SAFETY / e) * accepted.where(smooth, 1.0)
    factor = f.min(f.max((error < float("inf")).where(factor, SHRINK), SHRINK), GROW)
    grown = last.where(f.max(lane[Lane.h], h * factor), h * factor)  # a step cut short says nothing against the old one
    h_next = accepted.where(grown, h * f.min(factor, SAFETY))
    lane[Lane.error_root] = accepted.where(f.max(e, LEAST_ROOT), before)
    h_next = f.min(fixed.where(lane[Lane.h], h_next), lane[Lane.h_max])
    too_small = running & ~fixed & (h_next <= f.smallest_step())
    f.mark(too_small & finite, Status.underflow)
    f.mark(~finite & (too_small | (running & fixed)), Status.not_finite)
    return accepted, h_next
