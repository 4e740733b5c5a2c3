"""Outcomes that look between the ends of steps: signals of a run, reduced inside the compiled loop.

A signal is a function of x. In each accepted step it is seen at the five points of Lobatto's rule, on the dense output,

    c = 0, (1 - sqrt(3/7))/2, 1/2, (1 + sqrt(3/7))/2, 1,    w = 1/20, 49/180, 16/45, 49/180, 1/20                    (1)

An integral is h sum_j w_j g_j, of order eight. An extremum is that of the five values, and of three more at the
vertices of parabolas through the best known points, wherever one of them promises to go beyond all that was seen. A
change of sign between two neighbours, or between the end of one step and the start of the next (loads may jump there),
is followed by the Illinois rule to where it happens. What is kept of a run stands among the vectors that describe its
lane (as with measures):

    begun, value (m), before (m): the signals where the step before has ended

Every value that is kept is one that the signal has on the dense output of the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

import numpy as np

from ...algebra import Array
from ...tracing import Kernel
from ...tracing.loops import Block, Integer, Mask, Module, Vector
from .context import Context, Lane, StepFunction

_OFF = float(np.sqrt(3.0 / 7.0)) / 2.0
NODES = (0.0, 0.5 - _OFF, 0.5, 0.5 + _OFF, 1.0)
WEIGHTS = (1 / 20, 49 / 180, 16 / 45, 49 / 180, 1 / 20)
VERTICES = 3  # evaluations at each extremum that is followed
HALVINGS = 12  # of the Illinois rule, which gains some three digits in two of them
NOISE = 1e-13  # relative: what a parabola promises beyond the best value known, to be followed


class Track(IntEnum):
    """What is kept of a signal, in the order in which signals stand."""

    largest = 0
    smallest = 1
    integral = 2
    first_change = 3  # when it first changed its sign, infinite: never
    last_change = 4  # when it did last, minus infinity: never
    time_positive = 5


FRESH = {Track.largest: -np.inf, Track.smallest: np.inf, Track.first_change: np.inf, Track.last_change: -np.inf}


@dataclass(frozen=True)
class Tracked:
    """function: of x (runs, size) to the signals (runs, m). kinds: of each, in the order of `Track`.
    directions: of the changes of sign that count, +1 rising, -1 falling, 0 both.
    """

    function: Kernel
    kinds: tuple[Track, ...]
    directions: tuple[int, ...]

    def __post_init__(self) -> None:
        if list(self.kinds) != sorted(self.kinds):
            raise ValueError(f"kinds are {[k.name for k in self.kinds]}; expected {[k.name for k in Track]}.")

    @property
    def count(self) -> int:
        return len(self.kinds)

    @property
    def numbers(self) -> int:
        """That are known of a run."""
        return 1 + 2 * self.count

    @property
    def work_vectors(self) -> int:
        """At the nodes, at one more point, and for the search of a change."""
        return (len(NODES) + 1) * self.count + len(Search)

    @property
    def fresh(self) -> Array:
        """Those of a run that has made no step, (numbers,)."""
        row = np.zeros(self.numbers)
        row[1 : 1 + self.count] = [FRESH.get(kind, 0.0) for kind in self.kinds]
        return row

    def words(self) -> Array:
        """The table of words, addresses still to be filled in."""
        row = np.zeros(Word.counts + len(Track), dtype=np.int64)
        row[Word.counts :] = [self.kinds.count(kind) for kind in Track]
        return row


class Word(IntEnum):
    """Places in the table at `Context.tracked`."""

    function = 0
    scratch = 1
    known = 2
    work = 3
    directions = 4  # doubles
    counts = 5  # of each kind


class Search(IntEnum):
    """Vectors in which a change of sign is sought: thetas and values on both sides; the better theta."""

    a = 0
    b = 1
    f_a = 2
    f_b = 3


class Signals:
    """In a function of the time loop."""

    def __init__(self, f: StepFunction) -> None:
        self.f, self._row = f, f.pointer_at(Context.tracked)
        self.m = f.integer_at(Context.n_tracked)
        self.known = Block(f, self._row.pointer(Word.known).name)
        self.value = self.known.after(1)
        self.before = self.value.after(self.m)
        work = Block(f, self._row.pointer(Word.work).name)
        self.nodes = [work.after(self.m * j) for j in range(len(NODES))]
        self.point = work.after(self.m * len(NODES))
        self.search = work.after(self.m * (len(NODES) + 1))

    def evaluate(self, into: Block) -> None:
        """At x."""
        self.f.call(self._row.pointer(Word.function), self.f.x, into, self._row.pointer(Word.scratch))

    def direction(self, i: Integer) -> Vector:
        return self.f.broadcast(self._row.pointer(Word.directions).number(i))

    def each(self, kind: Track) -> Iterator[Integer]:
        """In a loop over the signals of a kind."""
        start = self._row.integer(Word.counts) * 0
        for earlier in range(kind):
            start = start + self._row.integer(Word.counts + earlier)
        with self.f.loop(start + self._row.integer(Word.counts + kind), start) as i:
            yield i

    def look_at(self, theta: Vector) -> None:
        """All of them at a fraction of the attempted step, into `point`."""
        self.f.lane[Lane.theta] = theta
        self.f.call_named("track_point", self.f.argument("ctx"))


def write_tracking(module: Module, lanes: int) -> None:
    """Functions `track(ctx)`, at the end of accepted steps, and what it calls. The method has dense output."""
    _track_point(module, lanes)
    _track_change(module, lanes)
    f = StepFunction(module, "track", lanes)
    signals, accepted = Signals(f), f.is_(Lane.accepted, 1.0)
    _look_at_nodes(f, signals)
    fresh = accepted & signals.known[0].equals(0.0)
    f.copy(signals.nodes[0], signals.before, signals.m, fresh)
    for kind, sign in ((Track.largest, 1.0), (Track.smallest, -1.0)):
        for i in signals.each(kind):
            _extreme(f, signals, i, sign, accepted)
    for i in signals.each(Track.integral):
        sum_ = f.sum(WEIGHTS, signals.nodes, i) * f.lane[Lane.h_tried]
        signals.value[i] = signals.value[i] + accepted.where(sum_, 0.0)
    for kind in (Track.first_change, Track.last_change, Track.time_positive):
        for i in signals.each(kind):
            _changes(f, signals, i, kind, accepted)
    f.copy(signals.nodes[-1], signals.before, signals.m, accepted)
    signals.known[0] = accepted.where(1.0, signals.known[0])
    f.end()


def _track_point(module: Module, lanes: int) -> None:
    """`track_point(ctx)`: the signals at `Lane.theta`."""
    f = StepFunction(module, "track_point", lanes)
    f.call_named("dense", f.argument("ctx"))
    f.copy(f.at, f.stage, f.n)
    f.x[0] = f.min(f.lane[Lane.t] + f.lane[Lane.theta] * f.lane[Lane.h_tried], f.lane[Lane.before_stop])
    signals = Signals(f)
    signals.evaluate(signals.point)
    f.end()


def _look_at_nodes(f: StepFunction, signals: Signals) -> None:
    lane = f.lane
    f.call_named("extra_stages", f.argument("ctx"))
    for theta, node in zip(NODES, signals.nodes, strict=True):
        if 0.0 < theta < 1.0:
            signals.look_at(f.vector(theta))
            f.copy(signals.point, node, signals.m)
            continue
        f.copy(f.y_new if theta else f.y, f.stage, f.n)
        f.x[0] = f.min(lane[Lane.t_new], lane[Lane.before_stop]) if theta else lane[Lane.t]
        signals.evaluate(node)


def _beyond(old: Vector, new: Vector) -> Mask:
    """Whether it replaces what was largest. NaN stays, once it was seen."""
    return ~((new <= old) | ~old.equals(old))


def _extreme(f: StepFunction, signals: Signals, i: Integer, sign: float, accepted: Mask) -> None:
    """The largest of sign * signal."""
    seen = [sign * node[i] for node in signals.nodes]
    best = f.variable(sign * signals.value[i])
    for value in seen:
        best[0] = (accepted & _beyond(best[0], value)).where(value, best[0])
    points = [f.variable(0.0) for _ in range(3)]
    values = [f.variable(0.0) for _ in range(3)]
    promised = f.variable(float("-inf"))
    for j in range(len(NODES) - 2):
        a, fa = [f.vector(x) for x in NODES[j : j + 3]], seen[j : j + 3]
        theta, height = _vertex(a, fa)
        better = (height > promised[0]) & (theta > 0.0) & (theta < 1.0)
        promised[0] = better.where(height, promised[0])
        for cell, new in zip([*points, *values], [*a, *fa], strict=True):
            cell[0] = better.where(new, cell[0])
    follow = accepted & (promised[0] - best[0] > NOISE * f.abs(best[0]))
    with f.when(follow.any()):
        for _ in range(VERTICES):
            theta, _ = _vertex([p[0] for p in points], [v[0] for v in values])
            inside = follow & (theta > 0.0) & (theta < 1.0)
            signals.look_at(inside.where(theta, 0.5))
            new = sign * signals.point[i]
            best[0] = (inside & _beyond(best[0], new)).where(new, best[0])
            lowest = f.min(f.min(values[0][0], values[1][0]), values[2][0])
            taken = ~inside
            for point, height_there in zip(points, values, strict=True):
                replaced = ~taken & height_there[0].equals(lowest)
                taken = taken | replaced
                point[0] = replaced.where(theta, point[0])
                height_there[0] = replaced.where(new, height_there[0])
    signals.value[i] = sign * best[0]


def _vertex(x: list[Vector], y: list[Vector]) -> tuple[Vector, Vector]:
    """Where the parabola through three points is highest, and how high; no number if it is not."""
    first = (y[1] - y[0]) / (x[1] - x[0])
    second = ((y[2] - y[1]) / (x[2] - x[1]) - first) / (x[2] - x[0])
    top = (second < 0.0).where(0.5 * (x[0] + x[1] - first / second), float("nan"))
    return top, y[0] + first * (top - x[0]) + second * (top - x[0]) * (top - x[1])


def _changes(f: StepFunction, signals: Signals, i: Integer, kind: Track, accepted: Mask) -> None:
    """Between neighbours, the end of the step before first."""
    lane, way, value = f.lane, signals.direction(i), signals.value
    seen = [(0.0, signals.before[i]), *((c, node[i]) for c, node in zip(NODES, signals.nodes, strict=True))]
    for (a, old), (b, new) in pairwise(seen):
        rising, falling = (old < 0.0) & (new >= 0.0), (old > 0.0) & (new <= 0.0)
        changed = accepted & ((rising & (way >= 0.0)) | (falling & (way <= 0.0)))
        if kind is Track.first_change:
            changed = changed & value[i].equals(float("inf"))
        theta = f.variable(a)
        if b > a:
            with f.when(changed.any()):
                for place, start in ((Search.a, a), (Search.b, b), (Search.f_a, old), (Search.f_b, new)):
                    signals.search[place] = start
                f.pointer_at_context().store(Context.sought, i)
                f.call_named("track_change", f.argument("ctx"))
                theta[0] = signals.search[Search.b]
        if kind is Track.time_positive:
            share = changed.where(
                rising.where(b - theta[0], theta[0] - a), ((old > 0.0) | (new > 0.0)).where(b - a, 0.0)
            )
            value[i] = value[i] + accepted.where(share * lane[Lane.h_tried], 0.0)
        else:
            when = (theta[0] < 1.0).where(lane[Lane.t] + theta[0] * lane[Lane.h_tried], lane[Lane.t_new])
            value[i] = changed.where(when, value[i])


def _track_change(module: Module, lanes: int) -> None:
    """`track_change(ctx)`: where signal `Context.sought` changes its sign between `Search.a` and `b`, into `b`.

    The Illinois rule: a secant, whose older side counts half where it stays twice.
    """
    f = StepFunction(module, "track_change", lanes)
    signals, i = Signals(f), f.integer_at(Context.sought)
    s = signals.search
    with f.loop(HALVINGS):
        a, b, f_a, f_b = (s[place] for place in Search)
        theta = b - f_b * (b - a) / (f_b - f_a)
        theta = (f_b.equals(f_a) | f_b.equals(0.0)).where(b, theta)
        signals.look_at(theta)
        new = signals.point[i]
        crossed = ((new > 0.0) & (f_b < 0.0)) | ((new < 0.0) & (f_b > 0.0))
        s[Search.a] = crossed.where(b, a)
        s[Search.f_a] = crossed.where(f_b, 0.5 * f_a)
        s[Search.b], s[Search.f_b] = theta, new
    f.end()
