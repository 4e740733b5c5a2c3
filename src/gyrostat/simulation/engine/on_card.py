"""All runs through the compiled time loop on a CUDA card (cuda_loop.py): what the host does.

Runs lie on the card until they have ended. A launch gives each that waits a share of steps; between two the host looks
at who goes on, at Ctrl-C, and at events: a run that asks makes that one step on the CPU, where roots are found, and
goes back. No number depends on how many threads there are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...algebra import Array
from ...tracing import cards
from ..integrators.explicit import Explicit
from ..integrators.methods import METHODS
from .context import Lane
from .cuda_fixed import THREADS
from .cuda_loop import RUNS, loop_text
from .gathered import is_compiled
from .integrate import Course, integrate
from .interruption import ctrl_c, refuse_part
from .queue_of_runs import begun_with
from .status import Status
from .system import Outcome, Plan, State, System

SHARE = 4096  # attempted steps of a run in a launch: some seconds of a full card
FOREVER = 2**62


def integrate_on_card(
    system: System, plan: Plan, state: State, parameters: Array, progress: Callable[[float], None] | None = None
) -> Outcome:
    """As `integrate`, on the card."""
    require_card_can(system, plan)
    runs = _Runs(system, plan, state, parameters)
    course = Course(progress, runs.total, 1)
    with ctrl_c(course.interrupt), contextlib.suppress(KeyboardInterrupt):  # the course was told
        while course.goes_on() and len(waiting := runs.waiting()):
            runs.launch(waiting)
            asking = runs.asking()
            if len(asking):
                step = runs.one_step_on_cpu(asking)
                if step.error is not None:
                    course.leave(step.error)
                elif step.interrupted:
                    course.interrupt()
            course.tell(0, runs.progress)
    if course.error is not None:
        raise course.error
    outcome = runs.close()
    outcome.interrupted, outcome.error = course.interrupted, course.raised
    if outcome.interrupted and outcome.error is None:
        refuse_part()
    return outcome


def require_card_can(system: System, plan: Plan) -> None:
    """Raises a ValueError that names what the card cannot do."""
    able = [name for name, method in METHODS.items() if isinstance(method, Explicit)]
    if plan.method not in able:
        raise ValueError(
            f"device='cuda' cannot run integrator '{plan.method}', which solves for its stages: use one of {able}, or "
            "leave device= out."
        )
    if system.gathered:
        raise ValueError("device='cuda' cannot run members that share a clock: leave device= out.")
    functions = {name: f for name, (f, _) in system.functions.items()}
    functions |= {f"measure {k}": m.function for k, m in enumerate(system.followed)}
    called = [name for name, f in functions.items() if not is_compiled(f)]
    if called:
        raise ValueError(
            f"device='cuda': {', '.join(called)} of this run would be called from Python at each step (a warning has "
            "said why), and the card knows no Python: write it in functions of gyrostat.algebra, or leave device= out."
        )


class _Runs:
    """Runs in the memory of the card: arrays (numbers, runs)."""

    def __init__(self, system: System, plan: Plan, state: State, parameters: Array) -> None:
        self.system, self.plan, self.total = system, plan, len(state.t)
        self.card, self.xp = cards.card(), cards.card().xp
        method = METHODS[plan.method]
        text = loop_text(system, method, fixed=plan.fixed, n_control=plan.n_control)
        self.module = self.card.module(text)
        self._parameters = parameters
        self._remembered = list(method.remembered(1).lasting)
        self._unresolved: dict[str, float] = {}
        self._records: list[Any] = []
        self._rows: list[tuple[Array, Array]] = []  # of runs, saved in steps that the CPU made
        self._most = FOREVER if plan.most_steps is None else plan.most_steps
        self._arrays = self._known(state)
        self._arrays["parameters"] = self.card.columns(parameters)
        self._arrays["made"] = self.card.array(np.array(state.steps + state.rejections))
        self._asked = self.xp.zeros(self.total)
        self._saved = self.xp.full((self.total, len(plan.saves), system.n + system.n_held), np.nan)
        tracked = () if system.tracked is None else system.tracked.directions
        tables = {
            "atol": plan.atol,
            "rtol": plan.rtol,
            "breaks": plan.stop_times,
            "samples": np.append(plan.samples, 0.0),
            "saves": plan.save_times,
            "directions": [spec.direction for spec in system.specs],
            "track_directions": tracked,
        }
        self._tables = [self.card.array(np.append(np.asarray(x, dtype=float), 0.0)) for x in tables.values()]

    def _known(self, state: State) -> dict[str, Any]:
        """What changes of runs, on the card, a column a run; what their method remembers is part of their lanes.

        Most of it is the same for all that have not begun, and never stands on the host.
        """
        count, fresh, events = len(state.t), self.system.fresh, len(self.system.specs)
        lanes = self.xp.zeros((int(Lane.size) + len(fresh), count))
        for lane, values in begun_with(self.plan, state).items():
            lanes[lane] = self.card.array(values) if isinstance(values, np.ndarray) else values
        measured = lanes[Lane.size :]
        if state.measured.shape == (count, len(measured)):
            measured[...] = self.card.columns(state.measured)
        else:
            measured[...] = self.card.columns(fresh[None])
        if state.of_method.shape == (count, len(self._remembered)):
            lanes[self._remembered] = self.card.columns(state.of_method)
        g = state.g if state.g.shape == (count, events) else np.full((count, events), np.nan)
        return {"lanes": lanes} | {
            name: self.card.columns(x) for name, x in {"y": state.y, "held": state.held, "g": g}.items()
        }

    def waiting(self) -> Array:
        """Runs that have not ended."""
        lanes = self._arrays["lanes"]
        attempts = lanes[Lane.steps] + lanes[Lane.rejections] - self._arrays["made"]
        runs = (lanes[Lane.status] == float(Status.running)) & (attempts < self._most)
        return self.xp.flatnonzero(runs).astype(np.int64)

    def launch(self, waiting: Any) -> None:
        """Each of them goes on by a share of steps."""
        threads = min(len(waiting), self.card.resident())
        row = int(np.prod(self._saved.shape[1:]))
        sizes = [len(waiting), self.total, SHARE, self._most]
        own = [self.xp.zeros(1, dtype=np.uint64), waiting, self._asked, self._saved]
        runs = [self._arrays[name] for name in RUNS]
        self.card.launch(self.module, "integrate", threads, THREADS, [*sizes, *own, row, *runs, *self._tables])

    def asking(self) -> Array:
        """Runs in whose next step something may happen."""
        found = np.flatnonzero(self.card.host(self._asked)) if self.system.specs else np.zeros(0, dtype=int)
        if len(found):
            self._asked[...] = 0.0
        return found

    def one_step_on_cpu(self, rows: Array) -> Outcome:
        """With its events, from where these runs stand; what came of it."""
        there = self.xp.asarray(rows)
        state = self._state(there)
        outcome = integrate(self.system, replace(self.plan, most_steps=1), state, self._parameters[rows])
        self._records += [replace(record, run=int(rows[record.run])) for record in outcome.records]
        for name, length in outcome.unresolved.items():
            self._unresolved[name] = min(length, self._unresolved.get(name, np.inf))
        self._rows.append((rows, outcome.saved))
        for name, x in self._known(outcome.state).items():
            self._arrays[name][:, there] = x
        return outcome

    def _state(self, rows: Any) -> State:
        """Where runs stand."""
        lanes = self._arrays["lanes"]
        return State(
            **{name: self.card.rows(self._arrays[name][:, rows]) for name in ("y", "held", "g")},
            of_method=self.card.rows(lanes[self._remembered][:, rows]),
            measured=self.card.rows(lanes[Lane.size :, rows]),
            **{name: self.card.host(lanes[Lane[name], rows]) for name in ("t", "h", "status", "steps", "rejections")},
        )

    def progress(self) -> float:
        """How many runs are behind us, those under way in part."""
        lanes = self._arrays["lanes"]
        end = self.plan.stops[-1] if len(self.plan.stops) else 0.0
        begin = self.plan.saves[0] if len(self.plan.saves) else 0.0
        share = (lanes[Lane.t] - begin) / max(end - begin, 1e-300)
        ended = lanes[Lane.status] != float(Status.running)
        return float(self.xp.where(ended, 1.0, self.xp.clip(share, 0.0, 1.0)).sum())

    def close(self) -> Outcome:
        """What there is when the card has come to rest."""
        outcome = Outcome(self.card.host(self._saved), self._state(slice(None)))
        for rows, saved in self._rows:
            outcome.saved[rows] = np.where(np.isnan(saved), outcome.saved[rows], saved)
        outcome.records = sorted(self._records, key=lambda r: (r.run, r.t))
        outcome.unresolved = self._unresolved
        return outcome
