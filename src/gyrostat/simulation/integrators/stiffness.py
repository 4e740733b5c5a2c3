"""Whether it was stability that kept the steps of an explicit method short, and not accuracy.

For y' = lambda y an explicit method is stable only while h |lambda| stays below a limit. Where a strong damper or a
stiff control loop makes |lambda| large, the steps hover at that limit, however smooth the motion is.
"""

from __future__ import annotations

import numpy as np

from ...algebra import Array
from ..engine.gathered import is_compiled
from ..engine.status import Status
from ..engine.system import Plan, Rows, State, System
from .methods import METHODS

MANY = 500  # steps: fewer are no nuisance
SETTLING, AVERAGED, DIFFERENCE = 15, 15, 1e-7


def stability_share(system: System, plan: Plan, begun: float, after: State, parameters: Array) -> float:
    """h |lambda| over the method's limit, h the mean step of the run with the most steps,
    lambda the largest eigenvalue at its end.

    begun: the time at which the runs began, however often they were interrupted since.

    0 where there is nothing to tell: few steps, fixed steps, another method, a run that failed,
    functions called from Python.
    """
    made = after.steps
    k = int(np.argmax(made))
    ended = after.status[k] in (Status.running, Status.done, Status.stopped)
    limit = METHODS[plan.method].stability
    if plan.fixed or limit is None or made[k] < MANY or not ended or not is_compiled(system.rhs):
        return 0.0
    h = (after.t[k] - begun) / made[k]
    x = np.concatenate([after.t[k : k + 1], after.y[k], after.held[k], parameters[k]])
    unit = np.where(np.isfinite(plan.atol), plan.atol / plan.rtol + np.abs(after.y[k]), 1.0)
    return float(h * _largest_eigenvalue(system.rhs, x, unit) / limit)


def _largest_eigenvalue(rhs: Rows, x: Array, unit: Array) -> float:
    """|lambda| by power iteration on differences of the right-hand side, in the given units of y."""
    n, f = len(unit), rhs(x[None])[0]
    direction = np.random.default_rng(0).normal(size=n)
    growth = []
    for _ in range(SETTLING + AVERAGED):
        direction = direction / np.linalg.norm(direction)
        moved = x.copy()
        moved[1 : 1 + n] += DIFFERENCE * unit * direction
        direction = (rhs(moved[None])[0] - f) / (DIFFERENCE * unit)
        growth.append(np.linalg.norm(direction))
        if not 0.0 < growth[-1] < np.inf:
            return 0.0
    return float(np.exp(np.mean(np.log(growth[SETTLING:]))))
