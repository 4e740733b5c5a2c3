"""Measures: functions of x that are looked at while a run goes on and reduced at once, so that nothing of it need be saved.

A run is looked at where it starts, after every `every`-th accepted step, and where it ends (by the host). In between the compiled loop
puts the state aside and evaluates the function when some lane is to be looked at again: lanes that are out of step with each other then
still share one evaluation, and no number depends on which lanes do.

The memory of a group in a block is a column of vectors of lanes:

    countdown | pending | looks | reduced (m) | value (m) | x, as it was put aside
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ...algebra import Array
from ...tracing import Kernel
from ...tracing.loops import Block, Mask, Module, Pointer, Vector
from .context import Context, StepFunction

COUNTDOWN, PENDING, LOOKS, REDUCED = range(4)  # places in a group's memory
SHARE = 0.01  # of the time of a run that looking at it may take
COSTS = {
    "sin": 8,
    "cos": 8,
    "sqrt": 8,
    "recip": 8,
    "pow": 40,
    "exp": 20,
    "log": 20,
    "atan2": 30,
    "asin": 30,
    "acos": 30,
    "tan": 20,
}


class Reduce(IntEnum):
    """What is kept of all that was looked at. NaN stays, once it was seen."""

    first = 0
    last = 1
    largest = 2
    smallest = 3


@dataclass(frozen=True)
class Measures:
    """function: of x (runs, size) to values (runs, m). every: so many accepted steps from one look to the next."""

    function: Kernel | Callable[[Array], Array]
    reductions: tuple[Reduce, ...]
    every: int = 1

    @property
    def count(self) -> int:
        return len(self.reductions)

    @property
    def numbers(self) -> int:
        """Of a run, between two calls: looks, countdown and what is reduced."""
        return 2 + self.count

    def memory(self, x_size: int) -> int:
        """Vectors of lanes."""
        return REDUCED + 2 * self.count + x_size

    def with_look(self, rows: Array, x: Array) -> tuple[Array, Array]:
        """looks (runs,) and reduced values (runs, m) of runs, after one more look at x (runs, size). rows: (runs, numbers)."""
        looks, reduced, value = rows[:, 0], rows[:, 2:], np.asarray(self.function(x), dtype=float)
        kept = np.empty(value.shape)
        for j, how in enumerate(self.reductions):
            kept[:, j] = _reduced(how, reduced[:, j], value[:, j], looks > 0)
        return looks + 1.0, kept


def _reduced(how: Reduce, old: Array, new: Array, known: Array) -> Array:
    if how is Reduce.last:
        return new
    keep = {Reduce.first: known, Reduce.largest: new <= old, Reduce.smallest: new >= old}[how]
    return np.where(known & (keep | np.isnan(old)), old, new)


def steps_between_looks(measure: Kernel, rhs: object, evaluations: int) -> int:
    """So many that looking takes a hundredth of the time: counted in operations, hence the same on every machine.

    evaluations: of the right-hand side in a step.
    """
    if not isinstance(rhs, Kernel):
        return 1  # it is called from Python, which takes far longer
    return max(1, math.ceil(_operations(measure) / (SHARE * evaluations * _operations(rhs))))


def _operations(kernel: Kernel) -> int:
    return sum(count * COSTS.get(op, 1) for op, count in kernel.graph.counts.items())


# ---- compiled


class Group:
    """One of the groups of measures, in a function of the time loop: a row of the table of words."""

    function, count, every, memory, reductions = range(5)
    WORDS = 5

    def __init__(self, f: StepFunction, row: Pointer) -> None:
        self._row, self.m = row, row.integer(self.count)
        self.block = Block(f, row.pointer(self.memory).name)
        self.reduced = self.block.after(REDUCED)
        self.value = self.reduced.after(self.m)
        self.x = self.value.after(self.m)

    def step_count(self, f: StepFunction) -> Vector:
        return f.broadcast(self._row.integer(self.every).number())

    def evaluate(self, f: StepFunction) -> None:
        f.call(self._row.pointer(self.function), self.x, self.value, f.scratch)

    def reduction(self, f: StepFunction, j: object) -> Vector:
        return f.broadcast(self._row.pointer(self.reductions).number(j))  # type: ignore[arg-type]


def look(module: Module, lanes: int) -> None:
    """The function `look(ctx, group)`: evaluate what was put aside, in the lanes where something was, and reduce it."""
    f = StepFunction(module, "look", lanes, "group")
    group = Group(f, f.argument("group"))
    pending = group.block[PENDING].equals(1.0)
    first = group.block[LOOKS].equals(0.0)
    group.evaluate(f)
    with f.loop(group.m) as j:
        how, old, new = group.reduction(f, j), group.reduced[j], group.value[j]
        keep = how.equals(Reduce.first) | (how.equals(Reduce.largest) & (new <= old))
        keep = keep | (how.equals(Reduce.smallest) & (new >= old)) | (~how.equals(Reduce.last) & ~old.equals(old))
        group.reduced[j] = (pending & (first | ~keep)).where(new, old)
    group.block[LOOKS] = group.block[LOOKS] + pending.where(1.0, 0.0)
    group.block[PENDING] = 0.0
    f.end()


def look_at_step(f: StepFunction, accepted: Mask) -> None:
    """Put accepted states aside where it is time to; t and y are those of the end of the step."""
    table = f.pointer_at(Context.measures)
    with f.loop(f.integer_at(Context.n_measures)) as g:
        row = table.at(g * Group.WORDS)
        group = Group(f, row)
        rest = group.block[COUNTDOWN] - accepted.where(1.0, 0.0)
        due = accepted & (rest <= 0.0)
        group.block[COUNTDOWN] = due.where(group.step_count(f), rest)
        with f.when(due.any()):
            with f.when((due & group.block[PENDING].equals(1.0)).any()):
                f.call_named("look", f.argument("ctx"), row)
            f.put_state_in_x()
            f.copy(f.x, group.x, f.n + f.n_held + 1, due)
            group.block[PENDING] = due.where(1.0, group.block[PENDING])
