"""What the engine is given and what it leaves: the functions of a run, its plan, and the state between two calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...algebra import Array
from ...tracing import Kernel
from .gathered import Gathered, is_compiled
from .measures import Measures
from .tracking import Tracked

# x (runs, ...) to results (runs, ...): compiled, or called from Python at each step
Rows = Kernel | Gathered | Callable[[Array], Array]


@dataclass(frozen=True)
class EventSpec:
    """How one component of the event function is treated. effect(x (row) before it, y) -> y after it, or None.
    Of several at one instant, each is given the y that the one before has left.

    turn(x, y, rises) -> y: of a switch in the right-hand side, which nobody asked for: what the jump does to y. The
    step ends just beyond, and one that seems to turn back by round-off undoes what it did.

    moves(x, rises): in a differentiated run, the derivatives of its time, (columns,).
    """

    name: str
    terminal: bool = False
    direction: int = 0
    effect: Callable[[Array, Array], Array] | None = None
    turn: Callable[[Array, Array, bool], Array] | None = None
    moves: Callable[[Array, bool], Array] | None = None

    @property
    def changes(self) -> bool:
        """True if y is another afterwards, by a function in Python."""
        return self.effect is not None or self.turn is not None

    @property
    def cuts(self) -> bool:
        """True if the step ends there."""
        return self.terminal or self.changes


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
    measures: tuple[Measures, ...] = ()
    tracked: Tracked | None = None
    single: bool = False  # the right-hand side is computed in floats; all that stands in memory is doubles

    @property
    def x_size(self) -> int:
        return 1 + self.n + self.n_held + self.n_parameters

    @property
    def followed(self) -> tuple[Measures | Tracked, ...]:
        """What is known of a run beside its state, in the order in which it stands."""
        return self.measures if self.tracked is None else (*self.measures, self.tracked)

    @cached_property
    def fresh(self) -> Array:
        """What stands there for a run that has made no step."""
        return np.concatenate([np.zeros(0), *(m.fresh for m in self.followed)])

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
        functions = [*(f for f, _ in self.functions.values()), *(m.function for m in self.followed)]
        return all(is_compiled(f) for f in functions)

    @property
    def gathered(self) -> bool:
        """Its right-hand side fills vectors by itself: a run then needs no lanes beside it."""
        return isinstance(self.rhs, Gathered)


@dataclass(frozen=True)
class Plan:
    """How it is integrated. stops: increasing times, the last the end; samples: what each is (`Stop`)."""

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

    @property
    def stop_times(self) -> Array:
        """Then infinity: there is always a next one."""
        return np.append(self.stops, np.inf)

    @property
    def save_times(self) -> Array:
        """Likewise."""
        return np.append(self.saves, np.inf)


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
    g: Array = field(default_factory=lambda: np.zeros((0, 0)))  # (runs, events) at t; empty, or NaN, to compute them
    # (runs, ...) what the method remembers of the steps before (integrators/method.py)
    of_method: Array = field(default_factory=lambda: np.zeros((0, 0)))
    # (runs, ...) of each group of measures: how often it was looked at, when next, and what is left of it (measures.py)
    measured: Array = field(default_factory=lambda: np.zeros((0, 0)))

    @classmethod
    def begin(cls, t: Array, y: Array, held: Array, h: Array) -> State:
        """Of runs that have made no step yet."""
        zeros = np.zeros(len(t))
        return cls(t, y, held, h, zeros, zeros.copy(), zeros.copy())


@dataclass
class Record:
    """An event that happened, and the state just before any effect."""

    run: int
    event: str
    t: float
    y: Array
    held: Array


@dataclass
class Outcome:
    """Saved rows (runs, saves, n + n_held), NaN where a run did not get; the last state; events;
    whether it was interrupted.

    error: of a function called from Python, which interrupted it. unresolved: events that swing faster than they could
    be followed, and how long the intervals between two looks were.
    """

    saved: Array
    state: State
    records: list[Record] = field(default_factory=list)
    interrupted: bool = False
    error: Exception | None = None
    unresolved: dict[str, float] = field(default_factory=dict)
