"""Steps of Gauss-Legendre collocation with eight stages, all of them evaluated at once: a lane is a stage,
a block is a run.

    K_s = f(t + c_s h, y + h sum_j a_sj K_j),   y_new = y + h sum_j b_j K_j                          (1)

The stages are solved by fixed-point iteration. It starts from the polynomial through the stages of the step before,
continued, and converges as (0.09 h L)^k, L the Lipschitz constant; steps are kept so small that some seven iterations
suffice. Where the error would allow much longer ones, as in stiff motions, Newton's iteration takes over (newton.py;
when, and how long steps are: collocation_control.py).

All lanes hold the same y, t and step.
"""

from __future__ import annotations

from typing import NamedTuple

from ...tracing.loops import Block, Mask, Vector
from ..engine.context import Context, Lane, StepFunction
from .fixed_point import ENOUGH, MOST_ITERATIONS, ROUND_OFF, in_tolerances
from .gauss_numbers import Collocation
from .newton import correct, factor
from .stages import Stages, mix, over_lanes, part, predict, weighted

MOST, NEWTON_MOST = 14.0, 10.0  # iterations
CLOSE, NEWTON_CLOSE = 0.01, 0.03  # of the tolerance: how near to their limit stages are taken as solved
OPEN, SOLVED, LOST, DIVERGED = 0.0, 1.0, 2.0, 3.0  # lost: no numbers from the first iteration on


class Trial(NamedTuple):
    """fixed: with steps of the given size; newton: by Newton's iteration.

    Whether the stages are numbers, and solved.
    """

    fixed: Mask
    newton: Mask
    finite: Mask
    solved: Mask
    iterations: Vector


def collocation_trial(f: StepFunction, method: Collocation) -> Trial:
    """Stages and y_new. With fixed steps the iteration goes on for as long as it gains anything (fixed_point.py)."""
    lane, h, stages = f.lane, f.lane[Lane.h_tried], Stages(f, method)
    fixed, newton = f.is_fixed(), lane[Lane.newton].equals(1.0)
    predict(f, method, stages)
    with f.when(newton.any()):
        factor(f, method, stages)
    negligible = ROUND_OFF / in_tolerances(f, stages.weight)
    most = fixed.where(float(MOST_ITERATIONS), newton.where(NEWTON_MOST, MOST))
    close = newton.where(NEWTON_CLOSE, CLOSE)
    share = 1.0 / (float(len(method.c)) * f.broadcast(f.n.number()))
    before, earlier, state, count = (f.variable(x) for x in (float("inf"), float("inf"), OPEN, 0.0))
    with f.repeat() as leave_if:
        leave_if(~(state[0].equals(OPEN) & (count[0] < most)).any())
        squares = f.variable(0.0)
        by_newton = newton.any()
        with f.when(by_newton):
            _newton_sweep(f, method, stages, squares)
        with f.when(~by_newton):
            _sweep(f, method, stages, squares)
        count[0] = count[0] + 1.0
        size = f.sqrt(over_lanes(f, squares[0]) * share)
        rate = size / before[0]
        near = (size <= close) | ((rate > 0.0) & (rate < 0.5) & (size * rate <= close * (1.0 - rate)))  # the limit
        stalls = (size >= before[0]) & (size <= ENOUGH) & (~fixed | (size >= earlier[0]))
        stalls = stalls | (fixed & (size <= ENOUGH) & (count[0] >= most))
        solved = (fixed & (size <= negligible)) | (~fixed & near) | stalls
        diverges = ~(size < float("inf")) | (newton & (rate >= 1.0) & ~stalls)
        earlier[0] = before[0]
        before[0] = size
        state[0] = diverges.where((count[0] <= 1.0).where(LOST, DIVERGED), solved.where(SOLVED, OPEN))
    with f.loop(f.n) as i:
        f.y_new[i] = f.y[i] + h * weighted(f, method.b, stages.now, i)
    return Trial(fixed, newton, ~state[0].equals(LOST), state[0].equals(SOLVED), count[0])


def _sweep(f: StepFunction, method: Collocation, stages: Stages, squares: Block) -> None:
    """One fixed-point iteration. squares: of what it changes, in the norm of the tolerances."""
    for k, K in enumerate(stages.now):
        _evaluate(f, method, stages, k)
        with f.loop(f.n) as i:
            d = stages.weight[i] * (f.at[i] - K[i])
            squares[0] = squares[0] + d * d
            K[i] = f.at[i]


def _newton_sweep(f: StepFunction, method: Collocation, stages: Stages, squares: Block) -> None:
    for k, (K, rest) in enumerate(zip(stages.now, stages.rest, strict=True)):
        _evaluate(f, method, stages, k)
        with f.loop(f.n) as i:
            rest[i] = f.at[i] - K[i]
    correct(f, method, stages)
    for K, rest in zip(stages.now, stages.rest, strict=True):
        with f.loop(f.n) as i:
            d = stages.weight[i] * rest[i]
            squares[0] = squares[0] + d * d
            K[i] = K[i] + rest[i]


def _evaluate(f: StepFunction, method: Collocation, stages: Stages, k: int) -> None:
    """The right-hand side at the stages of block k, into `at`."""
    h = f.lane[Lane.h_tried]
    with f.loop(f.n) as i:
        f.stage[i] = f.y[i] + h * mix(f, method.a, stages.now, i, k)  # (1)
    f.x[0] = f.min(f.lane[Lane.t] + part(f, method.c, k) * h, f.lane[Lane.before_stop])
    f.evaluate(Context.rhs, f.at)
