"""Groups that see each other as one system of the engine: one vector, one step size, one clock.

    y = (y of every member, group by group),   x = (t, y, held, constants of every member)

Each group's functions are compiled once; `Gathered` calls them for all of its members, with what each of them sees. So
every integrator, events, resumption and batches of runs are those of a single spacecraft.

With N numbers under error control in all, c of them in each member of a group, the group's tolerances are multiplied by
sqrt(c/N): the norm of the whole is then the root of the sum of squares of the members' own, and a step is taken only
if the worst member's error allows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, where
from ..simulation.engine.block import lanes_of_block
from ..simulation.engine.compiling import compiled, row_by_row
from ..simulation.engine.gathered import Gathered, Part, Piece
from ..simulation.engine.integrate import integrate
from ..simulation.engine.measures import Measures, Reduce
from ..simulation.engine.progress import progress_bar
from ..simulation.engine.system import EventSpec, Outcome, Plan, Rows, System
from ..simulation.integrators.methods import METHODS
from ..simulation.integrators.stiffness import stability_share
from ..simulation.prepare import Prepared
from ..simulation.problem.free_memory import require_solver_memory
from ..simulation.problem.settings import ends_at_saves
from .clock_rows import ClockRows
from .coupling import View


class Flown(NamedTuple):
    """What a group left. share: of the steps' length that stability allows, where it is known."""

    prepared: Prepared
    outcome: Outcome
    share: float | None


@dataclass(frozen=True, eq=False)
class OneClock:
    """parts: the groups, each prepared as a batch whose runs are (run, member). names: of the members of each.
    sees: what the members of each group see, and the number of the part in which it stands.
    """

    parts: tuple[Prepared, ...]
    names: tuple[tuple[str, ...], ...]
    sees: tuple[tuple[tuple[View, int], ...], ...]

    @cached_property
    def rows(self) -> ClockRows:
        return ClockRows(self.parts, self.names)

    def fly(self, progress: bool | None, steps: int | None = None) -> list[Flown]:
        """Every run to its end; what each group left. steps: at most, if fewer than planned."""
        system, plan = self.system, self.plan if steps is None else replace(self.plan, most_steps=steps)
        lanes = lanes_of_block(system, plan.method)
        require_solver_memory(plan.method, METHODS[plan.method].solver_vectors(system.n, lanes) * lanes)
        first, constants = self.parts[0], self.rows.constants
        with progress_bar(progress, "formation: simulating", first.times.end - first.times.begin) as tell:
            outcome = integrate(system, plan, self.rows.state(lanes), constants, tell)
        share = stability_share(system, plan, first.begun, outcome.state, constants)
        common = {name: getattr(plan, name) for name in ("stops", "samples", "saves", "most_steps")}
        flown = []
        for part, own in zip(self.parts, self.rows.outcomes(outcome, lanes), strict=True):
            prepared = replace(part, plan=replace(part.plan, **common))
            flown.append(Flown(prepared, prepared.with_start(own), share))
        return flown

    # ---- what a member sees of x

    @cached_property
    def _takes(self) -> list[list[Piece]]:
        return [self._taken(g) for g in range(len(self.parts))]

    def _taken(self, g: int) -> list[Piece]:
        rows, (n, n_held, own) = self.rows, self.rows.sizes[g]
        y, held, constants = (at[g] for at in rows.at)
        pieces = [Piece(0, 1, np.zeros(rows.members[g], dtype=int)), Piece(1, n, rows.each(y, n, g))]
        if n_held:
            pieces.append(Piece(1 + n, n_held, rows.each(held, n_held, g)))
        seen = [piece for view, other in self.sees[g] for piece in self._seen(g, view, other)]
        begin = place = 1 + n + n_held
        for row, count, _ in [*sorted(seen, key=lambda piece: piece.row), (begin + own, 0, None)]:
            if row > place:  # the member's own constants, up to what it sees
                pieces.append(Piece(place, row - place, rows.each(constants + place - begin, own, g)))
            place = row + count
        return pieces + seen

    def _seen(self, g: int, view: View, other: int) -> list[Piece]:
        own, there, found = self.parts[g].equations, self.parts[other].equations.layout, []
        rows, (n, _, _) = view.rows.reshape(self.rows.members[g], -1), self.rows.sizes[other]
        for letter in "qv":
            name = f"{letter}_{view.name}"
            if name in own.inputs:
                start, count = own.layout[f"input {name}"].start, there.width(letter)
                begin = self.rows.at[0][other] + there.row(letter).start
                found += [Piece(start + k * count, count, begin + n * row) for k, row in enumerate(rows.T)]
        return found

    # ---- functions of x

    @cached_property
    def system(self) -> System:
        systems, members = [part.system for part in self.parts], self.rows.members
        n, n_held, constants = self.rows.totals
        rhs = self._gathered([s.rhs for s in systems], [s.n for s in systems])
        assert rhs is not None
        update = self._gathered(self._updates(), [s.n_held for s in systems])
        events = self._gathered([s.events for s in systems], [len(s.specs) for s in systems])
        specs = [self._spec(g, k, spec) for g, s in enumerate(systems) for k in range(members[g]) for spec in s.specs]
        return System(rhs, n, update, n_held, events, tuple(specs), constants, (self._measures(),))

    def _gathered(self, functions: Sequence[Rows | None], results: Sequence[int]) -> Gathered | None:
        """One function of each member of the groups that have one, its results one after the other."""
        starts, parts = self.rows.starts(results), []
        for g, (function, count) in enumerate(zip(functions, results, strict=True)):
            if function is not None and count:
                parts.append(self._part(g, function, count, [Piece(0, count, self.rows.each(starts[g], count, g))]))
        return Gathered(parts, starts[-1]) if parts else None

    def _part(self, g: int, function: Any, results: int, gives: list[Piece]) -> Part:
        return Part(function, self.parts[g].equations.layout.size, results, self._takes[g], gives)

    @property
    def _periods(self) -> set[float]:
        laws = [part.equations.control for part in self.parts]
        return {law.period for law in laws if law is not None and law.period is not None}

    def _updates(self) -> list[Rows | None]:
        """Those of sampled controllers; where periods differ, each keeps what it holds until its own time has come."""
        return [_when_due(part) if len(self._periods) > 1 else part.system.update for part in self.parts]

    def _spec(self, g: int, k: int, spec: EventSpec) -> EventSpec:
        """An event of one member."""
        effect = None if spec.effect is None else self._effect(g, k, spec.effect)
        return replace(spec, name=self.rows.event_name(g, k, spec.name), effect=effect)

    def _effect(self, g: int, k: int, effect: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
        n, at = self.rows.sizes[g][0], self.rows.place(g, k)
        takes = [Piece(row, size, places[k : k + 1]) for row, size, places in self._takes[g]]
        member = self._part(g, effect, n, [Piece(0, n, np.zeros(1, dtype=int))])
        member = replace(member, takes=takes)

        def jump(x: Array, y: Array) -> Array:
            y = y.copy()
            y[at] = effect(member.arguments(x)[0], y[at])
            return y

        return jump

    def _measures(self) -> Measures:
        """What is reduced in the same way stands together."""
        own = [part.system.measures[0] for part in self.parts]
        gives: list[list[Piece]] = [[] for _ in self.parts]
        reductions: list[Reduce] = []
        for how in Reduce:
            starts = self.rows.starts([m.counts[how] for m in own])
            for g, m in enumerate(own):
                row, count = sum(m.counts[:how]), m.counts[how]
                if count:
                    gives[g].append(Piece(row, count, self.rows.each(len(reductions) + starts[g], count, g)))
            reductions += [how] * starts[-1]
        parts = [self._part(g, m.function, m.count, gives[g]) for g, m in enumerate(own)]
        return Measures(Gathered(parts, len(reductions)), tuple(reductions), max(m.every for m in own))

    # ---- plan

    @cached_property
    def plan(self) -> Plan:
        first = self.parts[0]
        at_saves = first.plan.fixed or ends_at_saves(first.settings)
        stops, samples = first.times.stops(first.settings.breakpoints, self._periods, at_saves)
        plans, members = [part.plan for part in self.parts], self.rows.members
        controlled = sum(plan.n_control * m for plan, m in zip(plans, members, strict=True))
        rtol, atol = (
            np.concatenate(
                [
                    np.tile(np.sqrt(plan.n_control / controlled) * tolerance, m)
                    for plan, tolerance, m in zip(plans, tolerances, members, strict=True)
                ]
            )
            for tolerances in ([plan.rtol for plan in plans], [plan.atol for plan in plans])
        )
        saves = np.unique(first.times.saves(stops))
        return replace(plans[0], stops=stops, samples=samples, saves=saves, rtol=rtol, atol=atol, n_control=controlled)


def _when_due(part: Prepared) -> Rows | None:
    """The update of a sampled controller, which leaves what is held alone at samples of others."""
    equations, close = part.equations, 1.5 * part.times.resolution  # samples so near to another stop are taken there
    if equations.control is None or equations.control.period is None:
        return None
    at, period = equations.layout, equations.control.period

    def update(x: Array) -> Array:
        due = x[0] > (x[at["sample"]][0] + 1.0) * period - close
        return np.array([where(due, a, b) for a, b in zip(equations.update(x), x[at.held], strict=True)])

    return row_by_row(update) if equations.python_control else compiled(update, at.size)
