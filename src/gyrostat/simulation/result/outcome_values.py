"""From what the loop has kept of the signals of a run, and from where it ended, to the values of its outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...algebra import Array
from ...outcomes import Kept, Outcome
from ..engine.compiling import compiled
from ..engine.system import State
from ..problem.equations import Equations
from ..problem.outcomes import order_of, signals_of

EXTREMES = {Kept.largest: np.maximum, Kept.smallest: np.minimum}


def outcome_values(
    equations: Equations,
    outcomes: Sequence[Outcome],
    state: State,
    constants: Array,
    kept: Array,
    before: Array,
    begun: float,
    outside: Callable[[Any], Any],
) -> Array:
    """(runs, outcomes). kept: by the loop, in its order (runs, tracked); before: the signals where
    the last step ended, likewise; begun: when the runs began, as the engine
    counts; outside: from its times to the user's.
    """
    tracked, ends = order_of(outcomes)
    found = np.full((len(state.t), len(outcomes)), np.nan)
    found[:, list(tracked)] = kept
    last: dict[int, Array] = {}
    if equations.effects:  # one at the very end leaves what no step has seen
        ends = (*ends, *(k for k, one in enumerate(outcomes) if one.kept in (*EXTREMES, Kept.time_of)))
    if ends:
        signals = compiled(signals_of(equations, [outcomes[k] for k in ends]), equations.layout.size)
        last = dict(zip(ends, signals(_at_end(equations, state, constants)).T, strict=True))
    for k, one in enumerate(outcomes):
        if one.kept is Kept.last:
            found[:, k] = last[k]
        elif one.kept in EXTREMES and k in last:
            found[:, k] = EXTREMES[one.kept](found[:, k], last[k])
        elif one.kept is Kept.mean:
            found[:, k] /= np.maximum(state.t - begun, 1e-300)
        elif one.kept is Kept.time_of:
            if k in last:
                passed = _passed(before[:, tracked.index(k)], last[k], one.direction)
                found[:, k] = np.where(np.isinf(found[:, k]) & passed, state.t, found[:, k])
            found[:, k] = outside(found[:, k])
        elif one.kept is Kept.settling_time:
            since = outside(np.where(np.isinf(found[:, k]), begun, found[:, k]))
            found[:, k] = np.where(last[k] > 0.0, np.inf, since)
    return found


def _passed(old: Array, new: Array, way: int) -> Array:
    """Whether zero was passed, rising (+1), falling (-1) or in any way (0)."""
    rising, falling = (old < 0.0) & (new >= 0.0), (old > 0.0) & (new <= 0.0)
    return (rising & (way >= 0)) | (falling & (way <= 0))


def _at_end(equations: Equations, state: State, constants: Array) -> Array:
    """x of every run, (runs, size)."""
    at = equations.layout
    x = np.zeros((len(state.t), at.size))
    x[:, 0], x[:, at.state], x[:, at.held] = state.t, state.y, state.held
    x[:, at["run"].start :][:, : constants.shape[1]] = constants
    return x
