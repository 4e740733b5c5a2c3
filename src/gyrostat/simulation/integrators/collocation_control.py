"""The error of a step of collocation, the size of the next, and by which iteration its stages are to be solved.

The polynomial of the stages in Legendre's basis, K = sum_d C_d P_d, tells how fast it converges to f(t, y(t)); its
error after 16 degrees is taken as

    e = 0.1 C_hi (C_hi / C_lo)^2,   C_hi of degrees 6 and 7, C_lo of degrees 2 and 3, component by component   (1)

which is more than the true error in smooth motions, tumbling or swinging. In stiff ones the order is reduced: to steps
of Newton's iteration the error (3) of newton.py is added,
a hundredth of it (so calibrated on closed loops of different stiffness).
"""

from __future__ import annotations

from ...tracing.loops import Mask, Vector
from ..engine.context import Context, Lane, StepFunction
from ..engine.status import Status
from .collocation import Trial, collocation_trial
from .gauss_numbers import Collocation
from .newton import beyond
from .stages import Stages, in_turn, swapped, weighted

AIM, NEWTON_AIM = 6.5, 6.0  # iterations
SMOOTH, STIFF = 0.1, 0.01
NOISE = 0.1  # of the tolerance: what iterations that are not finished leave in the coefficients
SAFETY, SHRINK, GROW, RETREAT = 0.85, 0.3, 1.5, 0.4
BEYOND = 1.5  # times as long as a step that fixed-point iteration is good for: Newton's
MARGIN = 1.5  # by which steps must promise to be cheaper before Newton's iteration is tried
PATIENCE = 30.0  # steps until it is tried again after it was left


def collocation_step(f: StepFunction, method: Collocation, running: Mask, last: Mask) -> tuple[Mask, Vector]:
    """Whether the step is accepted, and the next one."""
    lane, h, usual, fixed = f.lane, f.lane[Lane.h_tried], f.lane[Lane.h_fixed_point], f.is_fixed()
    lane[Lane.newton] = (~fixed & (usual > 0.0) & (h > BEYOND * usual)).where(1.0, 0.0)
    trial = collocation_trial(f, method)
    error, promised, finite = _error(f, method, trial)
    solved = finite & trial.solved
    accepted = running & solved & ((error <= 1.0) | fixed)
    by_error, by_promise = (SAFETY / f.root(f.max(e, 1e-30), method.order) for e in (error, promised))
    aim = trial.newton.where(NEWTON_AIM, AIM)
    by_count = solved.where((aim / trial.iterations) * (trial.iterations <= aim).where(GROW, 1.0), RETREAT)
    factor = f.min(f.min(solved.where(f.max(by_error, SHRINK), RETREAT), by_count), GROW)
    factor = accepted.where(factor, f.min(factor, 0.9))
    h_next = (last & accepted).where(f.max(lane[Lane.h], h * factor), h * factor)
    h_next = _choose(f, trial, accepted, last, h_next, h * by_count, h * by_promise)
    h_next = f.min(fixed.where(lane[Lane.h], h_next), lane[Lane.h_max])
    failed = running & ((fixed & ~accepted) | (~fixed & (h_next <= f.smallest_step())))
    f.mark(failed & ~finite, Status.not_finite)
    f.mark(failed & finite & fixed, Status.no_convergence)
    f.mark(failed & finite & ~fixed, Status.underflow)
    return accepted, h_next


def _error(f: StepFunction, method: Collocation, trial: Trial) -> tuple[Vector, Vector, Mask]:
    """The error in the norm of the tolerances; what it would be but for the noise of the iteration;
    whether y_new is finite.
    """
    stages = Stages(f, method)
    total, lower, higher, size = (f.variable(0.0) for _ in range(4))
    low, high = ([in_turn(f, pair) for pair in zip(*rows, strict=True)] for rows in (method.low, method.high))
    with f.loop(f.n) as i:
        C_lo, C_hi = weighted(f, low, stages.now, i), weighted(f, high, stages.now, i)
        lo, hi = (f.max(f.abs(C), f.abs(swapped(f, C))) for C in (C_lo, C_hi))
        decay = f.min(hi / (lo + 1e-300), 1.0)
        lo, hi = stages.weight[i] * lo, stages.weight[i] * hi
        e = hi * decay * decay  # (1)
        total[0], lower[0], higher[0] = total[0] + e * e, lower[0] + lo * lo, higher[0] + hi * hi
        size[0] = size[0] + f.abs(f.y_new[i])
        stages.rest[0][i] = C_hi + swapped(f, C_hi)
    controlled = f.broadcast(f.integer_at(Context.n_control).number())
    error = f.variable(SMOOTH * f.sqrt(total[0] / controlled))
    hi = f.max(f.sqrt(higher[0] / controlled) - NOISE, 0.0)
    promised = SMOOTH * hi * hi * hi / (lower[0] / controlled + 1e-30)  # (1) of the norms
    with f.when(trial.newton.any()):
        total[0] = 0.0
        component = beyond(f, method, stages)
        with f.loop(f.n) as i:
            e = stages.weight[i] * component(i)
            total[0] = total[0] + e * e
        error[0] = error[0] + STIFF * f.sqrt(total[0] / controlled)
    return error[0], promised, trial.finite & (size[0] < float("inf"))


def _choose(
    f: StepFunction, trial: Trial, accepted: Mask, last: Mask, h_next: Vector, by_count: Vector, by_promise: Vector
) -> Vector:
    """The next step again, other than given where one iteration takes over from the other.

    A step by Newton's iteration costs as much as some `ratio` others: n / 8 evaluations for the Jacobian, n^3
    operations to factor. It is given up where its steps are not longer by as much, and begun where errors, stops and
    `h_max` promise still longer ones.
    """
    lane, newton = f.lane, trial.newton
    n = f.broadcast(f.n.number())
    ratio = 2.0 + n * (1.0 / 60.0) + n * n * (1.0 / 540.0)
    usual, wait = lane[Lane.h_fixed_point], lane[Lane.wait]
    slow = (trial.iterations > AIM) | ~trial.solved
    usual = newton.where(usual, slow.where(by_count, f.max(usual, by_count)))
    worth, most = MARGIN * ratio * usual, f.min(lane[Lane.stop] - lane[Lane.t_new], lane[Lane.h_max])
    begins = ~newton & accepted & ~last & (wait <= 0.0) & slow & (by_promise > worth) & (most > worth)
    ends = newton & (f.min(h_next, last.where(lane[Lane.h_tried], h_next)) < ratio * usual)
    lane[Lane.h_fixed_point_next] = usual
    lane[Lane.wait_next] = (ends & ~last).where(PATIENCE, f.max(wait - 1.0, 0.0))
    return begins.where(worth, ends.where(f.min(h_next, usual), h_next))
