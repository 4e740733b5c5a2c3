"""The memory of one block of lanes, and its course from the runs' states to their ends."""

from __future__ import annotations

import ctypes
import functools
import hashlib
from typing import Any

import numpy as np

from ..algebra import Array
from ..tracing import Kernel, cache, machine
from .context import Context, Lane, Status
from .stepper import ENTRIES, stepper
from .system import Outcome, Plan, Rows, State, System
from .tableaus import METHODS, Collocation, stage_count

LANES = machine.host_lanes("double")
_ON_CONTEXT = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_ADVANCE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
_TRACED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


@functools.cache
def _library(method: str) -> machine.Library:
    """The compiled time loop of a method: one for all spacecraft, kept on disk."""
    text = stepper(METHODS[method], LANES)
    key = hashlib.sha256(f"stepper\n{machine.identity()}\n{text}".encode()).hexdigest()
    code = cache.load(key)
    if code is None:
        code = machine.machine_code(text)
        cache.store(key, code)
    return machine.Library(code, ENTRIES)


def runs_per_block(method: str) -> int:
    """One in each lane; or one in all, where the lanes are its stages."""
    return 1 if isinstance(METHODS[method], Collocation) else LANES


def past_numbers(method: str, n: int) -> int:
    """What the next step needs to know of the one before: its size and stages."""
    found = METHODS[method]
    return 1 + n * len(found.c) if isinstance(found, Collocation) else 0


class Block:
    """Work memory for LANES runs at a time: `take` some runs, let them `advance`, `settle` them."""

    def __init__(self, system: System, plan: Plan, state: State, parameters: Array, outcome: Outcome) -> None:
        self.system, self.plan, self.outcome = system, plan, outcome
        self._state, self._parameters = state, parameters
        self._library = _library(plan.method)
        self._start, self._trial, self._commit = (
            _ON_CONTEXT(self._library.address(name)) for name in ("start", "trial", "commit")
        )
        self._advance = _ADVANCE(self._library.address("advance"))
        self._keep: list[Any] = []
        self._error: BaseException | None = None
        self.first = self.count = 0
        self._together = runs_per_block(plan.method) == 1
        self._allocate()

    # ---- memory

    def _allocate(self) -> None:
        system, plan = self.system, self.plan
        n, held, events = system.n, system.n_held, len(system.specs)
        work = max([0, *(f.work_numbers for f, _ in system.functions.values() if isinstance(f, Kernel))])
        sizes = {
            "x": 1 + n + held + system.n_parameters,
            "y": n,
            "y_new": n,
            "at": n,
            "K": n * stage_count(METHODS[plan.method], LANES),
            "g_old": events,
            "g_new": events,
            "held_new": held,
            "lanes": int(Lane.size),
            "scratch": -(-work // LANES),
        }
        self.memory = _aligned(sum(sizes.values()) * LANES)
        self.blocks: dict[str, Array] = {}
        at = 0
        for name, size in sizes.items():
            self.blocks[name] = self.memory[at : at + size * LANES].reshape(size, LANES)
            at += size * LANES
        self.x, self.lane = self.blocks["x"], self.blocks["lanes"]
        self._stops, self._saves = np.append(plan.stops, np.inf), np.append(plan.saves, np.inf)
        self._out = np.zeros(LANES, dtype=np.int64)
        arrays = {
            "atol": np.ascontiguousarray(plan.atol),
            "rtol": np.ascontiguousarray(plan.rtol),
            "breaks": self._stops,
            "samples": np.append(plan.samples, 0.0),
            "saves": self._saves,
            "out": self._out,
            "directions": np.array([spec.direction for spec in system.specs], dtype=float),
        }
        self._keep.append(arrays)
        context = np.zeros(Context.size, dtype=np.int64)
        for name, array in {**self.blocks, **arrays}.items():
            context[Context[name]] = array.ctypes.data
        for name, (function, size) in system.functions.items():
            context[Context[name]] = self._address(name, function, size)
        context[Context.n], context[Context.n_held], context[Context.n_events] = n, held, events
        context[Context.n_control], context[Context.fixed] = plan.n_control, int(plan.fixed)
        self.context, self._ctx = context, context.ctypes.data

    def _address(self, name: str, function: Rows | None, size: int) -> int:
        """Of compiled code, or of a callback to Python. An exception there becomes NaN here, and is raised when back."""
        if function is None:
            return 0
        if isinstance(function, Kernel):
            self._keep.append(function)
            return function.block_address

        def call(x: int, result: int, scratch: int) -> None:
            out = np.ctypeslib.as_array((ctypes.c_double * (size * LANES)).from_address(result)).reshape(size, LANES)
            out[:] = np.nan
            wanted = np.flatnonzero(self.lane[Lane.sampled] == 1 if name == "update" else self._running())
            once = self._together and name != "rhs"
            if self._error is None:
                try:
                    out[:, wanted] = function(self.x[:, wanted[:1] if once else wanted].T.copy()).T
                except BaseException as error:  # noqa: BLE001  (Ctrl-C too: nothing may cross compiled code)
                    self._error = error

        callback = _TRACED(call)
        self._keep.append(callback)
        address = ctypes.cast(callback, ctypes.c_void_p).value
        assert address is not None
        return address

    def _running(self) -> Array:
        return self.lane[Lane.status] == Status.running

    # ---- runs in and out

    def take(self, first: int, last: int) -> None:
        """Load runs first, ..., last - 1; lanes without a run of their own repeat the last one, and stand still."""
        state, plan, n, held = self._state, self.plan, self.system.n, self.system.n_held
        self.first, self.count = first, last - first
        rows = np.minimum(np.arange(first, first + LANES), last - 1)
        own = (np.arange(LANES) < self.count) | self._together
        lane = self.lane
        self.blocks["y"][:] = state.y[rows].T
        self.x[1 + n : 1 + n + held] = state.held[rows].T
        self.x[1 + n + held :] = self._parameters[rows].T
        lane[:] = 0.0
        lane[Lane.t], lane[Lane.h], lane[Lane.h_max] = state.t[rows], state.h[rows], plan.h_max
        lane[Lane.steps], lane[Lane.rejections] = state.steps[rows], state.rejections[rows]
        lane[Lane.stop_index] = np.searchsorted(self._stops, state.t[rows], side="right")
        lane[Lane.stop] = self._stops[lane[Lane.stop_index].astype(int)]
        lane[Lane.save_index] = np.searchsorted(self._saves, state.t[rows], side="right")
        lane[Lane.save] = self._saves[lane[Lane.save_index].astype(int)]
        ended = (state.status[rows] == Status.running) & np.isinf(lane[Lane.stop])
        lane[Lane.status] = np.where(ended | ~own, Status.done, state.status[rows])
        self._out[:] = [self.outcome.saved[row].ctypes.data for row in rows]
        self.attempts_before = lane[Lane.steps] + lane[Lane.rejections]
        self._recall(state)
        self._call(self._start)
        if state.g.shape == (len(state.t), len(self.system.specs)):
            known = state.g[rows].T
            self.blocks["g_old"][:] = np.where(np.isnan(known), self.blocks["g_old"], known)

    def settle(self) -> None:
        """Write the lanes back to the rows of the outcome."""
        lane, rows, k = self.lane, slice(self.first, self.first + self.count), slice(0, self.count)
        n, held, state = self.system.n, self.system.n_held, self.outcome.state
        state.t[rows], state.y[rows], state.h[rows] = lane[Lane.t][k], self.blocks["y"][:, k].T, lane[Lane.h][k]
        state.held[rows] = self.x[1 + n : 1 + n + held, k].T
        state.status[rows] = lane[Lane.status][k]
        state.steps[rows], state.rejections[rows] = lane[Lane.steps][k], lane[Lane.rejections][k]
        state.g[rows] = self.blocks["g_old"][:, k].T
        if self._together:
            state.past[self.first] = np.append(lane[Lane.h_before, 0], self._past())

    def _past(self) -> Array:
        """The stages of the step before, flat."""
        return self.blocks["K"][-8 * self.system.n // LANES :].reshape(-1)

    def _recall(self, state: State) -> None:
        if self._together and state.past.shape == (len(state.t), past_numbers(self.plan.method, self.system.n)):
            self.lane[Lane.h_before], self._past()[:] = state.past[self.first, 0], state.past[self.first, 1:]

    def lanes_of(self, k: int) -> Any:
        """Where run k of the block stands: in its lane, or in all."""
        return slice(None) if self._together else k

    # ---- compiled functions

    def _call(self, function: Any, *arguments: int) -> Any:
        result = function(self._ctx, *arguments)
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return result

    def advance(self, steps: int) -> bool:
        """At most so many attempted steps; True if an event waits to be handled."""
        return bool(self._call(self._advance, steps))

    def trial(self) -> None:
        self._call(self._trial)

    def commit(self) -> None:
        self._call(self._commit)

    def evaluate(self, what: Context, size: int, k: int, t: float, y: Array) -> Array:
        """A function of the system for lane k at time t and state y, (size,)."""
        self.place(k, t, y)
        result = np.empty((size, LANES))
        traced = _TRACED(int(self.context[what]))
        traced(self.x.ctypes.data, result.ctypes.data, self.blocks["scratch"].ctypes.data)
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return result[:, k]

    def place(self, k: int, t: float, y: Array) -> None:
        """Time and state of run k as the argument of the functions."""
        at = self.lanes_of(k)
        self.x[0, at] = t
        self.x[1 : 1 + self.system.n, at] = y[:, None] if self._together else y

    @property
    def running(self) -> bool:
        return bool(self._running().any())

    @property
    def attempts(self) -> int:
        """Of the runs that still run: all have made as many."""
        made = self.lane[Lane.steps] + self.lane[Lane.rejections] - self.attempts_before
        return int(made[self._running()].max(initial=0))

    def progress(self) -> float:
        """Mean fraction of the way."""
        end, lane = self.plan.stops[-1] if len(self.plan.stops) else 0.0, self.lane
        begin = self.plan.saves[0] if len(self.plan.saves) else 0.0
        ended = ~self._running()[: self.count]
        done = (lane[Lane.t][: self.count] - begin) / max(end - begin, 1e-300)
        return float(np.where(ended, 1.0, np.clip(done, 0.0, 1.0)).mean())


def _aligned(count: int) -> Array:
    """Zeros that begin at a multiple of 64 bytes."""
    memory = np.zeros(count + 8)
    skip = (-memory.ctypes.data // 8) % 8
    return memory[skip : skip + count]
