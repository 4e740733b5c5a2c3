"""Runs that keep their lanes between calls: each has its seat for good, goes on from pause to pause, and can be put
back to a start.

What crosses the border each time is a row of loads for each run on the way in, and a row of where it stands on the way
out.
"""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...tracing import Kernel, memory, pool
from .block import Block, Snapshot, queue_of
from .context import Context, Lane
from .event_search import handle_events
from .pausing import NOT_FINITE, SHOWN, Word
from .queue_of_runs import QueueOfRuns
from .status import Status
from .system import Outcome, Plan, Record, State, System

CHUNK = 128  # attempted steps between two looks at the host's wishes
WORTH_A_THREAD = 2_000_000  # vector operations: some 200 microseconds
_HOLDING = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)  # keeps the GIL: giving it back takes as long as a step
_RELEASING = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


class Memory(NamedTuple):
    """All that runs remember, and the events that happened to them."""

    blocks: tuple[Snapshot, ...]
    records: tuple[Record, ...]
    unresolved: dict[str, float]


class TooManySteps(RuntimeError):
    """A run was not where it should go after so many attempted steps."""


class Resident:
    """loads: (runs, n_loads) what the runs hold when they go on, to be written to; shown: (runs, ...) where they stand,
    in columns t, status, y and held. n_loads: 0 if a control law says what acts.
    """

    def __init__(self, system: System, plan: Plan, state: State, constants: Array, n_loads: int) -> None:
        self.most_steps, plan = plan.most_steps, replace(plan, most_steps=None)  # of one call, not of all together
        self.system, self.plan = system, plan
        self.queue: QueueOfRuns = queue_of(system, plan, state, constants)
        self.queue.take(len(state.t))
        self.runs, self.outcome = len(state.t), self.queue.outcome
        first = Block(system, plan, self.queue)
        self.seats = first.seats
        count = -(-self.runs // self.seats)
        self.blocks = [first, *(Block(system, plan, self.queue) for _ in range(1, count))]
        self.python = not system.compiled or any(spec.changes for spec in system.specs)
        for b, block in enumerate(self.blocks):
            rows = np.arange(b * self.seats, min((b + 1) * self.seats, self.runs))
            block.rows[: len(rows)] = rows
        width = len(SHOWN) + system.n + system.n_held
        self._loads, self._shown = (
            memory.aligned((_whole(count * self.seats * k, first.lanes),), np.dtype(float)) for k in (n_loads, width)
        )
        self._loads[:] = 0.0
        self.loads = self._loads[: self.runs * n_loads].reshape(self.runs, n_loads)
        self.shown = self._shown[: self.runs * width].reshape(self.runs, width)
        for b, block in enumerate(self.blocks):
            at, words = b * self.seats, block.context
            words[Context.loads] = self._loads.ctypes.data + 8 * at * n_loads
            words[Context.shown] = self._shown.ctypes.data + 8 * at * width
            words[Context.n_loads], words[Context.n_row] = n_loads, n_loads if self.seats > 1 else 0
            words[Context.n_seats] = len(block.seated())
            words[Context.n_most] = CHUNK
        self.n_loads = n_loads
        self._table = np.array([block.context.ctypes.data for block in self.blocks], dtype=np.int64)
        self._shares = self._shared(plan.threads)
        address = first.library.address("step")
        quick = system.compiled and len(self.blocks) == 1
        self._step = (_HOLDING if quick else _RELEASING)(address)
        self._records = [self._record(k) for k in range(self._shares)]
        self._pointers = [ctypes.c_void_p(record.ctypes.data) for record in self._records]

    def _shared(self, threads: int | None) -> int:
        if not isinstance(self.system.rhs, Kernel) or self.python:
            return 1
        operations = len(self.blocks) * len(self.system.rhs.graph) * self.blocks[0].method.evaluations
        return max(1, min(threads or pool.cores(), len(self.blocks), operations // WORTH_A_THREAD))

    def _record(self, share: int) -> Array:
        """What `step` is called with: the blocks of one share. The first looks at the loads of all."""
        record, blocks = np.zeros(Word.size, dtype=np.int64), len(self.blocks)
        record[Word.table], record[Word.loads] = self._table.ctypes.data, self._loads.ctypes.data
        record[Word.first], record[Word.last] = (blocks * k // self._shares for k in (share, share + 1))
        record[Word.n_loads] = len(self._loads) // self.blocks[0].lanes
        return record

    # ---- starts

    def begin(self, rows: Array, state: State, constants: Array) -> None:
        """Put these runs to the start that the rows of `state` are. They wait there, and have not computed anything."""
        queue = queue_of(self.system, self.plan, state, constants)
        queue.lanes[:, Lane.status] = Status.paused
        queue.lanes[:, Lane.due] = float(self.system.update is not None)
        for b in np.unique(rows // self.seats):
            here = np.flatnonzero(rows // self.seats == b)
            self.blocks[b].seat(rows[here] % self.seats, here, queue)
        wanted = set(map(int, rows))
        self.outcome.records[:] = [r for r in self.outcome.records if r.run not in wanted]
        self.show()

    def set_stops(self, stops: Array, kinds: Array) -> None:
        """The table of times at which steps end whatever the caller wants; one that is longer than the one before
        begins as that did."""
        self._stops, self._kinds = np.append(stops, np.inf), np.append(kinds, 0.0)
        for block in self.blocks:
            block.context[Context.breaks], block.context[Context.samples] = (
                self._stops.ctypes.data,
                self._kinds.ctypes.data,
            )
            block.lane[Lane.ahead] = self._stops[block.lane[Lane.stop_index].astype(int)]

    def set_constants(self, columns: Any, values: Array) -> None:
        """What runs have of their own, (runs, columns), from now on."""
        at = 1 + self.system.n + self.system.n_held
        places = slice(at + columns.start, at + columns.stop)
        for block in self.blocks:
            seats = block.seated()
            block.x[places, block.lanes_of_seats(seats)] = values[block.rows[seats]].T

    # ---- going on

    def set_pace(self, dt: float) -> None:
        """How far `step` goes; 0: to where `set_pause` says."""
        for block in self.blocks:
            block.context.view(np.float64)[Context.pace] = dt

    def set_pause(self, t: float) -> None:
        for block in self.blocks:
            block.lane[Lane.pause] = t

    def take_loads(self, wanted: bool) -> None:
        """Whether `step` takes the loads; otherwise runs go on with those they hold."""
        for block in self.blocks:
            block.context[Context.n_loads] = self.n_loads if wanted else 0
        vectors = len(self._loads) // self.blocks[0].lanes
        for record in self._records:
            record[Word.n_loads] = vectors if wanted else 0

    def show_begun(self) -> Array:
        """From now on `step` writes here what runs hold from its beginning on, (runs, n_held)."""
        held = self.system.n_held
        self._begun = np.zeros((len(self.blocks) * self.seats, held))
        for b, block in enumerate(self.blocks):
            block.context[Context.begun] = self._begun.ctypes.data + 8 * b * self.seats * held
        return self._begun[: self.runs]

    def step(self) -> int:
        """Every run that waits to its next pause. NOT_FINITE if a load is no number; else how many blocks had more
        than that to tell."""
        if self.python or self._shares > 1:
            return self._step_carefully()
        try:
            asking = self._step(self._pointers[0])
            if asking > 0:
                self._go_on()
        except BaseException:
            self.halt()
            raise
        return asking

    def _step_carefully(self) -> int:
        """With functions called from Python, which may raise; or on several threads."""
        before = self.memory() if self.python else None
        asking = [0] * self._shares

        def share(k: int) -> None:
            asking[k] = self._step(self._pointers[k])

        try:
            pool.run(share, self._shares)
            if min(asking) == NOT_FINITE:
                return NOT_FINITE
            for block in self.blocks:
                block.raise_error()
            if sum(asking):
                self._go_on()
        except BaseException:
            if before is None:
                self.halt()
            else:
                self.recall(before)
            raise
        return sum(asking)

    def _go_on(self) -> None:
        """Blocks that asked for the host, or have more steps to make than one call does."""
        for block in self.blocks:
            if block.context[Context.asked]:
                self._finish(block)

    def _finish(self, block: Block) -> None:
        event, made = block.context[Context.asked] == 1, CHUNK
        while True:
            if event:
                handle_events(block)
            if not (block.lane[Lane.status] == Status.running).any():
                break
            if self.most_steps is not None and made >= self.most_steps:
                raise TooManySteps
            event, made = block.advance(CHUNK), made + CHUNK
        block.show()

    def halt(self) -> None:
        """Runs that are under way wait where they are."""
        for block in self.blocks:
            running = block.lane[Lane.status] == Status.running
            block.lane[Lane.status, running] = Status.paused
            block.lane[Lane.pace, running] = 0.0
        self.show()

    def show(self) -> None:
        for block in self.blocks:
            block.show()

    def due(self) -> Array:
        """Runs that wait at a sample, (runs,)."""
        return np.concatenate([block.lane[Lane.due, block.seated()] == 1.0 for block in self.blocks])

    # ---- memory

    def memory(self) -> Memory:
        """To come back to by `recall`."""
        kept = tuple(block.snapshot() for block in self.blocks)
        return Memory(kept, tuple(self.outcome.records), dict(self.outcome.unresolved))

    def recall(self, kept: Memory) -> None:
        for block, snapshot in zip(self.blocks, kept.blocks, strict=True):
            block.restore(snapshot)
        self.outcome.records[:] = kept.records
        self.outcome.unresolved.clear()
        self.outcome.unresolved.update(kept.unresolved)
        self.show()

    def fits(self, kept: Memory) -> bool:
        """Whether it is that of runs like these."""
        shapes = [block.memory.shape for block in self.blocks]
        return shapes == [numbers.shape for numbers, _, _ in kept.blocks]

    def present(self) -> Outcome:
        """Where the runs stand, and what was looked at up to now; those that wait have come to their end. Nothing is
        saved in it."""
        before = self.memory()
        for block in self.blocks:
            block.look_now()
            block.write_back(block.seated())
        outcome = self.queue.close()
        self.recall(before)
        state = State(**{name: np.array(value) for name, value in vars(outcome.state).items()})
        state.status[state.status == Status.paused] = Status.done
        return Outcome(outcome.saved, state, list(outcome.records), unresolved=dict(outcome.unresolved))


def _whole(count: int, lanes: int) -> int:
    """The next multiple."""
    return -(-count // lanes) * lanes
