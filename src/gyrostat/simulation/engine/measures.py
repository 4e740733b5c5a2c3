"""Measures: functions of x that are looked at while a run goes on and reduced at once,
so that nothing of it need be saved.

A run is looked at where it starts; after 2, 4, 8, ... and at last every `every` accepted steps more; at breakpoints,
at terminal events and where it ends. The compiled loop puts the state aside, and evaluates the function
when some lane is to be looked at again; the host does when runs leave their lanes. Lanes that are out of step with each
other then still share one evaluation, and no number depends on which lanes do.

What is known of a run stands among the vectors that describe its lane, and goes in and out with them:

    pending, looks, due (at which of its steps), gap, reduced (m)

Values, and the x that was put aside, have memory of their own. `Context.until_look` counts the steps down before which
no lane can be due.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np

from ...algebra import Array
from ...tracing import Kernel
from ...tracing.loops import Block, Integer, Mask, Module, Pointer, Vector
from .context import Context, Lane, StepFunction
from .gathered import Gathered
from .status import Status, Stop

PENDING, LOOKS, DUE, GAP, REDUCED = range(5)  # places among what is known of a run
SHARE = 0.0008  # of the operations of a run that looks may take; in time it is two to five times as much
FIRST = 2.0  # steps before the second look
GROWTH = 2.0  # of the number of steps from one look to the next: short runs are not looked at all the time
OWN_OPERATIONS = 10  # of the time loop, for each number that it handles
COSTS = {"sqrt": 8, "recip": 8, "sin": 8, "cos": 8, "tan": 20, "asin": 30, "acos": 30, "atan2": 30}
COSTS |= {"pow": 40, "exp": 20, "log": 20}


class Reduce(IntEnum):
    """What is kept of all that was looked at. NaN stays, once it was seen."""

    first = 0
    last = 1
    largest = 2
    smallest = 3


@dataclass(frozen=True)
class Measures:
    """function: of x (runs, size) to values (runs, m). reductions: of each, in the order of `Reduce`. every: so many
    accepted steps from one look to the next, at most.
    """

    function: Kernel | Gathered | Callable[[Array], Array]
    reductions: tuple[Reduce, ...]
    every: int = 1

    def __post_init__(self) -> None:
        if list(self.reductions) != sorted(self.reductions):
            raise ValueError(
                f"reductions are {[r.name for r in self.reductions]}; expected {[r.name for r in Reduce]}."
            )

    @property
    def count(self) -> int:
        return len(self.reductions)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many of each kind."""
        return tuple(self.reductions.count(how) for how in Reduce)

    @property
    def numbers(self) -> int:
        """That are known of a run."""
        return REDUCED + self.count

    @property
    def fresh(self) -> Array:
        """Those of a run that nobody has looked at, (numbers,)."""
        row = np.zeros(self.numbers)
        row[GAP] = min(FIRST, self.every)
        return row


def steps_between_looks(measure: Kernel, rhs: object, evaluations: int) -> int:
    """So many that looking takes less than a hundredth of the time: counted in operations, hence the same on every
    machine; a power of two, so that a few operations more or less seldom move the looks.

    evaluations: of the right-hand side in a step.
    """
    if not isinstance(rhs, Kernel):
        return 1  # it is called from Python, which takes far longer
    step = evaluations * (_operations(rhs) + OWN_OPERATIONS * len(rhs.graph.results[0]))
    look = _operations(measure) + OWN_OPERATIONS * (len(measure.graph.results[0]) + measure.graph.inputs[0].size)
    return 1 << round(math.log2(max(1.0, look / (SHARE * step))))


def _operations(kernel: Kernel) -> int:
    return sum(count * COSTS.get(op, 1) for op, count in kernel.graph.counts.items())


# ---- compiled


class Word(IntEnum):
    """Places in a row of the table of groups."""

    function = 0
    every = 1
    known = 2
    work = 3
    scratch = 4  # of the function
    counts = 5  # of each kind of reduction


WORDS = Word.counts + len(Reduce)


class Group:
    """One of the groups of measures, in a function of the time loop."""

    def __init__(self, f: StepFunction, row: Pointer) -> None:
        self._row = row
        self.known = Block(f, row.pointer(Word.known).name)
        self.reduced = self.known.after(REDUCED)
        self.value = Block(f, row.pointer(Word.work).name)
        *_, (_, _, m) = self.kinds()
        self.x = self.value.after(m)

    def most_steps(self, f: StepFunction) -> Vector:
        return f.broadcast(self._row.integer(Word.every).number())

    def evaluate(self, f: StepFunction) -> None:
        f.call(self._row.pointer(Word.function), self.x, self.value, self._row.pointer(Word.scratch))

    def kinds(self) -> Iterator[tuple[Reduce, Integer, Integer]]:
        """Each kind of reduction, from which place to before which."""
        start = self._row.integer(Word.counts) * 0
        for how in Reduce:
            end = start + self._row.integer(Word.counts + how)
            yield how, start, end
            start = end

    def put_aside(self, f: StepFunction, lanes: Mask) -> None:
        """x, whose state is that of the lanes."""
        f.copy(f.x, self.x, f.integer_at(Context.n_x), lanes)
        self.known[PENDING] = lanes.where(1.0, self.known[PENDING])
        f.pointer_at_context().store(Context.pending, f.integer(1))


def each_group(f: StepFunction) -> Iterator[tuple[Group, Pointer]]:
    """In a loop over the groups: one of them, and its row."""
    with f.loop(f.integer_at(Context.n_measures)) as g:
        row = f.pointer_at(Context.measures).at(g * WORDS)
        yield Group(f, row), row


def look(module: Module, lanes: int) -> None:
    """The function `look(ctx, group)`: evaluate what was put aside, in the lanes where something was, and reduce it."""
    f = StepFunction(module, "look", lanes, "group")
    group = Group(f, f.argument("group"))
    pending = group.known[PENDING].equals(1.0)
    first = group.known[LOOKS].equals(0.0)
    group.evaluate(f)
    for how, start, end in group.kinds():
        with f.loop(end, start) as j:
            old, new = group.reduced[j], group.value[j]
            wanted = pending
            if how is Reduce.first:
                wanted = pending & first
            elif how is not Reduce.last:
                keep = (new <= old if how is Reduce.largest else new >= old) | ~old.equals(old)
                wanted = pending & (first | ~keep)
            group.reduced[j] = wanted.where(new, old)
    group.known[LOOKS] = group.known[LOOKS] + pending.where(1.0, 0.0)
    group.known[PENDING] = 0.0
    f.end()


def look_at_start(f: StepFunction, fresh: Mask) -> None:
    """Of runs that nobody has looked at, nor is about to. x holds the lanes' states."""
    for group, _ in each_group(f):
        new = fresh & group.known[LOOKS].equals(0.0) & ~group.known[PENDING].equals(1.0)
        group.put_aside(f, new)
        group.known[DUE] = new.where(f.lane[Lane.steps] + group.known[GAP], group.known[DUE])
    f.pointer_at_context().store(Context.until_look, f.integer(0))


def look_at_step(f: StepFunction, accepted: Mask, stopped: Mask) -> None:
    """Where it is time to, or the run has come to a breakpoint or its end; t and y are those of the end of the step."""
    rest = f.integer_at(Context.until_look) - 1
    f.pointer_at_context().store(Context.until_look, rest)
    with f.when(~((rest > 0) & ~stopped.any())):
        _look_where_due(f, accepted, stopped)


def look_between(module: Module, lanes: int) -> None:
    """The function `look_between(ctx)`: where it is time to, at y and t between two steps."""
    f = StepFunction(module, "look_between", lanes)
    running = f.is_(Lane.status, Status.running)
    _look_where_due(f, running, ~running & running)
    f.end()


def _look_where_due(f: StepFunction, accepted: Mask, stopped: Mask) -> None:
    lane = f.lane
    alive = f.is_(Lane.status, Status.running) | f.is_(Lane.status, Status.paused)
    ended = accepted & ~alive
    forced = ended | (stopped & (f.is_(Lane.sampled, Stop.breakpoint) | f.is_(Lane.sampled, Stop.sampled_breakpoint)))
    soonest = f.variable(1e9)
    for group, row in each_group(f):
        due = accepted & ((lane[Lane.steps] >= group.known[DUE]) | forced)
        with f.when(due.any()):
            gap = f.min(GROWTH * group.known[GAP], group.most_steps(f))
            group.known[DUE] = due.where(lane[Lane.steps] + gap, group.known[DUE])
            group.known[GAP] = due.where(gap, group.known[GAP])
            with f.when((due & group.known[PENDING].equals(1.0)).any()):
                f.call_named("look", f.argument("ctx"), row)
            f.put_state_in_x()
            group.put_aside(f, due)
        soonest[0] = f.min(group.known[DUE] - lane[Lane.steps], soonest[0])
    least = f.least_of_lanes(alive.where(soonest[0], 1e9))
    f.pointer_at_context().store(Context.until_look, least.integer())
