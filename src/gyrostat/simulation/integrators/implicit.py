"""Steps of the implicit Gauss-Legendre method, its stages solved by fixed-point iteration to round-off.

How far an iteration has changed the stages is measured in the norm of the tolerances, as errors are: what is not controlled (the audit's
integrals) or is zero but for round-off (a motion in a plane) has no say in it.
"""

from __future__ import annotations

from ...tracing.loops import Block, Mask, Vector
from ..engine.context import Context, Lane, StepFunction
from ..engine.status import Status
from .gauss import Gauss

MOST_ITERATIONS = 100
ROUND_OFF = 1e-16  # relative change of the stages below which nothing is left to gain
ENOUGH = 1.0  # of the tolerances: at most so large may a change be that no longer becomes smaller


def gauss_trial(f: StepFunction, method: Gauss, working: Mask) -> tuple[Mask, Mask]:
    """K_1..K_3 (places 1 to 3; K0 is f(t, y)) and y_new. Masks: lanes that are lost from the first iteration on, and lanes whose
    stages did not converge.

    A lane is done when its stages no longer change, or when round-off makes them change more than in the two iterations before (one
    may lie: in stiff motions positions and velocities converge in turn).
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
                f.stage[i] = f.y[i] + h * f.sum(method.a[s], K, i)
            f.x[0] = f.min(lane[Lane.t] + method.c[s] * h, lane[Lane.before_stop])
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
        f.y_new[i] = f.y[i] + h * f.sum(method.b, K, i)
    return lost[0] > 0.0, (diverged[0] > 0.0) | ((open_[0] > 0.0) & ~(before[0] <= ENOUGH))


def in_tolerances(f: StepFunction, weight: Block) -> Vector:
    """weight: what a change of a derivative is multiplied with, h / (atol + rtol |y|), component by component; returns the largest rtol."""
    atol, rtol = f.pointer_at(Context.atol), f.pointer_at(Context.rtol)
    coarsest = f.variable(0.0)
    with f.loop(f.n) as i:
        relative = f.broadcast(rtol.number(i))
        weight[i] = f.lane[Lane.h_tried] / (f.broadcast(atol.number(i)) + relative * f.abs(f.y[i]))
        coarsest[0] = f.max(coarsest[0], relative)
    return coarsest[0]


def gauss_step(f: StepFunction, method: Gauss, running: Mask) -> Mask:
    """Whether each lane accepts its step."""
    lost, unsettled = gauss_trial(f, method, running)
    f.mark(running & lost, Status.not_finite)
    f.mark(running & unsettled & ~lost, Status.no_convergence)
    return running & f.is_(Lane.status, Status.running)
