"""From equations and events to the compiled system, with Python standing in where something cannot be compiled."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...algebra import Array
from ...control.controller import call
from ...tracing import Graph, Kernel, TraceError, trace
from ..problem.equations import Equations
from .system import EventSpec, Rows, System
from .system_cache import made

MOST_KERNELS = 64  # kept in memory
_SYMBOLS = ("Expr", "object array", "dtype('O')", "dtype=object")  # in messages of code that was given symbols


@dataclass(frozen=True, eq=False)
class When:
    """An event: `function(craft, t, q, v)` changes sign. direction: +1 rising, -1 falling, 0 both.

    terminal: the run stops there. effect(craft, t, q, v) -> (q, v): the state jumps there, and the run goes on.

    Signs are compared at the ends of the integrator's steps, and at extrema in between that values and slopes at the ends tell of. A
    function that swings several times within a step may be missed: give `simulate` a `max_step` shorter than its swings.
    """

    function: Callable[..., Any]
    name: str = ""
    terminal: bool = False
    direction: int = 0
    effect: Callable[..., tuple[Any, Any]] | None = None


def event_name(event: Any, otherwise: str) -> str:
    """Its own, or that of its function."""
    function = event.function if isinstance(event, When) else event
    return getattr(event, "name", "") or getattr(function, "__name__", "") or otherwise


class SimulationWarning(UserWarning):
    """A run did not reach its end, or is slower than it could be."""


def traced(function: Callable[[Array], Any], size: int) -> Graph:
    """The graph of a function of x (size,)."""
    return trace(function, None, inputs={"x": (size,)})


_kernels: OrderedDict[str, Kernel] = OrderedDict()  # by the graph's key, those used last at the end


def kernel(graph: Graph) -> Kernel:
    """Its machine code, loaded once. (Functions are traced anew each time: what they read from outside may have changed.)"""
    found = _kernels.pop(graph.key, None) or Kernel(graph)
    _kernels[graph.key] = found
    while len(_kernels) > MOST_KERNELS:
        _kernels.popitem(last=False)
    return found


def compiled(function: Callable[[Array], Any], size: int) -> Kernel:
    """A function of x (size,), for many x at a time."""
    return kernel(traced(function, size))


def _traceable(function: Callable[[Array], Any], x: Array, size: int, what: str) -> Graph | None:
    """Its graph; None, with a warning, if it works on numbers alone. What fails on numbers, too, is the user's to see."""
    try:
        return traced(function, size)
    except (TypeError, ValueError, AttributeError) as error:
        if not isinstance(error, TraceError) and not any(mark in str(error) for mark in _SYMBOLS):
            raise
        function(x)
        warnings.warn(
            f"{what} cannot be compiled and is called from Python at each step, which is slower.\n{error}",
            SimulationWarning,
            stacklevel=4,
        )
        return None


def settled(equations: Equations, x: Callable[[Equations], Array]) -> Equations:
    """Find out by tracing what can be compiled, and whether anything acts from outside. x(equations): a first argument."""
    craft, base = equations.craft, equations.craft.joint(equations.craft.base)
    outside = (
        equations.environment is not None
        or equations.held_from_outside
        or not base.motion.unbound
        or base.name in equations.prescribed
        or any(not (isinstance(k, float) and k == 0.0) for k in (base.stiffness, base.damping, base.friction))
    )
    control = environment = ""
    if equations.environment is not None:
        graph = _traceable(equations.wrenches, x(equations), equations.layout.size, "the environment")
        equations = replace(equations, python_environment=graph is None)
        environment = "" if graph is None else graph.key
    if equations.control is not None:
        graph = _traceable(equations.controller, x(equations), equations.layout.size, "the control law")
        control = "" if graph is None else graph.key
        if graph is None:
            equations = replace(equations, python_control=True)
            outside = outside or not equations.conserve  # with `conserve`, each result is checked
        else:
            torques = [graph.nodes[k] for k in graph.results[0]]
            outside = outside or any(node.op != "const" or node.data != 0.0 for node in torques[base.v_at])
            wrong = [k for k, node in enumerate(torques) if node.op == "const" and not np.isfinite(node.data)]
            if wrong:
                raise ValueError(
                    f"the control law returns {torques[wrong[0]].data} in entry {wrong[0]} of tau, whatever the state; expected finite numbers."
                )
    if equations.conserve and outside:
        raise ValueError(
            f"conserve='momentum' holds where nothing acts on {craft.name} from outside, but something loads its base: the first "
            "six entries of tau, a spring or damper there, or a prescribed motion. Leave it out, or use wheels."
        )
    return replace(equations, external_loads=outside, laws=(control, environment))


def compile_system(equations: Equations, events: Sequence[Any], x: Array) -> System:
    """x: a first argument, (size,)."""
    at = equations.layout
    specs, functions = _event_specs(equations, events)

    def rows(function: Callable[[Array], Array], what: str) -> Rows:
        graph = _traceable(function, x, at.size, what)
        return _row_by_row(function) if graph is None else kernel(graph)

    rhs = made(equations, "rhs", lambda: rows(equations.rhs, "a prescribed motion, or a function of a constraint,"))
    if at.width("python tau") or at.width("python wrenches"):
        rhs = _filled(equations, rhs)
    update: Rows | None = None
    if equations.sampled:
        update = _row_by_row(equations.update) if equations.python_control else compiled(equations.update, at.size)
    watch = rows(equations.event_values(functions), "an event") if functions else None
    return System(rhs, at.n, update, at.n_held, watch, specs, at.size - at["run"].start)


def for_many(function: Callable[[Array], Mapping[str, Any]], size: int) -> Callable[[Array], Mapping[str, Array]]:
    """A function of x (size,) that gives arrays by name, for x (..., size): compiled, or row by row where it cannot be."""
    try:
        return compiled(function, size)
    except (TypeError, ValueError, AttributeError):  # those of a function that is called from Python at each step, too
        return lambda x: _stacked(function, x)


def _stacked(function: Callable[[Array], Mapping[str, Any]], x: Array) -> dict[str, Array]:
    rows = [function(row) for row in x.reshape(-1, x.shape[-1])]
    return {name: np.reshape([r[name] for r in rows], (*x.shape[:-1], *np.shape(rows[0][name]))) for name in rows[0]}


def _row_by_row(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: np.array([np.asarray(function(row), dtype=float) for row in x])


def _filled(equations: Equations, rhs: Rows) -> Callable[[Array], Array]:
    """Compiled dynamics, with what Python computes filled in."""

    def rows(x: Array) -> Array:
        for row in x:
            equations.fill(row)
        return rhs(x)

    return rows


def _event_specs(equations: Equations, events: Any) -> tuple[tuple[EventSpec, ...], tuple[Callable[..., Any], ...]]:
    if callable(events) or isinstance(events, When):
        events = [events]
    specs, functions = [], []
    for k, event in enumerate(events):
        if not callable(event) and not isinstance(event, When):
            raise TypeError(
                f"event {k} is {event!r}; expected a function of (craft, t, q, v), or gs.When(function, ...)."
            )
        event = event if isinstance(event, When) else When(event)
        if event.direction not in (-1, 0, 1):
            raise ValueError(
                f"event {k}: direction is {event.direction}; expected +1 (rising), -1 (falling) or 0 (both)."
            )
        name = event_name(event, f"event {k}")
        effect = None if event.effect is None else _effect(equations, event.effect)
        specs.append(EventSpec(name, event.terminal, event.direction, effect))
        functions.append(event.function)
    return tuple(specs), tuple(functions)


def _effect(equations: Equations, effect: Callable[..., tuple[Any, Any]]) -> Callable[[Array, Array], Array]:
    """The jump of (q, v) as a jump of y."""
    if equations.conserve:
        raise ValueError("an event's effect cannot be combined with conserve='momentum'.")
    at, craft = equations.layout, equations.craft

    def jump(x: Array, y: Array) -> Array:
        state = (equations.own_craft(x), equations.time(x), x[at["q"]], x[at["v"]])
        q, v = call(effect, state, equations.available(x))
        if np.shape(q) != (craft.nq,) or np.shape(v) != (craft.nv,):
            raise ValueError(
                f"an event's effect returned q of shape {np.shape(q)} and v of shape {np.shape(v)}; expected ({craft.nq},) and "
                f"({craft.nv},)."
            )
        y = y.copy()
        y[at.row("q")], y[at.row("v")] = q, v
        return y

    return jump
