"""The host side of the compiled time loop: memory for blocks of lanes, threads, events, interruption."""

from __future__ import annotations

import ctypes
import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..algebra import Array
from ..tracing import Kernel, cache, machine, pool
from .stepper import Context, Lane, Status, stage_count, stepper
from .tableaus import METHODS

LANES = machine.host_lanes("double")
CHUNK = 128  # attempted steps between two looks at the host's wishes
_ENTRIES = ("start", "commit", "dense", "extra_stages")
_ON_CONTEXT = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_ADVANCE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
TRACED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True)
class EventSpec:
    """How one component of the event function is treated. effect(x (row), y) -> y after the event, or None."""

    name: str
    terminal: bool = False
    direction: int = 0
    effect: Callable[[Array, Array], Array] | None = None


Rows = (
    Kernel | Callable[[Array], Array]
)  # x (runs, ...) to results (runs, ...): compiled, or called from Python at each step


@dataclass(frozen=True)
class System:
    """What is integrated: functions of x = (t, y, held, parameters)."""

    rhs: Rows
    n: int
    update: Rows | None = None
    n_held: int = 0
    events: Rows | None = None
    specs: tuple[EventSpec, ...] = ()
    n_parameters: int = 0

    @property
    def functions(self) -> dict[str, tuple[Rows | None, int]]:
        """By name, with the number of results."""
        return {
            "rhs": (self.rhs, self.n),
            "update": (self.update, self.n_held),
            "events": (self.events, len(self.specs)),
        }

    @property
    def compiled(self) -> bool:
        return all(f is None or isinstance(f, Kernel) for f, _ in self.functions.values())


@dataclass
class State:
    """Of all runs, between two calls: everything that the next step depends on."""

    t: Array  # (runs,)
    y: Array  # (runs, n)
    held: Array  # (runs, n_held)
    h: Array  # (runs,) next step to try, 0 to choose one
    status: Array  # (runs,)
    steps: Array  # (runs,)
    rejections: Array  # (runs,)


@dataclass
class Record:
    """An event that happened."""

    run: int
    event: str
    t: float
    y: Array


@dataclass
class Outcome:
    """Saved rows (runs, saves, n + n_held), NaN where a run did not get; how many each run saved; the last state."""

    saved: Array
    counts: Array
    state: State
    records: list[Record] = field(default_factory=list)
    interrupted: bool = False


@dataclass(frozen=True)
class Plan:
    """How it is integrated. stops: increasing times, the last the end; samples: 1 where a stop is a sample."""

    method: str
    stops: Array
    samples: Array
    saves: Array
    rtol: Array
    atol: Array
    n_control: int
    fixed: bool
    h_max: float
    threads: int | None = None
    most_steps: int | None = None


@functools.cache
def _library(method: str, lanes: int) -> machine.Library:
    """The compiled time loop of a method: one for all spacecraft, kept on disk."""
    text = stepper(METHODS[method], lanes)
    key = hashlib.sha256(f"stepper\n{machine.identity()}\n{text}".encode()).hexdigest()
    code = cache.load(key)
    if code is None:
        code = machine.machine_code(text)
        cache.store(key, code)
    return machine.Library(code, (*_ENTRIES, "advance"))


def integrate(
    system: System, plan: Plan, state: State, parameters: Array, progress: Callable[[float], None] | None = None
) -> Outcome:
    """Run every member to the last stop, a terminal event, or its failure. Ctrl-C ends it early, with what there is."""
    runs, lanes = len(state.t), LANES
    saved = np.full((runs, len(plan.saves), system.n + system.n_held), np.nan)
    outcome = Outcome(saved, np.zeros(runs, dtype=int), state)
    firsts = list(range(0, runs, lanes))
    blocks = [_Block(system, plan, outcome, parameters, first, min(first + lanes, runs)) for first in firsts]
    wish = _Wish(progress, len(blocks))
    shares = max(1, min(plan.threads or pool.cores(), len(blocks)))
    if not system.compiled:
        shares = 1

    def share(k: int) -> None:
        for block in blocks[k::shares]:
            block.run(wish)

    try:
        pool.run(share, shares)
    except KeyboardInterrupt:
        wish.stop = True
        outcome.interrupted = True
    for block in blocks:
        block.settle()
    outcome.records.sort(key=lambda r: (r.run, r.t))
    return outcome


class _Wish:
    """What the host wants while blocks run: to stop, and to know how far they are."""

    def __init__(self, progress: Callable[[float], None] | None, blocks: int) -> None:
        self.stop, self._progress, self._done = False, progress, np.zeros(blocks)
        self._index: dict[int, int] = {}

    def tell(self, block: _Block, fraction: float) -> None:
        if self._progress is not None:
            self._done[self._index.setdefault(id(block), len(self._index))] = fraction
            self._progress(float(self._done.mean()))


class _Block:
    """The memory of one block of lanes, and its course."""

    def __init__(self, system: System, plan: Plan, outcome: Outcome, parameters: Array, first: int, last: int) -> None:
        self.system, self.plan, self.outcome = system, plan, outcome
        self.first, self.count = first, last - first
        self.t_first = float(outcome.state.t[first:last].min())
        library = _library(plan.method, LANES)
        self._keep: list[Any] = [library]
        self.error: BaseException | None = None
        self.start, self.commit, self.dense, self.extra = (_ON_CONTEXT(library.address(name)) for name in _ENTRIES)
        self.advance = _ADVANCE(library.address("advance"))
        self._allocate(parameters)

    def _allocate(self, parameters: Array) -> None:
        system, plan, lanes = self.system, self.plan, LANES
        n, held, events = system.n, system.n_held, len(system.specs)
        work = max([0, *(f.work_numbers for f, _ in system.functions.values() if isinstance(f, Kernel))])
        sizes = {
            "x": 1 + n + held + system.n_parameters,
            "y": n,
            "y_new": n,
            "at": n,
            "K": n * stage_count(METHODS[plan.method]),
            "g_old": events,
            "g_new": events,
            "held_new": held,
            "lanes": int(Lane.size),
            "scratch": -(-work // lanes),
        }
        memory = _aligned(sum(sizes.values()) * lanes)
        self.blocks: dict[str, Array] = {}
        at = 0
        for name, size in sizes.items():
            self.blocks[name] = memory[at : at + size * lanes].reshape(size, lanes)
            at += size * lanes
        state, rows = self.outcome.state, self._lanes_of(np.arange(self.first, self.first + self.count))
        lane = self.blocks["lanes"]
        self.blocks["y"][:] = state.y[rows].T
        x = self.blocks["x"]
        x[1 + n : 1 + n + held] = state.held[rows].T
        x[1 + n + held :] = parameters[rows].T
        padding = np.arange(lanes) >= self.count
        lane[Lane.t], lane[Lane.h], lane[Lane.h_max] = state.t[rows], state.h[rows], plan.h_max
        lane[Lane.steps], lane[Lane.rejections] = state.steps[rows], state.rejections[rows]
        lane[Lane.status] = np.where(padding, Status.done, state.status[rows])
        stops = np.append(plan.stops, np.inf)
        lane[Lane.stop_index] = np.searchsorted(stops, state.t[rows], side="right")
        lane[Lane.stop] = stops[lane[Lane.stop_index].astype(int)]
        lane[Lane.status] = np.where(
            np.isinf(lane[Lane.stop]) & (lane[Lane.status] == 0), Status.done, lane[Lane.status]
        )
        saves = np.append(plan.saves, np.inf)
        lane[Lane.save_index] = np.searchsorted(saves, state.t[rows], side="right")
        lane[Lane.save] = saves[lane[Lane.save_index].astype(int)]
        samples = np.append(plan.samples, 0.0)
        directions = np.array([spec.direction for spec in system.specs], dtype=float)
        width = n + held
        out = [self.outcome.saved[min(r, len(state.t) - 1)].ctypes.data for r in rows]
        nowhere = np.empty(max(width, 1))
        arrays = {
            "atol": np.ascontiguousarray(plan.atol),
            "rtol": np.ascontiguousarray(plan.rtol),
            "breaks": stops,
            "samples": samples,
            "saves": saves,
            "out": np.array(
                [nowhere.ctypes.data if p else o for p, o in zip(padding, out, strict=True)], dtype=np.int64
            ),
            "directions": directions,
        }
        self.context = np.zeros(Context.size, dtype=np.int64)
        for name, array in {**self.blocks, **arrays}.items():
            self.context[Context[name]] = array.ctypes.data
        for name, (function, size) in system.functions.items():
            self.context[Context[name]] = self._address(function, size)
        self.context[Context.n], self.context[Context.n_held], self.context[Context.n_events] = n, held, events
        self.context[Context.n_control], self.context[Context.fixed] = plan.n_control, int(plan.fixed)
        self._keep += [memory, arrays, nowhere]
        self.address = self.context.ctypes.data

    def _lanes_of(self, rows: Array) -> Array:
        """One row per lane; the last is repeated in lanes without a run of their own."""
        return np.append(rows, np.full(LANES - len(rows), rows[-1]))

    def _address(self, function: Rows | None, size: int) -> int:
        """Of compiled code, or of a callback to Python. An exception there becomes NaN here, and is raised when back."""
        if function is None:
            return 0
        if isinstance(function, Kernel):
            self._keep.append(function)
            return function.block_address

        def call(x: int, result: int, scratch: int) -> None:
            out = np.ctypeslib.as_array((ctypes.c_double * (size * LANES)).from_address(result)).reshape(size, LANES)
            out[:] = np.nan
            if self.error is None:
                try:
                    out[:, : self.count] = function(self.blocks["x"][:, : self.count].T.copy()).T
                except BaseException as error:  # noqa: BLE001  (Ctrl-C too: nothing may cross compiled code)
                    self.error = error

        callback = TRACED(call)
        self._keep.append(callback)
        address = ctypes.cast(callback, ctypes.c_void_p).value
        assert address is not None
        return address

    def run(self, wish: _Wish) -> None:
        lane, most = self.blocks["lanes"], self.plan.most_steps
        t_end, t_first = self.plan.stops[-1] if len(self.plan.stops) else self.t_first, self.t_first
        self.start(self.address)
        attempts = 0
        while not wish.stop and (lane[Lane.status] == Status.running).any():
            if most is not None and attempts >= most:
                break
            chunk = CHUNK if most is None else min(CHUNK, most - attempts)
            asked = self.advance(self.address, chunk)
            attempts += chunk
            if self.error is not None:
                raise self.error
            if asked:
                self._handle_events()
                self.commit(self.address)
                self._end_stopped()
            fraction = (lane[Lane.t][: self.count].mean() - t_first) / max(t_end - t_first, 1e-300)
            wish.tell(self, fraction)
        wish.tell(self, 1.0)

    # ---- events

    def _handle_events(self) -> None:
        """Find what happened in the waiting steps; cut a lane's step at a terminal event or one with an effect."""
        lane = self.blocks["lanes"]
        self.extra(self.address)
        self._terminal: list[int] = []
        for k in map(int, np.flatnonzero(lane[Lane.event][: self.count] == 1.0)):
            for t, j in sorted((self._root(k, j), j) for j in self._crossed(k)):
                spec = self.system.specs[j]
                y = self._state_at(k, t)
                self.outcome.records.append(Record(self.first + k, spec.name, t, y.copy()))
                if spec.effect is not None or spec.terminal:
                    self._cut(k, j, t, y)
                    break

    def _crossed(self, k: int) -> list[int]:
        old, new = self.blocks["g_old"][:, k], self.blocks["g_new"][:, k]
        ways = [spec.direction for spec in self.system.specs]
        rising, falling = (old < 0) & (new >= 0), (old > 0) & (new <= 0)
        return [j for j, way in enumerate(ways) if (rising[j] and way >= 0) or (falling[j] and way <= 0)]

    def _state_at(self, k: int, t: float) -> Array:
        lane = self.blocks["lanes"]
        lane[Lane.theta] = 0.0
        lane[Lane.theta, k] = (t - lane[Lane.t, k]) / lane[Lane.h_tried, k]
        self.dense(self.address)
        return self.blocks["at"][:, k]

    def _values_at(self, k: int, t: float, y: Array) -> Array:
        """The event functions of lane k."""
        x = self.blocks["x"]
        x[0], x[1 : 1 + self.system.n] = t, y[:, None]
        values = np.empty((len(self.system.specs), LANES))
        TRACED(int(self.context[Context.events]))(x.ctypes.data, values.ctypes.data, self.blocks["scratch"].ctypes.data)
        return values[:, k]

    def _root(self, k: int, j: int) -> float:
        """Time at which event j changes sign in the waiting step of lane k."""
        from scipy.optimize import brentq

        lane = self.blocks["lanes"]
        t0, t1 = lane[Lane.t, k], lane[Lane.t_new, k]

        def g(t: float) -> float:
            return float(self._values_at(k, t, self._state_at(k, t).copy())[j])

        if g(t1) == 0.0 or g(t0) * g(t1) > 0:  # at the very end, within round-off
            return float(t1)
        return float(brentq(g, t0, t1, xtol=1e-15 * max(abs(t1), 1e-3), rtol=4 * np.finfo(float).eps))

    def _cut(self, k: int, j: int, t: float, y: Array) -> None:
        """End the waiting step of lane k at time t."""
        system, lane, x = self.system, self.blocks["lanes"], self.blocks["x"]
        spec = system.specs[j]
        y = y.copy()
        if spec.effect is not None:
            x[0, k], x[1 : 1 + system.n, k] = t, y
            y = np.asarray(spec.effect(x[:, k].copy(), y), dtype=float)
        lane[Lane.t_new, k] = t
        self.blocks["y_new"][:, k] = y
        if spec.terminal:
            self._terminal.append(k)
            return
        x[0], x[1 : 1 + system.n] = t, y[:, None]
        K_new = np.empty((system.n, LANES))
        TRACED(int(self.context[Context.rhs]))(x.ctypes.data, K_new.ctypes.data, self.blocks["scratch"].ctypes.data)
        place = 4 if self.plan.method == "gauss6" else len(METHODS[self.plan.method].c)
        self.blocks["K"][place * system.n : (place + 1) * system.n, k] = K_new[:, k]
        self.blocks["g_new"][:, k] = self._values_at(k, t, y)
        self.blocks["g_new"][j, k] = 0.0  # so that it does not happen twice

    def _end_stopped(self) -> None:
        for k in self._terminal:
            self.blocks["lanes"][Lane.status, k] = Status.stopped

    # ---- the end

    def settle(self) -> None:
        """Write the lanes back to the rows of the outcome."""
        lane, rows, k = self.blocks["lanes"], slice(self.first, self.first + self.count), slice(0, self.count)
        n, held, state = self.system.n, self.system.n_held, self.outcome.state
        state.t[rows], state.y[rows], state.h[rows] = lane[Lane.t][k], self.blocks["y"][:, k].T, lane[Lane.h][k]
        state.held[rows] = self.blocks["x"][1 + n : 1 + n + held, k].T
        state.status[rows] = lane[Lane.status][k]
        state.steps[rows], state.rejections[rows] = lane[Lane.steps][k], lane[Lane.rejections][k]
        self.outcome.counts[rows] = lane[Lane.save_index][k].astype(int)


def _aligned(count: int) -> Array:
    """Zeros that begin at a multiple of 64 bytes."""
    memory = np.zeros(count + 8)
    skip = (-memory.ctypes.data // 8) % 8
    return memory[skip : skip + count]


def initial_samples(system: System, state: State, parameters: Array, rows: Sequence[int]) -> None:
    """Fill the held values of those runs by the update function at their present states."""
    if system.update is None or not len(rows):
        return
    x = np.hstack([state.t[rows, None], state.y[rows], state.held[rows], parameters[rows]])
    state.held[rows] = system.update(x)
