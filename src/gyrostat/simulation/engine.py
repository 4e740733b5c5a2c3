"""All runs through the compiled time loop: blocks of lanes over threads, with progress and interruption."""

from __future__ import annotations

import itertools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from ..algebra import Array
from ..tracing import pool
from .block import Block, past_numbers, runs_per_block
from .happenings import handle_events
from .system import Outcome, Plan, State, System

CHUNK = 128  # attempted steps between two looks at the host's wishes


def integrate(
    system: System, plan: Plan, state: State, parameters: Array, progress: Callable[[float], None] | None = None
) -> Outcome:
    """Run every member to the last stop, a terminal event, or its failure. Ctrl-C ends it early, with what there is."""
    runs = len(state.t)
    after = State(**{name: np.array(value) for name, value in vars(state).items()})
    after.g = np.full((runs, len(system.specs)), np.nan)
    if after.past.shape != (shape := (runs, past_numbers(plan.method, system.n))):
        after.past = np.zeros(shape)
    outcome = Outcome(np.full((runs, len(plan.saves), system.n + system.n_held), np.nan), after)
    width = runs_per_block(plan.method)
    course = _Course(progress, -(-runs // width))
    shares = max(1, min(plan.threads or pool.cores(), course.blocks)) if system.compiled else 1
    finished = threading.Semaphore(0)

    def share(_: int) -> None:
        try:
            block = Block(system, plan, state, parameters, outcome)
            for number in course.numbers():
                block.take(number * width, min((number + 1) * width, runs))
                _run(block, number, course)
                block.settle()
        except BaseException as error:  # noqa: BLE001  (raised below, when all threads have come to rest)
            course.fail(error)
        finally:
            finished.release()

    with _ctrl_c(course):
        try:
            pool.run(share, shares)
        except KeyboardInterrupt as error:  # while waiting for the other threads
            course.fail(error)
            for _ in range(shares):
                finished.acquire()
    if course.error is not None:
        raise course.error
    outcome.interrupted = course.interrupted
    outcome.records.sort(key=lambda r: (r.run, r.t))
    return outcome


class _Course:
    """What the host wants while blocks run, and how far they are."""

    def __init__(self, progress: Callable[[float], None] | None, blocks: int) -> None:
        self.blocks, self.stop, self.interrupted = blocks, False, False
        self.error: BaseException | None = None
        self._progress, self._done, self._next = progress, np.zeros(max(blocks, 1)), itertools.count()

    def numbers(self) -> Iterator[int]:
        """Of blocks that nobody has taken yet."""
        while not self.stop and (number := next(self._next)) < self.blocks:
            yield number

    def interrupt(self) -> None:
        self.stop = self.interrupted = True

    def fail(self, error: BaseException) -> None:
        """An interruption is no failure: what there is is kept."""
        self.stop = True
        if isinstance(error, KeyboardInterrupt):
            self.interrupted = True
        else:
            self.error = self.error or error

    def tell(self, number: int, fraction: float) -> None:
        if self._progress is not None:
            self._done[number] = fraction
            self._progress(float(self._done.mean()))


def _run(block: Block, number: int, course: _Course) -> None:
    most, compiled = block.plan.most_steps, block.system.compiled
    while not course.stop and block.running:
        left = CHUNK if most is None else min(CHUNK, most - block.attempts)
        if left <= 0:
            break
        before = None if compiled else block.memory.copy()
        try:
            if block.advance(left if compiled else 1):
                handle_events(block)
        except KeyboardInterrupt as error:  # from within a Python function: go back to before the step
            if before is None:
                raise
            block.memory[:] = before
            course.fail(error)
        course.tell(number, block.progress())


@contextmanager
def _ctrl_c(course: _Course) -> Iterator[None]:
    """The first Ctrl-C asks all blocks to stop after their present steps; the second has its usual force."""
    usual = signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return

    def ask(*_: object) -> None:
        course.interrupt()
        signal.signal(signal.SIGINT, usual)

    signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def initial_samples(system: System, state: State, parameters: Array) -> None:
    """Fill the held values of all runs by the update function at their present states."""
    if system.update is not None:
        state.held[:] = system.update(np.hstack([state.t[:, None], state.y, state.held, parameters]))
