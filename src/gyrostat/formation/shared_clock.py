"""Members that see each other are integrated with one step size: explicit Runge-Kutta on all of their states at once.

Each group's right-hand side is compiled once and called on all of its members as a batch; before every call, the states that a
member sees are gathered into its row. So an evaluation costs the sum of the members' own, plus the copying of what they see; the
combination of stages is a product of a short vector with the stacked states. A step is accepted if every member's error is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array
from ..simulation.engine.interruption import question
from ..simulation.engine.status import Status, Stop
from ..simulation.engine.system import Outcome, Plan, State, System
from ..simulation.integrators.explicit import Explicit
from ..simulation.integrators.methods import METHODS
from ..simulation.problem.layout import Layout
from .coupling import View

SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0


@dataclass
class Part:
    """One group on the clock. x: (members, size), the argument of its functions; sees: its views, with the parts they look at."""

    system: System
    layout: Layout
    plan: Plan
    state: State
    x: Array
    sees: Sequence[tuple[View, int]]

    @property
    def count(self) -> int:
        return len(self.x)


class Clock:
    """All parts as one vector y, with views of it by part."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        sizes = [part.count * part.layout.n for part in parts]
        ends = np.cumsum(sizes)
        self.at = [slice(int(e - s), int(e)) for s, e in zip(sizes, ends, strict=True)]
        self.y = np.concatenate([part.state.y.ravel() for part in parts])
        self.t = float(parts[0].state.t[0])
        self.steps = self.rejections = 0

    def of(self, y: Array, k: int) -> Array:
        part = self.parts[k]
        return y[self.at[k]].reshape(part.count, part.layout.n)

    def fill(self, t: float, y: Array) -> None:
        """Every member's row: time, its own state, and the states it sees."""
        for k, part in enumerate(self.parts):
            part.x[:, 0] = t
            part.x[:, part.layout.state] = self.of(y, k)
        for part in self.parts:
            for view, other in part.sees:
                there, at = self.of(y, other), self.parts[other].layout
                for letter in ("q", "v"):
                    seen = there[:, at.row(letter)][view.rows]
                    part.x[:, part.layout[f"input {letter}_{view.name}"]] = seen.reshape(part.count, -1)

    def rate(self, t: float, y: Array) -> Array:
        """d/dt y."""
        self.fill(t, y)
        return np.concatenate([part.system.rhs(part.x).ravel() for part in self.parts])

    def sample(self, t: float, which: Sequence[bool]) -> None:
        """Sampled controllers of the parts named take a new sample, all from the same instant."""
        self.fill(t, self.y)
        taken = [
            part.system.update(part.x) if on and part.system.update is not None else None
            for part, on in zip(self.parts, which, strict=True)
        ]
        for part, held in zip(self.parts, taken, strict=True):
            if held is not None:
                part.state.held[:] = held
                part.x[:, part.layout.held] = held


def integrate_together(
    parts: Sequence[Part], method: str, fixed: float | None, h_max: float, progress: Callable[[float], None] | None
) -> list[Outcome]:
    """To the end of the parts' plans. Plans share saves and end; stops and samples may differ. fixed: the step, if it is."""
    tableau = METHODS[method]
    if not isinstance(tableau, Explicit):
        raise ValueError(  # noqa: TRY004
            f"members that see each other are integrated by an explicit method; '{method}' is implicit. Choose 'dop853', 'rk45', or "
            f"'rk4' with a step."
        )
    clock = Clock(parts)
    rtol, atol, controlled = _tolerances(parts)
    saves = parts[0].plan.saves
    saved = [np.full((p.count, len(saves), p.layout.n + p.layout.n_held), np.nan) for p in parts]
    stops, samples = _stops(parts)
    t0 = clock.t
    places = tableau.stages + 1 + len(tableau.extra)
    K = np.empty((places, len(clock.y)))
    status, interrupted, due = Status.running, False, int(np.searchsorted(saves, t0))
    due = _save(clock, saved, saves, due, t0, clock.y)
    clock.sample(t0, [True] * len(parts))
    K[0] = clock.rate(t0, clock.y)
    h = fixed or min(_first_step(clock.y, K[0], rtol, atol), h_max)
    next_stop = 0
    asked = question()
    most = min((p.plan.most_steps or 10**18) for p in parts)
    try:
        while next_stop < len(stops):
            if clock.steps + clock.rejections >= most:
                break
            if asked():
                interrupted = True
                break
            stop = stops[next_stop]
            last = stop - clock.t <= h * (1.0 + 1e-6)
            step = stop - clock.t if last else h
            t_new = stop if last else clock.t + step
            y_new, error = _attempt(clock, tableau, K, step, t_new, rtol, atol, controlled)
            if fixed is None:
                if not error <= 1.0:  # also where it is no number
                    clock.rejections += 1
                    factor = SAFETY / error ** (1 / tableau.root) if np.isfinite(error) else SHRINK
                    h = step * min(max(factor, SHRINK), SAFETY)
                    if h < 1e-15 * max(abs(clock.t), 1e-3):
                        status = Status.underflow if np.isfinite(error) else Status.not_finite
                        break
                    continue
                grown = step * min(max(SAFETY / max(error, 1e-30) ** (1 / tableau.root), SHRINK), GROW)
                h = min(max(h, grown) if last else grown, h_max)
            elif not np.isfinite(y_new).all():
                status = Status.not_finite
                break
            if due < len(saves) and saves[due] <= t_new:
                _extra_stages(clock, tableau, K, step)
                due = _save_within(clock, tableau, K, step, t_new, y_new, saved, saves, due)
            clock.y, clock.t = y_new, float(t_new)
            clock.steps += 1
            K[0] = K[tableau.stages]
            if last:
                if any(samples[next_stop]):
                    clock.sample(clock.t, samples[next_stop])
                K[0] = clock.rate(clock.t, clock.y)  # loads may jump here
                next_stop += 1
            if progress is not None:
                progress((clock.t - t0) / max(stops[-1] - t0, 1e-300))
    except KeyboardInterrupt:
        interrupted = True
    if next_stop == len(stops) and status == Status.running:
        status = Status.done
    return [_outcome(clock, k, saved[k], status, h, interrupted) for k in range(len(parts))]


def _tolerances(parts: Sequence[Part]) -> tuple[Array, Array, list[int]]:
    rtol = np.concatenate([np.tile(p.plan.rtol, p.count) for p in parts])
    atol = np.concatenate([np.tile(p.plan.atol, p.count) for p in parts])
    return rtol, atol, [p.plan.n_control for p in parts]


def _stops(parts: Sequence[Part]) -> tuple[Array, list[list[bool]]]:
    """Times at which any part must stop, and which parts then take a sample."""
    stops = np.unique(np.concatenate([p.plan.stops for p in parts]))
    samples = []
    for t in stops:
        row = []
        for p in parts:
            k = int(np.searchsorted(p.plan.stops, t))
            row.append(
                bool(
                    k < len(p.plan.stops)
                    and p.plan.stops[k] == t
                    and p.plan.samples[k] in (Stop.sample, Stop.sampled_breakpoint)
                )
            )
        samples.append(row)
    return stops, samples


def _first_step(y: Array, f: Array, rtol: Array, atol: Array) -> float:
    """0.01 |y| / |f| in the norm of the tolerances (Hairer, Norsett & Wanner, II.4)."""
    scale = atol + rtol * np.abs(y)
    d0, d1 = np.linalg.norm(y / scale), np.linalg.norm(f / scale)
    return 1e-6 if not (d0 > 1e-5 and 1e-5 < d1 < np.inf) else float(0.01 * d0 / d1)


def _combined(weights: Any, K: Array) -> Array:
    """sum_j weights_j K_j; None counts as zero."""
    row = np.array([0.0 if w is None else w for w in weights])
    return row @ K[: len(row)]


def _attempt(
    clock: Clock, tableau: Explicit, K: Array, h: float, t_new: float, rtol: Array, atol: Array, controlled: list[int]
) -> tuple[Array, float]:
    """y_new, and the error of the worst member in units of its tolerance; K_new is left in its place."""
    y, t = clock.y, clock.t
    before = float(np.nextafter(t_new, -np.inf))
    for s in range(1, tableau.stages):
        at = min(t + tableau.c[s] * h, before)
        K[s] = clock.rate(at, y + h * _combined(tableau.a[s - 1], K))
    y_new = y + h * _combined(tableau.b, K)
    K[tableau.stages] = clock.rate(before, y_new)
    if not tableau.errors:
        return y_new, 0.0
    scale = atol + rtol * np.maximum(np.abs(y), np.abs(y_new))
    rows = [(_combined(row, K) / scale) ** 2 for row in tableau.errors]
    worst = 0.0
    for k, part in enumerate(clock.parts):
        sums = [row[clock.at[k]].reshape(part.count, -1).sum(axis=1) for row in rows]
        if len(sums) == 1:
            error = h * np.sqrt(sums[0] / controlled[k])
        else:  # Hairer's blend of the estimates of orders 5 and 3
            blend = sums[0] + 0.01 * sums[1]
            error = h * sums[0] / np.sqrt(np.where(blend > 0, blend, 1.0) * controlled[k])
        largest = float(error.max())
        worst = max(worst, largest) if np.isfinite(largest) else np.inf
    return y_new, worst


def _extra_stages(clock: Clock, tableau: Explicit, K: Array, h: float) -> None:
    for k, (c, row) in enumerate(tableau.extra):
        K[tableau.stages + 1 + k] = clock.rate(clock.t + c * h, clock.y + h * _combined(row, K))


def _save(clock: Clock, saved: list[Array], saves: Array, due: int, t: float, y: Array) -> int:
    """The state at t, if it is to be kept."""
    if due < len(saves) and saves[due] == t:
        for k, part in enumerate(clock.parts):
            saved[k][:, due, : part.layout.n] = clock.of(y, k)
            saved[k][:, due, part.layout.n :] = part.state.held
        due += 1
    return due


def _save_within(
    clock: Clock,
    tableau: Explicit,
    K: Array,
    h: float,
    t_new: float,
    y_new: Array,
    saved: list[Array],
    saves: Array,
    due: int,
) -> int:
    while due < len(saves) and saves[due] <= t_new:
        t = saves[due]
        theta = min((t - clock.t) / h, 1.0)
        y = y_new if t == t_new else clock.y + h * _combined(tableau.weights(theta), K)
        due = _save(clock, saved, saves, due, t, y)
    return due


def _outcome(clock: Clock, k: int, saved: Array, status: Status, h: float, interrupted: bool) -> Outcome:
    part = clock.parts[k]
    count = part.count
    state = ended_state(np.full(count, clock.t), clock.of(clock.y, k).copy(), part.state.held, np.full(count, h))
    state.status[:], state.steps[:], state.rejections[:] = float(status), clock.steps, clock.rejections
    return Outcome(saved, state, [], interrupted)


def ended_state(t: Array, y: Array, held: Array, h: Array) -> State:
    """The state of runs at their end; what only the engine needs to go on is empty, with a row for each run."""
    state = State.begin(t, y, held, h)
    for name, value in vars(state).items():
        if np.ndim(value) > 1 and len(value) != len(t):
            setattr(state, name, np.zeros((len(t), *np.shape(value)[1:])))
    return state
