"""The runs of a batch: what each begins with in a lane, which of them still wait for one,
and what they leave behind.
"""

from __future__ import annotations

import threading

import numpy as np

from ...algebra import Array
from .context import Lane
from .status import Status
from .system import Outcome, Plan, State, System


def begun_with(plan: Plan, state: State) -> dict[Lane, Array | float]:
    """What stands in the lanes of runs before their first step, for all or of each; zero where nothing is said."""
    stops, saves = plan.stop_times, plan.save_times
    stop, save = (np.searchsorted(times, state.t, side="right") for times in (stops, saves))
    ended = (state.status == Status.running) & np.isinf(stops[stop])
    return {
        Lane.t: state.t,
        Lane.h: state.h,
        Lane.h_max: plan.h_max,
        Lane.steps: state.steps,
        Lane.rejections: state.rejections,
        Lane.stop_index: stop,
        Lane.pause: np.inf,
        Lane.stop: stops[stop],
        Lane.ahead: stops[stop],
        Lane.save_index: save,
        Lane.save: saves[save],
        Lane.status: np.where(ended, Status.done, state.status),
    }


class QueueOfRuns:
    """Shared by all blocks. A run belongs to the block that has taken it: nobody else writes its rows.

    lanes: (runs, Lane.size, and what measures know) what a run brings to its lane, and what it has left there.
    out: addresses of the runs' saved rows.
    """

    def __init__(self, system: System, plan: Plan, state: State, parameters: Array, method_numbers: int) -> None:
        self.runs, self.state, self.parameters = len(state.t), state, parameters
        after = State(**{name: np.array(value) for name, value in vars(state).items()})
        after.g = np.full((self.runs, len(system.specs)), np.nan)
        self.resumes_method = state.of_method.shape == (self.runs, method_numbers)
        if not self.resumes_method:
            after.of_method = np.zeros((self.runs, method_numbers))
        self.outcome = Outcome(np.full((self.runs, len(plan.saves), system.n + system.n_held), np.nan), after)
        saved = self.outcome.saved
        self.out = saved.ctypes.data + saved.strides[0] * np.arange(self.runs)
        self.lanes = np.zeros((self.runs, Lane.size + len(system.fresh)))
        for lane, values in begun_with(plan, state).items():
            self.lanes[:, lane] = values
        known = self.lanes[:, Lane.size :]
        known[:] = state.measured if state.measured.shape == known.shape else system.fresh
        self._next, self._lock = 0, threading.Lock()

    @property
    def waiting(self) -> bool:
        return self._next < self.runs

    def take(self, most: int) -> Array:
        """At most so many runs that nobody has taken yet."""
        with self._lock:
            first, self._next = self._next, min(self._next + most, self.runs)
            return np.arange(first, self._next)

    def close(self) -> Outcome:
        """What there is when all blocks have come to rest. Runs that nobody took are as they were."""
        state, lanes = self.outcome.state, self.lanes
        for name in ("t", "h", "status", "steps", "rejections"):
            setattr(state, name, lanes[:, Lane[name]].copy())
        state.measured = lanes[:, Lane.size :].copy()
        self.outcome.records.sort(key=lambda r: (r.run, r.t))
        return self.outcome
