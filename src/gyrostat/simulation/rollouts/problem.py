"""What a rollout is made of: functions of one vector w = (t, s, c, run).

s = (q, v, z, load) is the state; c what may be differentiated by: what each step has of its own, then inputs and values
of the craft. The functions are traced: rates of s, their adjoints, costs and their gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...control.controller import call
from ...tracing import Graph, TraceError, trace
from ...tracing.derivatives import pullback
from ...tracing.expr import Expr
from ..problem.adjoints import pulled_rates
from ..problem.equations import Equations


class Entry(NamedTuple):
    """One of the names in c. at: its place there."""

    name: str
    place: str  # in the layout of x
    at: slice
    shape: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Problem:
    """equations: of one run. x: its argument at the start. steps_own: names of inputs that each step has of its own."""

    equations: Equations
    x: Array
    steps_own: tuple[str, ...]

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        e = self.equations
        shapes = [(name, f"input {name}", e.inputs[name]) for name in self.steps_own]
        shapes += [(n, f"input {n}", s) for n, s in e.inputs.items() if n not in self.steps_own]
        shapes += [(n, f"value {n}", s) for n, s in e.parameters.items()]
        found, place = [], 0
        for name, where, shape in shapes:
            size = int(np.prod(shape, dtype=int))
            found.append(Entry(name, where, slice(place, place + size), shape))
            place += size
        return tuple(found)

    @property
    def n(self) -> int:
        """Numbers of s."""
        return self.equations.layout.varied.stop - self.equations.layout.varied.start

    @property
    def n_own(self) -> int:
        """Of what each step has."""
        return sum(entry.at.stop - entry.at.start for entry in self.entries[: len(self.steps_own)])

    @property
    def n_c(self) -> int:
        return self.entries[-1].at.stop if self.entries else 0

    @property
    def size(self) -> int:
        return 1 + self.n + self.n_c + 1

    def x_of(self, w: Array) -> Array:
        at = self.equations.layout
        x = np.array(self.x, dtype=object)
        x[0], x[at.varied], x[at["run"]] = w[0], w[1 : 1 + self.n], w[-1:]
        for entry in self.entries:
            x[at[entry.place]] = w[1 + self.n :][entry.at]
        return np.array([e if isinstance(e, Expr) else float(e) for e in x], dtype=object)

    # ---- graphs

    def rates(self) -> Graph:
        """w to d/dt s."""
        return self._traced(lambda w: self.equations.state_rates(self.x_of(w)), "law, or something else that acts,")

    def adjoints(self) -> Graph:
        """(w, rates there, a) to f_s^T a and f_c^T a."""
        nq, nv = self.equations.craft.nq, self.equations.craft.nv

        def adjoints(w: Array, rates: Array, a: Array) -> Array:
            vdot = rates[nq : nq + nv]
            return np.array(pulled_rates(self.equations, self.x_of(w), vdot, list(w[1:-1]), a), dtype=object)

        return trace(adjoints, None, inputs={"w": (self.size,), "rates": (self.n,), "a": (self.n,)})

    def cost(self, function: Callable[..., Any], what: str) -> Graph:
        """w to a number."""
        return self._traced(lambda w: np.array([self._cost(function, w, what)], dtype=object), what)

    def cost_gradient(self, function: Callable[..., Any], what: str) -> Graph:
        """w to the derivatives of a cost by s and c."""

        def gradient(w: Array) -> Array:
            value = self._cost(function, w, what)
            return np.array(pullback([value], list(w[1:-1]), [1.0]), dtype=object)

        return self._traced(gradient, what)

    def _cost(self, function: Callable[..., Any], w: Array, what: str) -> Any:
        x, e = self.x_of(w), self.equations
        state = (e.own_craft(x), e.time(x), x[e.layout["q"]], e.velocity(x))
        value = np.asarray(call(function, state, e.available(x)), dtype=object)
        if value.size != 1:
            raise ValueError(f"the {what} returned shape {value.shape}; expected one number.")
        found = value.reshape(-1)[0]
        return found if isinstance(found, Expr) else float(found)

    def _traced(self, function: Callable[[Array], Any], what: str) -> Graph:
        try:
            return trace(function, None, inputs={"w": (self.size,)})
        except TraceError as error:
            raise ValueError(f"rollout: the {what} cannot be traced, so it has no derivative.\n{error}") from error

    def named(self, c: Array, own: Mapping[str, Array]) -> dict[str, Array]:
        """Numbers (..., n_c) by name; own: of what each step has, (..., steps, n_own)."""
        found = {}
        for k, entry in enumerate(self.entries):
            source = own["steps"] if k < len(self.steps_own) else c
            part = source[..., entry.at]
            found[entry.name] = part.reshape(*part.shape[:-1], *entry.shape)
        return found
