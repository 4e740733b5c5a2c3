"""All runs through the compiled time loop: blocks of lanes over threads, with progress and interruption.

A lane whose run has ended is given the next that waits while the others go on.
No number depends on which lane or thread a run gets.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np

from ...algebra import Array
from ...tracing import pool
from .block import Block, queue_of, runs_per_block
from .event_search import handle_events
from .interruption import ctrl_c, question, refuse_part
from .system import Outcome, Plan, State, System

CHUNK = 128  # attempted steps between two looks at the host's wishes


def integrate(
    system: System, plan: Plan, state: State, parameters: Array, progress: Callable[[float], None] | None = None
) -> Outcome:
    """Run every member to the last stop, a terminal event, or its failure. Ctrl-C ends it early, with what there is,
    and so does an exception in a function called from Python, which is handed on in the outcome.
    """
    queue = queue_of(system, plan, state, parameters)
    blocks = -(-queue.runs // runs_per_block(system, plan.method))
    shares = max(1, min(plan.threads or pool.cores(), blocks)) if system.compiled else 1
    course = Course(progress, queue.runs, shares)

    def share(number: int) -> None:
        try:
            _run(Block(system, plan, queue), course, number)
        except BaseException as error:  # noqa: BLE001  (raised below, when all threads have come to rest)
            course.fail(error)

    with ctrl_c(course.interrupt), contextlib.suppress(KeyboardInterrupt):  # the course was told
        pool.run(share, shares, failed=course.fail)
    if course.error is not None:
        raise course.error
    outcome = queue.close()
    if course.stop:  # steps that were taken back have left rows
        outcome.saved[plan.saves > outcome.state.t[:, None]] = np.nan
    outcome.interrupted, outcome.error = course.interrupted, course.raised
    if outcome.interrupted and outcome.error is None:
        refuse_part()
    return outcome


class Course:
    """What the host wants while blocks run, and how far they are."""

    def __init__(self, progress: Callable[[float], None] | None, runs: int, shares: int) -> None:
        self.stop, self.interrupted = False, False
        self.error: BaseException | None = None
        self.raised: Exception | None = None
        self._progress, self._runs, self._done = progress, max(runs, 1), np.zeros(shares)
        self._asked = question()

    def goes_on(self) -> bool:
        """False once somebody wants it to end."""
        if not self.stop and self._asked():
            self.interrupt()
        return not self.stop

    def interrupt(self) -> None:
        self.stop = self.interrupted = True

    def fail(self, error: BaseException) -> None:
        """An interruption is no failure: what there is is kept."""
        self.stop = True
        if isinstance(error, KeyboardInterrupt):
            self.interrupted = True
        else:
            self.error = self.error or error

    def leave(self, error: Exception | KeyboardInterrupt) -> None:
        """A function of the user's ended it; what there was before its step is kept."""
        self.interrupt()
        if isinstance(error, Exception):
            self.raised = error

    def tell(self, share: int, done: Callable[[], float]) -> None:
        if self._progress is not None:
            self._done[share] = done()
            self._progress(float(self._done.sum()) / self._runs)


def _run(block: Block, course: Course, share: int) -> None:
    """Until no run waits or is under way, or somebody says stop."""
    compiled, changes = block.system.compiled, any(spec.changes for spec in block.system.specs)
    while course.goes_on():
        before = None if compiled else block.snapshot()
        try:
            block.take()
            if not len(block.seated()):
                break
            if compiled and changes:
                before = block.snapshot()
            if block.advance(CHUNK if compiled else 1):
                handle_events(block)
        except (Exception, KeyboardInterrupt) as error:  # from within a Python function: go back to before the step
            if before is None:
                raise
            block.restore(before)
            if compiled:
                _advance_to_event(block)
            course.leave(error)
        block.settle(block.ended())
        course.tell(share, block.progress)
    block.settle(block.seated())


def _advance_to_event(block: Block) -> None:
    """As far as the step that has one, of the next CHUNK; nothing of the user's is called."""
    for _ in range(CHUNK):
        before = block.snapshot()
        if block.advance(1):
            block.restore(before)
            return


def initial_samples(system: System, state: State, parameters: Array) -> None:
    """Fill the held values of all runs by the update function at their present states."""
    if system.update is not None:
        state.held[:] = system.update(np.hstack([state.t[:, None], state.y, state.held, parameters]))
