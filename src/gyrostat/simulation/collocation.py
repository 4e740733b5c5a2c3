"""Steps of Gauss-Legendre collocation with eight stages, all of them evaluated at once: a lane is a stage, a block is a run.

    K_s = f(t + c_s h, y + h sum_j a_sj K_j),   y_new = y + h sum_j b_j K_j                          (1)

The stages are solved by fixed-point iteration. It starts from the polynomial through the stages of the step before, continued, and
converges as (0.09 h L)^k, L the Lipschitz constant: steps are kept so small that some seven iterations suffice. The polynomial of the
stages in Legendre's basis, K = sum_d C_d P_d, tells how fast it converges to f(t, y(t)); its error after 16 degrees is taken as

    e = C_hi (C_hi / C_lo)^2,   C_hi of degrees 6 and 7, C_lo of degrees 2 and 3, component by component   (2)

All lanes hold the same y, t and step.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from .context import Context, Lane, Status, StepFunction
from .gauss import Collocation
from .loops import DOUBLE, INT, Block, Mask, Vector

MOST_ITERATIONS, MOST_FIXED = 14, 60
AIM = 7.0  # iterations
SAFETY, SHRINK, GROW, RETREAT = 0.85, 0.3, 1.5, 0.4
FARTHEST = 1.5  # steps that the polynomial of the step before is continued over
ROUND_OFF = 1e-16


def collocation_trial(f: StepFunction, method: Collocation) -> tuple[Mask, Mask, Mask, Vector]:
    """Stages and y_new. Masks: fixed steps; stages finite; stages converged; and the number of iterations."""
    h, K = f.lane[Lane.h_tried], _stages(f, method, 1)
    fixed = f.broadcast(f.b.sitofp(f.integer_at("ctx", Context.fixed), DOUBLE)).equals(1.0)
    _predict(f, method, K)
    atol, rtol = f.pointer_at("ctx", Context.atol), f.pointer_at("ctx", Context.rtol)
    before, state, count = (
        f.variable(float("inf")),
        f.variable(0.0),
        f.variable(0.0),
    )  # state: 0 open, 1 settled, 2 lost
    most = fixed.where(float(MOST_FIXED), float(MOST_ITERATIONS))
    with f.repeat() as leave_if:
        leave_if(f.b.not_((state[0].equals(0.0) & (count[0] < most)).any()))
        change = f.variable(0.0)
        for k in range(len(K)):
            with f.loop(f.n) as i:
                f.stage[i] = f.y[i] + h * _mix(f, method.a, K, i, k)
            f.x[0] = f.min(f.lane[Lane.t] + _part(f, method.c, k) * h, f.lane[Lane.before_stop])
            f.evaluate(Context.rhs, f.at)
            total = f.variable(0.0)
            with f.loop(f.n) as i:
                scale = f.broadcast(f.number_at(atol, i)) + f.broadcast(f.number_at(rtol, i)) * f.abs(f.y[i])
                finest = ROUND_OFF * (f.abs(f.y[i]) + f.abs(h * f.at[i]) + 1e-12)
                d = h * (f.at[i] - K[k][i]) / fixed.where(finest, scale)
                total[0] = total[0] + d * d
                K[k][i] = f.at[i]
            change[0] = change[0] + _over_lanes(f, total[0])
        count[0] = count[0] + 1.0
        size = f.sqrt(change[0] / (float(len(method.c)) * f.broadcast(f.b.sitofp(f.n, DOUBLE))))
        stalls = (size >= before[0]) & (size <= fixed.where(1e4, 1.0))
        before[0] = size
        lost = ~(size < float("inf"))
        hopeless = (count[0] <= 1.0).where(2.0, 3.0)
        state[0] = lost.where(hopeless, ((size <= fixed.where(1.0, 0.1)) | stalls).where(1.0, 0.0))
    with f.loop(f.n) as i:
        f.y_new[i] = f.y[i] + h * _sum(f, method.b, K, i)
    return fixed, ~state[0].equals(2.0), state[0].equals(1.0), count[0]


def collocation_step(f: StepFunction, method: Collocation, running: Mask, last: Mask) -> tuple[Mask, Vector]:
    """Whether the step is accepted, and the next one."""
    lane = f.lane
    fixed, finite, settled, count = collocation_trial(f, method)
    h, K = lane[Lane.h_tried], _stages(f, method, 1)
    atol, rtol = f.pointer_at("ctx", Context.atol), f.pointer_at("ctx", Context.rtol)
    total, size = f.variable(0.0), f.variable(0.0)
    with f.loop(f.n) as i:
        larger = f.max(f.abs(f.y[i]), f.abs(f.y_new[i]))
        scale = f.broadcast(f.number_at(atol, i)) + f.broadcast(f.number_at(rtol, i)) * larger
        size[0] = size[0] + f.abs(f.y_new[i])
        C = [f.abs(_sum(f, row, K, i)) * (h / scale) for row in method.legendre]
        lo, hi = f.max(C[0], C[1]), f.max(C[2], C[3])
        decay = f.min(hi / (lo + 1e-30), 1.0)
        e = hi * decay * decay  # (2)
        total[0] = total[0] + e * e
    finite = finite & (size[0] < float("inf"))
    error = f.sqrt(total[0] / f.broadcast(f.b.sitofp(f.integer_at("ctx", Context.n_control), DOUBLE)))
    accepted = running & finite & settled & ((error <= 1.0) | fixed)
    factor = SAFETY / f.root(f.max(error, 1e-30), method.order)
    factor = f.min(f.max(factor, SHRINK), (AIM / count) * (count <= AIM).where(GROW, 1.0))
    factor = f.min((finite & settled).where(factor, RETREAT), GROW)
    grown = last.where(f.max(lane[Lane.h], h * factor), h * factor)
    h_next = accepted.where(grown, h * f.min(factor, 0.9))
    h_next = f.min(fixed.where(lane[Lane.h], h_next), lane[Lane.h_max])
    failed = running & ~accepted & (fixed | (h_next <= f.smallest_step()))
    f.mark(failed & ~finite, Status.not_finite)
    f.mark(failed & finite & fixed, Status.no_convergence)
    f.mark(failed & finite & ~fixed, Status.underflow)
    return accepted, h_next


def keep_stages(f: StepFunction, method: Collocation, accepted: Mask) -> None:
    """For the next step's prediction."""
    for now, past in zip(_stages(f, method, 1), _stages(f, method, 2), strict=True):
        f.copy(now, past, f.n, accepted)
    f.lane[Lane.h_before] = accepted.where(f.lane[Lane.h_tried], f.lane[Lane.h_before])


def _stages(f: StepFunction, method: Collocation, generation: int) -> list[Block]:
    """Blocks of stages, `lanes` of them in each: 1 the present step's, 2 those of the step before."""
    blocks = len(method.c) // f.lanes
    return [f.K(1 + (generation - 1) * blocks + k) for k in range(blocks)]


def _predict(f: StepFunction, method: Collocation, K: list[Block]) -> None:
    """The polynomial through the stages of the step before, at the present ones; f(t, y) where there is none."""
    past, lane, c = _stages(f, method, 2), f.lane, method.c
    fresh = ~(lane[Lane.h_before] > 0.0)
    ratio = lane[Lane.h_tried] / fresh.where(1.0, lane[Lane.h_before])
    ratio = (ratio <= FARTHEST).where(ratio, 0.0)
    for k in range(len(K)):
        theta = 1.0 + _part(f, c, k) * ratio
        factors = [theta - node for node in c]
        rising: list[Any] = [f.vector(1.0)]
        for factor in factors[:-1]:
            rising.append(rising[-1] * factor)
        falling: list[Any] = [f.vector(1.0)]
        for factor in reversed(factors[1:]):
            falling.insert(0, falling[0] * factor)
        weights = [a * b * w for a, b, w in zip(rising, falling, method.lagrange, strict=True)]
        with f.loop(f.n) as i:
            K[k][i] = fresh.where(f.K0[i], _weighted(f, weights, past, i))


def _part(f: StepFunction, numbers: Any, k: int) -> Vector:
    """Of one number per stage, those of block k."""
    values = [float(x) for x in numbers[k * f.lanes : (k + 1) * f.lanes]]
    return Vector(f, ir.Constant(f.type, values))


def _element(f: StepFunction, K: list[Block], j: int, i: Any) -> Vector:
    """Component i of stage j, in all lanes."""
    return f.broadcast(f.number_at(K[j // f.lanes].address(i), j % f.lanes))


def _weighted(f: StepFunction, weights: Any, K: list[Block], i: Any) -> Vector:
    """sum_j weights[j] K_j, component i."""
    total = _element(f, K, 0, i) * weights[0]
    for j in range(1, len(weights)):
        total = total + _element(f, K, j, i) * weights[j]
    return total


def _mix(f: StepFunction, a: Any, K: list[Block], i: Any, k: int) -> Vector:
    """sum_j a_sj K_j for the stages s of block k."""
    return _weighted(f, [_part(f, [row[j] for row in a], k) for j in range(len(a))], K, i)


def _sum(f: StepFunction, b: Any, K: list[Block], i: Any) -> Vector:
    return _weighted(f, [float(x) for x in b], K, i)


def _over_lanes(f: StepFunction, x: Vector) -> Vector:
    """The sum over the lanes, in all of them."""
    total = f.broadcast(f.b.extract_element(x.value, INT(0)))
    for k in range(1, f.lanes):
        total = total + f.broadcast(f.b.extract_element(x.value, INT(k)))
    return total
