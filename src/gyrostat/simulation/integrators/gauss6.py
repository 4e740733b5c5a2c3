"""gauss6: Gauss-Legendre collocation with three stages, of order 6,
its stages solved by fixed-point iteration to round-off.

It is implicit; with fixed steps time-reversible, and keeps quadratic invariants (Butcher 1964): the norms of
quaternions; of one free body also its energy and the square of its angular momentum. Maps of arms are not symplectic: v
is no canonical momentum where the mass matrix changes.
Their energy wanders a little, but is not lost in proportion to time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...tracing.loops import Block, Mask, Module, Vector
from ..engine.context import Context, Lane, StepFunction
from ..engine.status import Status
from .fixed_point import ENOUGH, MOST_ITERATIONS, ROUND_OFF, in_tolerances
from .method import AbstractWithEndSlope, Row, hermite, write_dense


@dataclass(frozen=True, eq=False)
class Gauss6(AbstractWithEndSlope):
    """weights: of dense output, on (f(t, y), K_1, K_2, K_3, K_new), which stand among the K in this order."""

    name: str
    order: int
    c: Row
    a: tuple[Row, ...]
    b: Row
    weights: Callable[[Any], list[Any]]
    chooses_steps = False
    solves_to_tolerances = True

    @property
    def evaluations(self) -> int:
        """Some ten iterations."""
        return 30

    def K_blocks(self, lanes: int) -> int:
        return 5

    def solver_vectors(self, n: int, lanes: int) -> int:
        """The weights of the norm."""
        return n

    def write_dense(self, module: Module, lanes: int) -> None:
        StepFunction(module, "extra_stages", lanes).end()
        write_dense(module, lanes, self.weights)

    def trial(self, f: StepFunction) -> None:
        self._solve(f, f.lane[Lane.h_tried] > 0.0)
        self.finish(f)

    def step(self, f: StepFunction, running: Mask, last: Mask) -> tuple[Mask, Vector]:
        lost, unsettled = self._solve(f, running)
        f.mark(running & lost, Status.not_finite)
        f.mark(running & unsettled & ~lost, Status.no_convergence)
        return running & f.is_(Lane.status, Status.running), f.lane[Lane.h]

    def _solve(self, f: StepFunction, working: Mask) -> tuple[Mask, Mask]:
        """K_1..K_3 (places 1 to 3; K0 is f(t, y)) and y_new. Masks: lanes that are lost from the first iteration on,
        and lanes whose stages did not converge.

        A lane is done when its stages no longer change, or when round-off makes them change more than in the two
        iterations before (one may lie: in stiff motions positions and velocities converge in turn).
        """
        lane, h = f.lane, f.lane[Lane.h_tried]
        K, weight = [f.K(1 + s) for s in range(3)], f.block(Context.solver)
        for stage in K:
            f.copy(f.K0, stage, f.n)
        negligible = ROUND_OFF / in_tolerances(f, weight)
        open_ = f.variable(working.where(1.0, 0.0))
        before, earlier = f.variable(float("inf")), f.variable(float("inf"))
        lost, diverged = f.variable(0.0), f.variable(0.0)
        count = f.counter(0)
        with f.repeat() as leave_if:
            active = open_[0] > 0.0
            leave_if(~active.any())
            leave_if(count.get() >= MOST_ITERATIONS)
            change, size = f.variable(0.0), f.variable(0.0)
            for s in range(3):
                with f.loop(f.n) as i:
                    f.stage[i] = f.y[i] + h * f.sum(self.a[s], K, i)
                f.x[0] = f.min(lane[Lane.t] + self.c[s] * h, lane[Lane.before_stop])
                f.evaluate(Context.rhs, f.at)
                with f.loop(f.n) as i:
                    change[0] = f.max(change[0], weight[i] * f.abs(f.at[i] - K[s][i]))
                    size[0] = size[0] + f.abs(f.at[i])
                    K[s][i] = active.where(f.at[i], K[s][i])
            finite = size[0] < float("inf")
            stalls = (change[0] <= ENOUGH) & (change[0] >= before[0]) & (change[0] >= earlier[0])
            settled = (change[0] <= negligible) | stalls
            lost[0] = (active & ~finite & before[0].equals(float("inf"))).where(1.0, lost[0])
            earlier[0] = before[0]
            before[0] = change[0]
            open_[0] = (active & finite & ~settled).where(1.0, 0.0)
            diverged[0] = (active & ~finite).where(1.0, diverged[0])
            count.set(count.get() + 1)
        with f.loop(f.n) as i:
            f.y_new[i] = f.y[i] + h * f.sum(self.b, K, i)
        return lost[0] > 0.0, (diverged[0] > 0.0) | ((open_[0] > 0.0) & ~(before[0] <= ENOUGH))

    def finish(self, f: StepFunction) -> None:
        f.evaluate_new(self.K_new(f))

    def K_new(self, f: StepFunction) -> Block:
        return f.K(4)


_R = 15**0.5
_B = (5 / 18, 4 / 9, 5 / 18)
GAUSS6 = Gauss6(
    "gauss6",
    6,
    (0.5 - _R / 10, 0.5, 0.5 + _R / 10),
    (
        (5 / 36, 2 / 9 - _R / 15, 5 / 36 - _R / 30),
        (5 / 36 + _R / 24, 2 / 9, 5 / 36 - _R / 24),
        (5 / 36 + _R / 30, 2 / 9 + _R / 15, 5 / 36),
    ),
    _B,
    hermite((0.0, *_B)),
)
