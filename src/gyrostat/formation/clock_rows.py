"""Rows of the engine for several groups on one clock: one for each run, with all members, from those of the groups, one
for each member of each run; and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..algebra import Array
from ..simulation.engine.measures import REDUCED, Measures, Reduce
from ..simulation.engine.system import Outcome, Record, State
from ..simulation.integrators.methods import METHODS
from ..simulation.prepare import Prepared

OF_THE_CLOCK = ("t", "h", "status", "steps", "rejections")  # in `State`: the same for all members


class ClockRows:
    """Where what belongs to a member stands in the vectors of all."""

    def __init__(self, parts: Sequence[Prepared], names: Sequence[Sequence[str]]) -> None:
        self.parts, self.names = parts, names
        self.members = [len(own) for own in names]
        self.runs = parts[0].runs.count // self.members[0]
        # numbers of a member in y, held and constants, group by group
        self.sizes = [(part.system.n, part.system.n_held, part.constants.shape[1]) for part in parts]

    def starts(self, sizes: Sequence[int]) -> list[int]:
        """Where each group begins in a vector with so many numbers of each of its members; and its end."""
        return [int(end) for end in np.cumsum([0, *np.multiply(sizes, self.members)])]

    def each(self, start: int, size: int, g: int) -> Array:
        """Where every member of a group begins."""
        return start + size * np.arange(self.members[g])

    @cached_property
    def at(self) -> tuple[list[int], list[int], list[int]]:
        """Where each group's y, held and constants begin in x."""
        y, held, own = (self.starts(sizes) for sizes in zip(*self.sizes, strict=True))
        before_own = 1 + y[-1] + held[-1]
        return [1 + s for s in y], [1 + y[-1] + s for s in held], [before_own + s for s in own]

    @property
    def totals(self) -> tuple[int, int, int]:
        """Numbers of all members in y, held and constants."""
        y, held, own = (self.starts(sizes)[-1] for sizes in zip(*self.sizes, strict=True))
        return y, held, own

    def place(self, g: int, k: int, what: int = 0) -> slice:
        """Of a member in y, or in held (1)."""
        size, begin = self.sizes[g][what], self.at[what][g] - self.at[what][0]
        return slice(begin + k * size, begin + (k + 1) * size)

    def event_name(self, g: int, k: int, name: str) -> str:
        """Of one member's event."""
        return f"{self.names[g][k]}: {name}"

    # ---- from groups to all

    def joined(self, rows: Sequence[Array]) -> Array:
        """(runs, all) from (runs * members, own) of each group."""
        return np.concatenate([x.reshape(self.runs, x.size // self.runs) for x in rows], axis=1)

    @property
    def constants(self) -> Array:
        return self.joined([part.constants for part in self.parts])

    def state(self, lanes: int) -> State:
        """Where the runs stand. lanes: of the time loop's vectors."""
        states = [part.state for part in self.parts]
        self._require_one_clock(states)
        one = {name: getattr(states[0], name)[:: self.members[0]].copy() for name in OF_THE_CLOCK}
        whole = State(y=self.joined([s.y for s in states]), held=self.joined([s.held for s in states]), **one)
        events, measured, kept = ([getattr(s, name) for s in states] for name in ("g", "measured", "of_method"))
        if self._have(events, self._events):
            whole.g = self.joined(events)
        if self._have(measured, [m.numbers for m in self._measures]):
            whole.measured = self._joined_measured(measured)
        if self._have(kept, self._remembered(lanes)):
            whole.of_method = self._joined_of_method(kept, lanes)
        return whole

    def _have(self, rows: Sequence[Array], sizes: Sequence[int]) -> bool:
        """True if a run that is continued has left these numbers."""
        return all(x.shape == (self.runs * m, size) for x, m, size in zip(rows, self.members, sizes, strict=True))

    def _require_one_clock(self, states: Sequence[State]) -> None:
        for name in ("t", "h"):
            rows = np.concatenate([getattr(s, name).reshape(self.runs, -1) for s in states], axis=1)
            if (rows != rows[:, :1]).any():
                raise ValueError(
                    "resume: members that see each other now had clocks of their own in the run that is continued. "
                    "Start anew from run.final, or give the functions that it was run with."
                )

    # ---- from all to groups

    def split(self, rows: Array, sizes: Sequence[int]) -> list[Array]:
        """(runs * members, ..., own) of each group, from (runs, ..., all)."""
        found, starts = [], self.starts(sizes)
        for g, size in enumerate(sizes):
            own = rows[..., starts[g] : starts[g + 1]].reshape(*rows.shape[:-1], self.members[g], size)
            own = np.moveaxis(own, -2, 1)
            found.append(np.ascontiguousarray(own).reshape(self.runs * self.members[g], *own.shape[2:]))
        return found

    def outcomes(self, outcome: Outcome, lanes: int) -> list[Outcome]:
        """What each group left."""
        state, (n, n_held, _) = outcome.state, zip(*self.sizes, strict=True)
        cut = self.totals[0]
        y, held, events = self.split(state.y, n), self.split(state.held, n_held), self.split(state.g, self._events)
        saved = zip(self.split(outcome.saved[..., :cut], n), self.split(outcome.saved[..., cut:], n_held), strict=True)
        measured, of_method = self._split_measured(state.measured), self._split_of_method(state.of_method, lanes)
        found = []
        for g, rows in enumerate(saved):
            clock = {name: np.repeat(getattr(state, name), self.members[g]) for name in OF_THE_CLOCK}
            own = State(y=y[g], held=held[g], g=events[g], measured=measured[g], of_method=of_method[g], **clock)
            found.append(Outcome(np.concatenate(rows, axis=-1), own, [], outcome.interrupted, outcome.error))
        self._hand_out_events(outcome, found)
        return found

    def _hand_out_events(self, outcome: Outcome, found: list[Outcome]) -> None:
        """To the groups whose members they are of."""
        owners = {
            self.event_name(g, k, spec.name): (g, k, spec.name)
            for g, part in enumerate(self.parts)
            for k in range(self.members[g])
            for spec in part.system.specs
        }
        for record in outcome.records:
            g, k, name = owners[record.event]
            y, held = record.y[self.place(g, k)], record.held[self.place(g, k, 1)]
            found[g].records.append(Record(record.run * self.members[g] + k, name, record.t, y, held))
        for event, length in outcome.unresolved.items():
            found[owners[event][0]].unresolved[event] = length

    # ---- measures: the clock's own numbers, then what is reduced in the same way

    @property
    def _events(self) -> list[int]:
        return [len(part.system.specs) for part in self.parts]

    @property
    def _measures(self) -> list[Measures]:
        return [part.system.measures[0] for part in self.parts]

    def _joined_measured(self, rows: Sequence[Array]) -> Array:
        found = [rows[0][:: self.members[0], :REDUCED]]
        for how in Reduce:
            own = zip(rows, [m.counts for m in self._measures], strict=True)
            found.append(self.joined([x[:, REDUCED + sum(c[:how]) :][:, : c[how]] for x, c in own]))
        return np.hstack(found)

    def _split_measured(self, rows: Array) -> list[Array]:
        found, place = [[np.repeat(rows[:, :REDUCED], m, axis=0)] for m in self.members], REDUCED
        for how in Reduce:
            counts = [m.counts[how] for m in self._measures]
            end = place + self.starts(counts)[-1]
            for own, part in zip(found, self.split(rows[:, place:end], counts), strict=True):
                own.append(part)
            place = end
        return [np.hstack(own) for own in found]

    # ---- what the method remembers: some numbers of the clock, stages of all members, more numbers of the clock

    def _method(self, lanes: int) -> tuple[int, int, int, int]:
        """How many there are before the stages; stages; numbers of each component in one; and after them."""
        method = METHODS[self.parts[0].plan.method]
        entries, places, lasting = method.remembered(lanes)
        return len(entries), len(places), lanes if method.fills_block else 1, len(lasting)

    def _remembered(self, lanes: int) -> list[int]:
        before, stages, width, after = self._method(lanes)
        return [before + stages * width * n + after for n, _, _ in self.sizes]

    def _joined_of_method(self, rows: Sequence[Array], lanes: int) -> Array:
        before, stages, width, after = self._method(lanes)
        first, found = rows[0][:: self.members[0]], []
        for x, m, (n, _, _) in zip(rows, self.members, self.sizes, strict=True):
            inner = x[:, before : x.shape[1] - after].reshape(self.runs, m, stages, width * n)
            found.append(np.moveaxis(inner, 1, 2).reshape(self.runs, stages, m * width * n))
        all_stages = np.concatenate(found, axis=2).reshape(self.runs, stages * width * self.totals[0])
        return np.hstack([first[:, :before], all_stages, first[:, first.shape[1] - after :]])

    def _split_of_method(self, rows: Array, lanes: int) -> list[Array]:
        before, stages, width, after = self._method(lanes)
        inner = rows[:, before : rows.shape[1] - after].reshape(self.runs, stages, width * self.totals[0])
        found = []
        for x, m in zip(self.split(inner, [width * n for n, _, _ in self.sizes]), self.members, strict=True):
            ends = [np.repeat(part, m, axis=0) for part in (rows[:, :before], rows[:, rows.shape[1] - after :])]
            found.append(np.hstack([ends[0], x.reshape(len(x), stages * x.shape[2]), ends[1]]))
        return found
