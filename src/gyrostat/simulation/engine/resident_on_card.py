"""Runs that keep their place on a CUDA card between calls: what `Resident` is on the CPU, for `gs.Simulation`.

The card has the runs; loads go there in each step, and where the runs stand comes back. Whatever is asked besides (a
snapshot, an audit) is answered by a `Resident` here, to which the runs are copied when it is asked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...algebra import Array
from ...tracing import cards
from ...tracing.cuda_text import THREADS
from ..integrators.methods import METHODS
from .block import queue_of
from .context import Lane
from .cuda_loop import POINTERS, RUNS
from .cuda_pausing import pausing_text
from .on_card import require_card_can
from .pausing import NOT_FINITE, SHOWN
from .resident import Memory, Resident, TooManySteps
from .status import Status
from .system import Outcome, Plan, State, System

MOST = 4096  # attempted steps of a run in a launch


class ResidentOnCard:
    """loads, shown and the rest: see `Resident`."""

    python = False

    def __init__(self, system: System, plan: Plan, state: State, constants: Array, n_loads: int) -> None:
        require_card_can(system, plan)
        if system.specs:
            raise ValueError(
                "device='cuda': gs.Simulation has no events there, for the CPU finds where they happen. Look at q and "
                "v after a step, or leave device= out."
            )
        self.system, self.plan, self.most_steps = system, replace(plan, most_steps=None), plan.most_steps
        self.host = Resident(system, plan, state, constants, n_loads)
        self.runs, self.n_loads, self.outcome = self.host.runs, n_loads, self.host.outcome
        self.loads, self.shown = self.host.loads, self.host.shown
        self.card = cards.card()
        text = pausing_text(system, METHODS[plan.method], fixed=plan.fixed, n_control=plan.n_control)
        self.module = self.card.module(text)
        self._pace, self._takes = 0.0, True
        self._begun = np.zeros((0, system.n_held))
        directions = () if system.tracked is None else system.tracked.directions
        given: dict[str, Any] = {"atol": plan.atol, "rtol": plan.rtol, "track_directions": directions}
        self._tables = {name: self._table(given.get(name, ())) for name in POINTERS}
        self._tables["breaks"] = self._tables["saves"] = self._table((), np.inf)
        self._send()

    # ---- between the card and the host

    def _table(self, values: Any, last: float = 0.0) -> Any:
        """Of numbers that all runs read; never empty."""
        return self.card.array(np.append(np.asarray(values, dtype=float), last))

    def _send(self) -> None:
        """The runs as the host has them."""
        n, held, blocks = self.system.n, self.system.n_held, self.host.blocks
        for block in blocks:
            block.look_at_pending()  # what was put aside stays here
        rows = [(b.blocks["y"], b.x[1 + n :], b.lane) for b in blocks]
        seated = [[part[:, b.seated()] for part in parts] for b, parts in zip(blocks, rows, strict=True)]
        y, x, lanes = (np.hstack(parts) for parts in zip(*seated, strict=True))
        known = {"y": y, "held": x[:held], "parameters": x[held:], "lanes": lanes}
        self._arrays = {name: self.card.array(known.get(name, np.zeros((1, self.runs)))) for name in RUNS}
        self._shown, self._kept = self.card.array(self.shown), self.card.array(self._begun)

    def _fetch(self) -> None:
        """The host gets the runs as they are."""
        n, held = self.system.n, self.system.n_held
        y, x, own, lanes = (self.card.host(self._arrays[name]) for name in ("y", "held", "parameters", "lanes"))
        first = 0
        for block in self.host.blocks:
            seats = block.seated()
            here = slice(first, first + len(seats))
            block.blocks["y"][:, seats], block.lane[:, seats] = y[:, here], lanes[:, here]
            block.x[1 + n : 1 + n + held, seats], block.x[1 + n + held :, seats] = x[:, here], own[:, here]
            block.look_anew()
            first = here.stop

    # ---- starts

    def begin(self, rows: Array, state: State, constants: Array) -> None:
        """Put these runs to the start that the rows of `state` are. They wait there, and have not computed anything."""
        queue = queue_of(self.system, self.plan, state, constants)
        queue.lanes[:, Lane.status] = Status.paused
        queue.lanes[:, Lane.due] = float(self.system.update is not None)
        for name, x in {"y": state.y, "held": state.held, "parameters": constants, "lanes": queue.lanes}.items():
            self._arrays[name][:, rows] = self.card.columns(np.asarray(x, dtype=float))
        self.shown[rows] = np.hstack([queue.lanes[:, list(SHOWN)], state.y, state.held])
        self._shown = self.card.array(self.shown)

    def set_stops(self, stops: Array, kinds: Array) -> None:
        self.host.set_stops(stops, kinds)
        self._tables |= {"breaks": self._table(stops, np.inf), "samples": self._table(kinds)}
        lanes = self._arrays["lanes"]
        lanes[Lane.ahead] = self._tables["breaks"][lanes[Lane.stop_index].astype(int)]

    def set_constants(self, columns: Any, values: Array) -> None:
        self._arrays["parameters"][columns] = self.card.columns(values)

    # ---- going on

    def set_pace(self, dt: float) -> None:
        self._pace = dt

    def set_pause(self, t: float) -> None:
        self._arrays["lanes"][Lane.pause] = t

    def take_loads(self, wanted: bool) -> None:
        self._takes = wanted

    def show_begun(self) -> Array:
        self._begun = np.zeros((self.runs, self.system.n_held))
        self._kept = self.card.array(self._begun)
        return self._begun

    def step(self) -> int:
        """Every run that waits to its next pause. NOT_FINITE if a load is no number; else how many stand at none."""
        if self._takes and not np.isfinite(self.loads).all():
            return NOT_FINITE
        loads = self.card.array(np.append(self.loads, 0.0))
        made = 0
        while True:
            self._launch(loads)
            made += MOST
            if not (self.shown[:, 1] == Status.running).any():
                return int((self.shown[:, 1] != Status.paused).sum())
            if self.most_steps is not None and made >= self.most_steps:
                self._halt()
                raise TooManySteps

    def _launch(self, loads: Any) -> None:
        n_loads = self.n_loads if self._takes else 0
        most = MOST if self.most_steps is None else min(MOST, self.most_steps)
        sizes = [self.runs, most, n_loads, self.n_loads, int(self._begun.size > 0)]
        own = [self._table((), self._pace), loads, self._shown, self._kept]
        runs, tables = [self._arrays[name] for name in RUNS], [self._tables[name] for name in POINTERS]
        self.card.launch(self.module, "go_on", self.runs, THREADS, [*sizes, *own, *runs, *tables])
        self.shown[...] = self.card.host(self._shown)
        self._begun[...] = self.card.host(self._kept)

    def _halt(self) -> None:
        """Runs that are under way wait where they are."""
        lanes = self._arrays["lanes"]
        running = lanes[Lane.status] == float(Status.running)
        lanes[Lane.status, running], lanes[Lane.pace, running] = float(Status.paused), 0.0
        self.shown[self.shown[:, 1] == Status.running, 1] = Status.paused
        self._shown = self.card.array(self.shown)

    def due(self) -> Array:
        """Runs that wait at a sample, (runs,)."""
        return np.asarray(self.card.host(self._arrays["lanes"][Lane.due]) == 1.0)

    # ---- memory

    def memory(self) -> Memory:
        """To come back to by `recall`, here or on the CPU."""
        self._fetch()
        return self.host.memory()

    def recall(self, kept: Memory) -> None:
        self.host.recall(kept)
        self._send()

    def fits(self, kept: Memory) -> bool:
        return self.host.fits(kept)

    def present(self) -> Outcome:
        self._fetch()
        return self.host.present()


def resident(
    system: System, plan: Plan, state: State, constants: Array, n_loads: int, device: str | None
) -> Resident | ResidentOnCard:
    """On the CPU, or on a card."""
    kind = Resident if device is None else ResidentOnCard
    return kind(system, plan, state, constants, n_loads)
