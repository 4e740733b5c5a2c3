"""What a method of integration is to the time loop: numbers for the host,
and the parts of a step that it writes itself.

The loop (engine/stepper.py) knows no method: it asks. A method owns its trial step, what it remembers of the steps
before, its dense output, and the points within a step at which events are looked at.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...tracing.loops import Block, Mask, Module, Vector
from ..engine.context import Lane, StepFunction
from ..engine.crossings import look_at_middle, seen_at_middle

Row = tuple[float, ...]


class Remembered(NamedTuple):
    """What the next step needs to know of the steps before: kept, run by run, in rows of `State.of_method`,
    while a run stands in no lane.

    entries: of the lane, the first of them positive where there is something to look back at; places: of blocks among
    the K. Where the first number is 0 there is nothing to look back at, as at the start and after a jump: the row is
    all zeros and is not recalled; `start` has the last word.
    lasting: entries that are kept and recalled in any case; they stand at the end of the row.
    """

    entries: tuple[Lane, ...] = ()
    places: tuple[int, ...] = ()
    lasting: tuple[Lane, ...] = ()

    def numbers(self, n: int, lanes_of_a_run: int) -> int:
        """The length of a row."""
        return len(self.entries) + len(self.places) * n * lanes_of_a_run + len(self.lasting)


class AbstractMethod(ABC):
    """One method. Names are those that users give as integrator=."""

    name: str
    order: int
    chooses_steps = True  # by the tolerances, unless a step is given
    solves_to_tolerances = False  # so that they matter with fixed steps too
    fills_block = False  # a run has all lanes of a block, not one
    saves_within = True  # has dense output; else its steps end at the times to save
    stability: float | None = (
        None  # |h lambda| on the negative real axis up to which it is stable; None: no limit, or steps are fixed
    )
    between: Row = (0.5,)  # points of a step at which events are looked at, beside its ends

    # ---- for the host

    @property
    @abstractmethod
    def evaluations(self) -> int:
        """Of the right-hand side in a step, about; those of all lanes at a time count once."""

    @abstractmethod
    def K_blocks(self, lanes: int) -> int:
        """Blocks of stages, K_1 = f(t, y) first."""

    def solver_vectors(self, n: int, lanes: int) -> int:
        """Memory to solve the stages in."""
        return 0

    def remembered(self, lanes: int) -> Remembered:
        return Remembered()

    def looks_between(self, lanes: int) -> int:
        """Blocks of event values at points between the ends of a step, and as many a little later."""
        return len(self.between)

    # ---- compiled

    def write_dense(self, module: Module, lanes: int) -> None:
        """Functions `extra_stages(ctx)` and `dense(ctx)`, if it has dense output."""
        raise NotImplementedError(f"{self.name} has no dense output")

    @abstractmethod
    def trial(self, f: StepFunction) -> None:
        """y_new, and what else an accepted step leaves, of a step of the size h_tried to t_new, whatever its error."""

    @abstractmethod
    def step(self, f: StepFunction, running: Mask, last: Mask) -> tuple[Mask, Vector]:
        """The same for an attempt: whether each lane accepts, and the next step."""

    def finish(self, f: StepFunction) -> None:
        """What an accepted step leaves beside y_new, and `step` has not computed."""
        return

    @abstractmethod
    def keep(self, f: StepFunction, accepted: Mask) -> None:
        """What the next step starts from."""

    @abstractmethod
    def look_between(self, f: StepFunction) -> None:
        """Event values near both ends and between them, into `g_near` (crossings.py)."""

    @abstractmethod
    def seen_between(self, f: StepFunction, i: Any) -> list[tuple[float, Vector, Vector]]:
        """(theta, value, slope per step) of event i at the points between."""


class AbstractWithEndSlope(AbstractMethod):
    """A method that ends its steps with K_new = f(t + h, y_new): the next one's K_1. Events are looked at in the middle
    as well, on the cubic through both ends and their slopes.
    """

    @abstractmethod
    def K_new(self, f: StepFunction) -> Block: ...

    def keep(self, f: StepFunction, accepted: Mask) -> None:
        f.copy(self.K_new(f), f.K0, f.n, accepted)

    def look_between(self, f: StepFunction) -> None:
        look_at_middle(f, self.K_new(f))

    def seen_between(self, f: StepFunction, i: Any) -> list[tuple[float, Vector, Vector]]:
        return seen_at_middle(f, i)


def write_dense(module: Module, lanes: int, weights: Callable[[Any], list[Any]]) -> None:
    """The function `dense(ctx)`: y(t + theta h) = y + h sum_j w_j(theta) K_j, into `at`."""
    f = StepFunction(module, "dense", lanes)
    h, scales = f.lane[Lane.h_tried], weights(f.lane[Lane.theta])
    blocks = [f.K(j) for j in range(len(scales))]
    with f.loop(f.n) as i:
        f.at[i] = f.y[i] + h * f.sum(scales, blocks, i)
    f.end()


# ---- weights of dense output


def combined(scales: Sequence[Any], rows: Sequence[Row]) -> list[Any]:
    """sum_k scales[k] rows[k], component by component; zeros left out, None where all are."""
    total: list[Any] = [None] * max(map(len, rows))
    for scale, row in zip(scales, rows, strict=True):
        for j, x in enumerate(row):
            if x != 0.0:
                total[j] = scale * x if total[j] is None else total[j] + scale * x
    return total


def hermite(b: Row) -> Callable[[Any], list[Any]]:
    """Cubic through y, y_new and their derivatives, for a method with weights b."""

    def weights(theta: Any) -> list[Any]:
        square = theta * theta
        blend, start, end = square * (3.0 - 2.0 * theta), theta * (1.0 - theta) * (1.0 - theta), square * (theta - 1.0)
        first = (1.0, *[0.0] * len(b))
        last = (*[0.0] * len(b), 1.0)
        return combined([blend, start, end], [(*b, 0.0), first, last])

    return weights
