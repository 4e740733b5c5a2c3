"""Where the runs of a `Simulation` stand, what acts on them, and what became of them since their start."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..algebra import Array
from ..tracing import Kernel
from .engine.compiling import SimulationWarning, compiled, for_many
from .engine.pausing import SHOWN
from .engine.resident import Resident
from .engine.resident_on_card import ResidentOnCard
from .engine.status import Status
from .engine.system import Outcome, Plan, System
from .integrators.stiffness import stability_share
from .problem.equations import Equations
from .problem.own_values import Own
from .problem.runs import Runs, constants
from .problem.settings import Settings
from .problem.times import Times
from .result.assembly import event_of, failure, trajectory_of
from .result.between_steps import Present, Reader
from .result.signals import loads_at
from .result.trajectory import STEPPED, Event, Trajectory


class Standing:
    """rows: (runs, y and held), as they are now, in memory that the engine writes to."""

    def __init__(
        self, equations: Equations, system: System, resident: Resident | ResidentOnCard, own: Own, single: bool
    ) -> None:
        self._equations, self._system, self._resident, self._own = equations, system, resident, own
        self._single, self._shown = single, resident.shown
        self._reader = Reader(equations, resident.shown, single)
        self.rows = resident.shown[:, len(SHOWN) :]

    @property
    def t(self) -> Any:
        return self._reader.time(self._own.values.epoch)

    @property
    def q(self) -> Array:
        return self._reader.q

    @property
    def v(self) -> Array:
        return self._reader.v(self._own.values.constants)

    @property
    def present(self) -> Present:
        return self._reader.present(self._own.values.epoch, self._own.values.constants)

    @property
    def now(self) -> float:
        """The latest time of those that go on, or of all if none does, inside."""
        waiting = self._shown[self._shown[:, 1] == Status.paused, 0]
        return float(waiting.max() if len(waiting) else self._shown[:, 0].max())

    # ---- what acts

    @property
    def signals(self) -> dict[str, Array]:
        x = self._x()
        found = {name: np.asarray(value) for name, value in self._loads_at(x).items()}
        if self._potential is not None:
            found["potential"] = np.asarray(self._potential(x))
        return {name: value[0] for name, value in found.items()} if self._single else found

    @cached_property
    def _loads_at(self) -> Callable[[Array], Mapping[str, Array]]:
        return for_many(partial(loads_at, self._equations), self._equations.layout.size)

    @cached_property
    def _potential(self) -> Callable[[Array], Array] | None:
        outer = self._equations.environment
        if outer is None or outer.potential is None:
            return None
        return compiled(self._equations.potential, self._equations.layout.size)

    def _x(self) -> Array:
        at, own = self._equations.layout, self._own.values.constants
        x = np.zeros((len(own), at.size))
        x[:, 0], x[:, 1 : 1 + self.rows.shape[1]] = self._shown[:, 0], self.rows
        x[:, at["run"].start :][:, : own.shape[1]] = own
        for row in x:
            self._equations.fill(row)
        return x

    def rows_now(self) -> Array:
        """As they are, with what runs that wait at a sample will hold if nothing is changed; a law in Python is asked
        when it is time.
        """
        rows, update, due = self.rows.copy(), self._system.update, self._resident.due()
        if isinstance(update, Kernel) and due.any():
            rows[due, self._system.n :] = update(self._x()[due])
        return rows

    # ---- what became of them

    def events(self, times: Times) -> tuple[Event, ...]:
        records = sorted(self._resident.outcome.records, key=lambda r: (r.run, r.t))
        return tuple(event_of(self._equations, record, times, self._own.values.constants) for record in records)

    def failures(self, lost: Sequence[int]) -> list[str]:
        """When and why these runs failed, in words."""
        state, own, epoch = self._resident.present().state, self._runs(), self._own.values.epoch
        return [failure(self._equations, state, epoch + state.t[k], own, k) for k in lost]

    def trajectory(
        self, times: Times, saves: Array, rows: Array, plan: Plan, settings: Settings, functions: Mapping[str, Any]
    ) -> Trajectory:
        """rows: (runs, saves, y and held), at the times `saves` (inside)."""
        found, own, rows = self._resident.present(), self._runs(), rows.copy()
        rows[saves > found.state.t[:, None]] = np.nan
        outcome = Outcome(rows, found.state, found.records, unresolved=found.unresolved)
        share = stability_share(self._system, plan, 0.0, found.state, constants(self._equations, own))
        equations = replace(self._equations, t0=self._own.values.epoch)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimulationWarning)  # the step in which a run failed has said so
            made = trajectory_of(equations, outcome, plan, own, settings, functions, times, None, share)
        made.data.attrs[STEPPED] = 1
        return made

    def _runs(self) -> Runs:
        return self._own.all(self.q, self.v)
