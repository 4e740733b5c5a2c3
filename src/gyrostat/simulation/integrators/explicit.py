"""Explicit Runge-Kutta methods: stages, the new state, the step size that the error estimate allows, and dense output.

With s stages K_1..K_s, of which K_1 = f(t, y), and K_new = f(t + h, y_new):

    K_i = f(t + c_i h, y + h sum_j a_ij K_j),   y_new = y + h sum_j b_j K_j,
    y(t + theta h) = y + h sum_j w_j(theta) K_j     (dense output; j runs over stages, K_new and extra stages)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...tracing.loops import Block, Mask, Module, Vector
from ..engine.context import Context, Lane, StepFunction
from ..engine.status import Status
from .method import AbstractWithEndSlope, Remembered, Row, write_dense

SAFETY, SHRINK, GROW = 0.94, 0.2, 10.0
LEAST_ROOT = 0.3


@dataclass(frozen=True, eq=False)
class Explicit(AbstractWithEndSlope):
    """Rows of `a` start at the second stage, and are as long as needed.

    errors: weights on (K_1..K_s, K_new) of the error estimates; order: of y_new; root: the error of a step grows as
    h^root.
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
    stability: float | None = None

    @property
    def stages(self) -> int:
        return len(self.c)

    @property
    def needs_new(self) -> bool:
        """True if the error estimate uses K_new."""
        return any(len(row) > len(self.c) for row in self.errors)

    @property
    def chooses_steps(self) -> bool:  # type: ignore[override]
        return bool(self.errors)

    @property
    def evaluations(self) -> int:
        return self.stages

    def K_blocks(self, lanes: int) -> int:
        return self.stages + 1 + len(self.extra)

    def remembered(self, lanes: int) -> Remembered:
        """With step control, the error before."""
        return Remembered(lasting=(Lane.error_root,)) if self.errors else Remembered()

    def write_dense(self, module: Module, lanes: int) -> None:
        f = StepFunction(module, "extra_stages", lanes)
        for k, (c, row) in enumerate(self.extra):
            _evaluate_stage(f, c, row, self.stages + 1 + k)
        f.end()
        write_dense(module, lanes, self.weights)

    def trial(self, f: StepFunction) -> None:
        blocks, h = self._stages(f), f.lane[Lane.h_tried]
        with f.loop(f.n) as i:
            f.y_new[i] = f.y[i] + h * f.sum(self.b, blocks, i)
        f.evaluate_new(self.K_new(f))

    def step(self, f: StepFunction, running: Mask, last: Mask) -> tuple[Mask, Vector]:
        """Stages and y_new; K_new too, where the error estimate needs it.

        Whether each lane accepts, and its next step.
        """
        lane, h = f.lane, f.lane[Lane.h_tried]
        blocks = self._stages(f)
        size = f.variable(0.0)
        sums = [f.variable(0.0) for _ in self.errors]
        if self.needs_new:
            with f.loop(f.n) as i:
                f.y_new[i] = f.y[i] + h * f.sum(self.b, blocks, i)
                size[0] = size[0] + f.abs(f.y_new[i])
            f.evaluate_new(self.K_new(f))
            blocks.append(self.K_new(f))
        atol, rtol = f.pointer_at(Context.atol), f.pointer_at(Context.rtol)
        with f.loop(f.n) as i:
            if not self.needs_new:
                f.y_new[i] = f.y[i] + h * f.sum(self.b, blocks, i)
                size[0] = size[0] + f.abs(f.y_new[i])
            if self.errors:
                larger = f.max(f.abs(f.y[i]), f.abs(f.y_new[i]))
                scale = f.broadcast(atol.number(i)) + f.broadcast(rtol.number(i)) * larger
                for total, row in zip(sums, self.errors, strict=True):
                    e = f.sum(row, blocks, i) / scale
                    total[0] = total[0] + e * e
        finite = size[0] < float("inf")
        if not self.errors:
            f.mark(running & ~finite, Status.not_finite)
            return running & finite, lane[Lane.h]
        count = f.broadcast(f.integer_at(Context.n_control).number())
        if len(sums) == 1:
            error = h * f.sqrt(sums[0][0] / count)
        else:  # Hairer's blend of the estimates of orders 5 and 3
            blend = sums[0][0] + 0.01 * sums[1][0]
            error = (blend > 0.0).where(h * sums[0][0] / f.sqrt(blend * count), blend)
        return self._control(f, running, last, finite, error)

    def _control(self, f: StepFunction, running: Mask, last: Mask, finite: Mask, error: Vector) -> tuple[Mask, Vector]:
        """Accepted where the error is at most 1; the next step from it.
        With fixed steps all is accepted that is finite.

        With e = error^(1/root) and e' that of the accepted step before, the next step is h SAFETY / e (e e')^(1/4)
        after one that is accepted, a PI controller (Gustafsson 1991; Hairer & Wanner, IV.2), without which every third
        step is rejected where stability limits them; and h SAFETY / e after one that is not.
        """
        lane, h = f.lane, f.lane[Lane.h_tried]
        fixed = f.is_fixed()
        accepted = running & finite & ((error <= 1.0) | fixed)
        e = f.root(f.max(error, 1e-30), self.root)
        before = lane[Lane.error_root]
        smooth = f.root(e * (before > 0.0).where(before, 1.0), 4)
        factor = (SAFETY / e) * accepted.where(smooth, 1.0)
        factor = f.min(f.max((error < float("inf")).where(factor, SHRINK), SHRINK), GROW)
        # a step cut short says nothing against the old one
        grown = last.where(f.max(lane[Lane.h], h * factor), h * factor)
        h_next = accepted.where(grown, h * f.min(factor, SAFETY))
        lane[Lane.error_root] = accepted.where(f.max(e, LEAST_ROOT), before)
        h_next = f.min(fixed.where(lane[Lane.h], h_next), lane[Lane.h_max])
        too_small = running & ~fixed & (h_next <= f.smallest_step())
        f.mark(too_small & finite, Status.underflow)
        f.mark(~finite & (too_small | (running & fixed)), Status.not_finite)
        return accepted, h_next

    def finish(self, f: StepFunction) -> None:
        if not self.needs_new:
            f.evaluate_new(self.K_new(f))

    def K_new(self, f: StepFunction) -> Block:
        return f.K(self.stages)

    def _stages(self, f: StepFunction) -> list[Block]:
        for s in range(1, self.stages):
            _evaluate_stage(f, self.c[s], self.a[s - 1], s)
        return [f.K(j) for j in range(self.stages)]


def _evaluate_stage(f: StepFunction, c: float, row: Row, place: int) -> None:
    """K_place = f(t + c h, y + h sum_j row_j K_j)."""
    t, h = f.lane[Lane.t], f.lane[Lane.h_tried]
    blocks = [f.K(j) for j in range(len(row))]
    with f.loop(f.n) as i:
        f.stage[i] = f.y[i] + h * f.sum(row, blocks, i)
    f.x[0] = f.min(t + c * h, f.lane[Lane.before_stop])
    f.evaluate(Context.rhs, f.K(place))
