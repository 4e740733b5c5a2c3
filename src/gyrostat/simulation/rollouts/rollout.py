"""`gs.rollout`: many fixed steps, and the gradient of a cost by all that went into them."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..._warned import warn_user
from ...algebra import Array
from ...algebra.reals import reals
from ...constraints import AbstractConstraint, Stabilisation
from ...control.passive import Actuators, Stops
from ...kinematics import configuration_rate
from ...model import Spacecraft
from ...model.demands import demand_spacecraft
from ...tracing import Kernel, compile, jacobian_of, machine, pool
from ..engine.compiling import SimulationWarning, kernel
from ..prepare import equations_at
from ..problem.idle_options import refuse_unfelt
from ..problem.request import Request, functions_of
from ..problem.runs import begin, start
from .loop import Word, library
from .problem import Problem

_SWEEP = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Cost = Callable[..., Any]


class Gradient(NamedTuple):
    """value: of the cost, ([runs]). by: its derivatives, by name: what each step has, inputs, parameters, q0 (in
    tangent coordinates, (nv,)) and v0; with the runs' axis first, if there is one.
    """

    value: Any
    by: Mapping[str, Array]


def rollout(
    craft: Spacecraft,
    law: Callable[..., Any] | None,
    steps: Any,
    step: float,
    q0: Any = None,
    v0: Any = None,
    *,
    history: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    t0: float = 0.0,
    environment: Any = None,
    formulation: str | None = None,
    constraints: Sequence[AbstractConstraint] | None = None,
    stabilisation: Stabilisation | None = None,
    prescribed: Mapping[str, Any] | None = None,
    locked: Sequence[str] | None = None,
    actuators: Actuators | None = None,
    stops: Stops | None = None,
    seed: Any = None,
    threads: int | None = None,
) -> Rollout:
    """`steps` steps of `step` seconds by the classical Runge-Kutta method, made to be differentiated.

    law(craft, t, q, v, ...) -> tau, or a continuous `Controller`; it asks by name for what `history` and `inputs` hold.
    history: {"u": (steps, ...)}: each step's own, held while it lasts (a whole torque history). inputs: one value for
        all steps. parameters: {"link_6.mass": value}. Where q0 or v0 has an axis of runs, history and inputs have one,
        too, or 1 there.
    The other options are those of `gs.simulate`.

    `Rollout.gradient(final, running)` gives the derivatives of a cost by everything that is named here, by one sweep
    backward. What is compiled does not depend on the number of steps; `Rollout.again` uses it for other numbers.

    Raises ValueError for steps that are none, for a sampled Controller, and for what cannot be compiled, with the
    line.
    """
    demand_spacecraft(craft, "rollout", "rollouts are")
    if not isinstance(steps, int | np.integer) or isinstance(steps, bool) or steps < 1:
        raise ValueError(f"rollout: steps is {steps!r}; expected a whole number of them, at least one.")
    if not 0.0 < step < float("inf"):
        raise ValueError(f"rollout: step is {step!r}; expected a positive number of seconds.")
    if getattr(law, "sampled", False):
        raise ValueError(
            "rollout: a sampled Controller holds between its own samples; give its law as a function, and what is held "
            "during each step as history=."
        )
    single = np.ndim(q0) < 2 and np.ndim(v0) < 2
    own = {name: _history(name, value, int(steps), single) for name, value in (history or {}).items()}
    twice = own.keys() & (inputs or {}).keys()
    if twice:
        raise ValueError(f"rollout: '{min(twice)}' is both in history= and in inputs=. Give it once.")
    first = {name: value[0] if single else value[:, 0] for name, value in own.items()}
    request = Request(
        craft=craft,
        q0=q0,
        v0=v0,
        t_span=(t0, t0 + steps * step),
        control=law,
        environment=environment,
        formulation=formulation,
        constraints=constraints,
        stabilisation=stabilisation,
        prescribed=prescribed,
        locked=locked,
        actuators=actuators,
        stops=stops,
        inputs={**first, **(inputs or {})} or None,
        parameters=parameters,
        seed=seed,
    )
    functions = functions_of(request)
    refuse_unfelt(request, request.settings(), functions, False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimulationWarning)
        try:
            equations, x = equations_at(request)
        except SimulationWarning as warning:
            raise ValueError(f"rollout: {warning}") from None
    problem = Problem(equations, x, tuple(own))
    compiled = _Compiled(problem, kernel(problem.rates()), {})
    given = _Given(q0, v0, {**own}, dict(inputs or {}), dict(parameters or {}))
    return Rollout(compiled, int(steps), float(step), given, single, threads)


def _history(name: str, value: Any, steps: int, single: bool) -> Array:
    array = reals(value, f"rollout: history['{name}']")
    axis = 0 if single else 1
    if array.ndim <= axis or array.shape[axis] != steps:
        expected = f"({steps}, ...)" if single else f"(runs, {steps}, ...)"
        raise ValueError(
            f"rollout: history['{name}'] has shape {array.shape}; expected {expected}: a row for each step."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"rollout: history['{name}'] holds numbers that are not finite.")
    return array


@dataclass(frozen=True, eq=False)
class _Given:
    """As the user gave it, the histories checked."""

    q0: Any
    v0: Any
    history: Mapping[str, Array]
    inputs: Mapping[str, Any]
    parameters: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class _Compiled:
    """The functions of a problem; those of costs are made when they are first asked for."""

    problem: Problem
    rates: Kernel
    costs: dict[Any, Kernel]

    @cached_property
    def adjoints(self) -> Kernel:
        return kernel(self.problem.adjoints())

    @cached_property
    def tangents(self) -> Kernel:
        """What q changes by with each small step on the manifold, of (q, v)."""
        return compile(jacobian_of(configuration_rate, "v"), self.problem.equations.craft)

    def cost(self, function: Cost, what: str) -> Kernel:
        key = ("cost", function)
        if key not in self.costs:
            self.costs[key] = kernel(self.problem.cost(function, what))
        return self.costs[key]

    def gradient(self, function: Cost, what: str) -> Kernel:
        key = ("gradient", function)
        if key not in self.costs:
            self.costs[key] = kernel(self.problem.cost_gradient(function, what))
        return self.costs[key]


@dataclass(frozen=True, eq=False)
class Rollout:
    """States of a run in fixed steps, and the gradients of costs of it. See `gs.rollout`."""

    _compiled: _Compiled = field(repr=False)
    steps: int
    step: float
    _given: _Given = field(repr=False)
    _single: bool = field(repr=False)
    _threads: int | None = field(default=None, repr=False)

    @property
    def craft(self) -> Spacecraft:
        return self._compiled.problem.equations.craft

    @property
    def time(self) -> Array:
        """(steps + 1,) in s."""
        return self._compiled.problem.equations.t0 + self.step * np.arange(self.steps + 1)

    @property
    def q(self) -> Array:
        """([runs,] steps + 1, nq)."""
        return self._part(slice(0, self.craft.nq))

    @property
    def v(self) -> Array:
        """([runs,] steps + 1, nv)."""
        return self._part(slice(self.craft.nq, self.craft.nq + self.craft.nv))

    @property
    def final(self) -> tuple[Array, Array]:
        """q and v after the last step."""
        return self.q[..., -1, :], self.v[..., -1, :]

    def _part(self, columns: slice) -> Array:
        part = self._states[..., columns]
        return part[0] if self._single else part

    def again(self, **given: Any) -> Rollout:
        """The same with other numbers: q0, v0, history, inputs, parameters. Nothing is compiled."""
        unknown = set(given) - {"q0", "v0", "history", "inputs", "parameters"}
        if unknown:
            raise TypeError(f"again has no argument '{min(unknown)}'; what is compiled stays as it is.")
        for name in ("history", "inputs", "parameters"):
            if name in given:
                known, new = getattr(self._given, name), given[name]
                if set(new) != set(known):
                    raise ValueError(f"again: {name} are {sorted(new)}; expected {sorted(known)}, as at first.")
        if "history" in given:
            own = {n: _history(n, x, self.steps, self._single) for n, x in given["history"].items()}
            given["history"] = {name: own[name] for name in self._given.history}
        return replace(self, _given=replace(self._given, **given))

    # ---- costs

    def value(self, final: Cost | None = None, running: Cost | None = None) -> Any:
        """final(craft, t, q, v) after the last step, plus step times the sum of running(craft, t, q, v) before each.

        Costs may ask by name for what history and inputs hold.
        """
        _some(final, running)
        total = np.zeros(len(self._w))
        if running is not None:
            rows = self._compiled.cost(running, "running cost")(self._along)
            total = total + self.step * rows[..., 0].sum(axis=-1)
        if final is not None:
            total = total + self._compiled.cost(final, "final cost")(self._last)[..., 0]
        return total[0] if self._single else total

    def gradient(self, final: Cost | None = None, running: Cost | None = None) -> Gradient:
        """The value of a cost (see `value`) and its derivatives by everything that went in, by one sweep backward."""
        value, problem = self.value(final, running), self._compiled.problem
        runs, n = len(self._w), problem.n
        adjoint, total = np.zeros((runs, n)), np.zeros((runs, problem.n_c))
        own = np.zeros((runs, self.steps, problem.n_own))
        if final is not None:
            by = self._compiled.gradient(final, "final cost")(self._last)
            adjoint[:], total[:] = by[:, :n], by[:, n:]
            own[:, -1] += total[:, : problem.n_own]
        rate = None if running is None else self._compiled.gradient(running, "running cost")
        for lanes, after in zip(self._blocks(), self._forward, strict=True):
            sweep = _Memory(self, lanes, after)
            sweep.put(Word.adjoint, adjoint[lanes])
            sweep.put(Word.total, total[lanes])
            sweep.run("backward", rate)
            adjoint[lanes], total[lanes] = sweep.take(Word.adjoint), sweep.take(Word.total)
            own[lanes] += sweep.take(Word.own_adjoints).reshape(own[lanes].shape)
        by_name = problem.named(total, {"steps": own})
        nq, nv = self.craft.nq, self.craft.nv
        T = self._compiled.tangents(self._states[:, 0, :nq], np.zeros(nv))
        by_name["q0"] = np.einsum("rij,ri->rj", T, adjoint[:, :nq])
        by_name["v0"] = adjoint[:, nq : nq + nv]
        if self._single:
            by_name = {name: x[0] for name, x in by_name.items()}
        return Gradient(value, by_name)

    # ---- numbers

    @cached_property
    def _w(self) -> Array:
        """w at the start of each run, (runs, size)."""
        problem, given = self._compiled.problem, self._given
        first = {name: x[0] if self._single else x[:, 0] for name, x in given.history.items()}
        parts = _numbers(problem, given, first)
        runs = max(len(x) for x in parts)
        return np.hstack([np.broadcast_to(x, (runs, x.shape[1])) for x in (*parts, np.arange(runs)[:, None] * 1.0)])

    @cached_property
    def _own(self) -> Array:
        """What each step has, (runs, steps, n_own)."""
        runs = len(self._w)
        lead = [x[None] if self._single else x for x in self._given.history.values()]
        flat = [np.broadcast_to(x, (runs, *x.shape[1:])).reshape(runs, self.steps, -1) for x in lead]
        return np.concatenate([np.zeros((runs, self.steps, 0)), *flat], axis=-1)

    @cached_property
    def _forward(self) -> list[_Memory]:
        """The sweeps forward, with all states laid out by lane."""
        found: list[Any] = [None] * len(self._blocks())

        def share(k: int) -> None:
            lanes = self._blocks()[k]
            sweep = found[k] = _Memory(self, lanes)
            n = self._compiled.problem.n
            sweep.blocks[Word.states][:n] = _by_lane(self._w[lanes, 1 : 1 + n], sweep.lanes)
            sweep.run("forward", None)

        pool.run(share, len(found), self._threads or pool.cores())
        return found

    @cached_property
    def _states(self) -> Array:
        """(runs, steps + 1, n)."""
        n = self._compiled.problem.n
        rows = [sweep.take(Word.states).reshape(-1, self.steps + 1, n) for sweep in self._forward]
        found = np.concatenate(rows)
        finite = np.isfinite(found).reshape(len(found), -1)
        lost = np.flatnonzero(np.logical_not(finite.all(axis=1)))
        if len(lost):
            when = int(np.argmin(finite[lost], axis=1).min()) // n
            warn_user(
                f"{self.craft.name}: {len(lost)} of {len(found)} rollouts became infinite, the first in step {when}. "
                f"Use a smaller step, or smaller loads.",
                SimulationWarning,
            )
        return found

    @property
    def _along(self) -> Array:
        """w before each step, (runs, steps, size)."""
        problem = self._compiled.problem
        w = np.repeat(self._w[:, None], self.steps, axis=1)
        w[..., 0] = self.step * np.arange(self.steps)
        w[..., 1 : 1 + problem.n] = self._states[:, :-1]
        w[..., 1 + problem.n :][..., : problem.n_own] = self._own
        return w

    @property
    def _last(self) -> Array:
        """w after the last step, (runs, size); what each step has is that of the last."""
        problem, w = self._compiled.problem, self._w.copy()
        w[:, 0], w[:, 1 : 1 + problem.n] = self.step * self.steps, self._states[:, -1]
        w[:, 1 + problem.n :][:, : problem.n_own] = self._own[:, -1]
        return w

    def _blocks(self) -> list[slice]:
        """Runs that go side by side."""
        lanes, runs = machine.host_lanes("double"), len(self._w)
        return [slice(k, min(k + lanes, runs)) for k in range(0, runs, lanes)]


def _some(final: Cost | None, running: Cost | None) -> None:
    if final is None and running is None:
        raise ValueError("a cost is missing: give final=, a function of (craft, t, q, v), or running=, or both.")


def _numbers(problem: Problem, given: _Given, first: Mapping[str, Array]) -> list[Array]:
    """t, s and c of each run or of all, (runs or 1, ...)."""
    e = problem.equations
    inputs = {**first, **given.inputs}
    runs = begin(e.craft, given.q0, given.v0, given.parameters or None, inputs or None, None, False, e.t0)
    state = start(e, runs, 0.0, None)
    at = e.layout
    rows = np.hstack([np.zeros((runs.count, 1)), state.y, state.held, runs.constants])
    c = [rows[:, at[entry.place]] for entry in problem.entries]
    return [np.zeros((runs.count, 1)), rows[:, at.varied], *c]


def _by_lane(rows: Array, lanes: int) -> Array:
    """(runs, k) as (k, lanes); the last run fills the lanes that are left."""
    padded = rows[np.minimum(np.arange(lanes), len(rows) - 1)]
    return np.ascontiguousarray(padded.T)


class _Memory:
    """The memory of one sweep of as many runs as there are lanes."""

    def __init__(self, rollout: Rollout, runs: slice, after: _Memory | None = None) -> None:
        """after: the sweep forward, whose states and histories serve the one backward."""
        self.rollout, self.runs = rollout, runs
        self.lanes = machine.host_lanes("double")
        problem, compiled = rollout._compiled.problem, rollout._compiled
        n, n_c, n_own, steps = problem.n, problem.n_c, problem.n_own, rollout.steps
        sizes = {
            Word.w: problem.size,
            Word.K: 4 * n,
            Word.a: n,
            Word.g: n + n_c,
            Word.sum: n + n_c,
            Word.adjoint: n,
            Word.total: n_c,
        }
        if after is None:
            sizes |= {Word.states: (steps + 1) * n, Word.own: steps * n_own}
        else:
            sizes[Word.own_adjoints] = steps * n_own
        self.compiled, self.problem = compiled, problem
        memory = np.empty(sum(sizes.values()) * self.lanes + 8)
        at = (-memory.ctypes.data // 8) % 8  # vectors begin at multiples of 64 bytes
        self.blocks: dict[Word, Array] = {}
        for word, size in sizes.items():
            self.blocks[word] = memory[at : at + size * self.lanes].reshape(size, self.lanes)
            at += size * self.lanes
        self.put(Word.w, rollout._w[runs])
        if after is None:
            own = rollout._own[runs]
            self.put(Word.own, own.reshape(len(own), -1))
        else:
            self.blocks |= {word: after.blocks[word] for word in (Word.states, Word.own)}
            for word in (Word.g, Word.own_adjoints):
                self.blocks[word][:] = 0.0
        self.times = rollout.step * np.arange(steps)

    def put(self, word: Word, rows: Array) -> None:
        self.blocks[word][:] = _by_lane(rows, self.lanes)

    def take(self, word: Word) -> Array:
        """(runs, k)."""
        count = self.runs.stop - self.runs.start
        return self.blocks[word].T[:count].copy()

    def run(self, name: str, running: Kernel | None) -> None:
        compiled, rollout = self.compiled, self.rollout
        used = [compiled.rates] if name == "forward" else [compiled.rates, compiled.adjoints]
        used += [] if running is None else [running]
        table = np.zeros(Word.size, dtype=np.int64)
        for word, block in self.blocks.items():
            table[word] = block.ctypes.data
        table[Word.rates] = compiled.rates.block_address
        if name == "backward":
            table[Word.adjoints] = compiled.adjoints.block_address
        if running is not None:
            table[Word.running] = running.block_address
        scratch = np.zeros(max(k.work_numbers for k in used) + 8)
        table[Word.scratch] = scratch.ctypes.data + (-scratch.ctypes.data) % 64
        table[Word.times] = self.times.ctypes.data
        table[Word.n], table[Word.n_c], table[Word.n_own] = self.problem.n, self.problem.n_c, self.problem.n_own
        table[Word.steps] = rollout.steps
        table[Word.step : Word.step + 1].view(np.float64)[:] = rollout.step
        _SWEEP(library().address(name))(table.ctypes.data)
