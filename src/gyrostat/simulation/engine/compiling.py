"""From equations and events to the compiled system, with Python standing in where something cannot be compiled."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from time import perf_counter
from typing import Any

import numpy as np

from ..._warned import warn_user
from ...algebra import Array
from ...model import Role, Spacecraft
from ...outcomes import Outcome
from ...tracing import Graph, Kernel, TraceError, trace
from ...tracing.errors import instead, raised_at
from ..integrators.methods import METHODS
from ..problem import switches
from ..problem.equations import Equations
from ..problem.events import When, event_jump, event_moves, event_specs, events_given
from ..problem.outcomes import TRACKS, order_of, signals_of
from ..problem.variations import Jump
from .system import EventSpec, Rows, System
from .system_cache import made
from .tracking import Tracked

MOST_KERNELS = 64  # kept in memory
COMPILED_STAGE = 1.3e-6  # seconds of an evaluation of a six-link arm under a compiled law
ROUND_TRIP = 1e-4  # seconds from compiled code to a Python function and back, arrays made on the way
_SYMBOLS = ("Expr", "object array", "dtype('O')", "dtype=object")  # in messages of code that was given symbols


class SimulationWarning(UserWarning):
    """A run did not reach its end, or is slower than it could be."""


def traced(function: Callable[[Array], Any], size: int) -> Graph:
    """The graph of a function of x (size,)."""
    return trace(function, None, inputs={"x": (size,)})


_kernels: OrderedDict[str, Kernel] = OrderedDict()  # by the graph's key, those used last at the end


def kernel(graph: Graph) -> Kernel:
    """Its machine code, loaded once.

    (Functions are traced anew each time: what they read from outside may have changed.)
    """
    found = _kernels.pop(graph.key, None) or Kernel(graph, lazy=True)
    _kernels[graph.key] = found
    while len(_kernels) > MOST_KERNELS:
        _kernels.popitem(last=False)
    return found


def compiled(function: Callable[[Array], Any], size: int) -> Kernel:
    """A function of x (size,), for many x at a time."""
    return kernel(traced(function, size))


def _traceable(equations: Equations, function: Callable[[Array], Any], x: Array, what: str) -> Graph | None:
    """Its graph; None, with a warning, if it works on numbers alone.

    What fails on numbers, too, is the user's to see.
    """
    try:
        return traced(function, equations.layout.size)
    except (TypeError, ValueError, AttributeError) as error:
        if not isinstance(error, TraceError) and not any(mark in str(error) for mark in _SYMBOLS):
            raise
        if equations.varied:
            raise ValueError(f"sensitivities: {what} cannot be traced, so it has no derivative.\n{error}") from error
        _warn_of_python(what, error, _time_of(function, x))
        return None


def _time_of(function: Callable[[Array], Any], x: Array) -> float:
    """Seconds that a call takes; one alone, since laws may have effects."""
    begun = perf_counter()
    function(x)
    return perf_counter() - begun


def _warn_of_python(what: str, error: Exception, seconds: float) -> None:
    """At the line of the user's that cannot be recorded, with what to write there instead."""
    place = getattr(error, "place", None) or raised_at(error)
    factor = (seconds + ROUND_TRIP) / COMPILED_STAGE
    slower = round(factor, 1 - len(str(int(factor))))
    told = (
        f"{what} cannot be compiled and is called from Python at each step, which takes {1e6 * seconds:.0f} "
        f"microseconds and the way there and back {1e6 * ROUND_TRIP:.0f}: the run will be at least some "
        f"{slower:.0f} times slower."
    )
    lines = [told, str(error)]
    lines += [f"  Use gyrostat.algebra.{new} for {old}." for old, new in (instead(place.source) if place else ())]
    message = "\n".join(lines)
    if place is None:
        warn_user(message, SimulationWarning)
    else:
        warnings.warn_explicit(message, SimulationWarning, place.file, place.line)


def settled(equations: Equations, x: Callable[[Equations], Array]) -> Equations:
    """Find out by tracing what can be compiled, and whether anything acts from outside.
    x(equations): a first argument.
    """
    craft = equations.craft
    control = environment = ""
    if equations.environment is not None:
        graph = _traceable(equations, equations.outside, x(equations), "the environment")
        equations = replace(equations, python_environment=graph is None)
        environment = "" if graph is None else graph.key
    if equations.given:
        control = "given"
        if equations.conserve:  # each load is checked
            equations = replace(equations, loads=_apart_from_bases(craft))
    elif equations.control is not None:
        graph = _traceable(equations, equations.controller, x(equations), "the control law")
        control = "" if graph is None else graph.key
        if graph is None:
            equations = replace(equations, python_control=True)
            if equations.conserve:  # each result is checked
                equations = replace(equations, loads=_apart_from_bases(craft))
        else:
            torques = [graph.nodes[k] for k in graph.results[0]]
            equations = replace(
                equations, loads=tuple(k for k, x in enumerate(torques) if x.op != "const" or x.data != 0.0)
            )
            wrong = [k for k, node in enumerate(torques) if node.op == "const" and not np.isfinite(node.data)]
            if wrong:
                raise ValueError(
                    f"the control law returns {torques[wrong[0]].data} in entry {wrong[0]} of tau, whatever the state; "
                    "expected finite numbers."
                )
    outside = [cause.who for cause in equations.causes if cause.external]
    if equations.conserve and outside:
        raise ValueError(
            f"conserve='momentum' holds where nothing acts on {craft.name} from outside, but something loads its base: "
            f"{', '.join(outside)}. Leave it out, or use wheels."
        )
    return replace(equations, laws=(control, environment))


def _apart_from_bases(craft: Spacecraft) -> tuple[int, ...]:
    return tuple(k for k in range(craft.nv) if craft.roles[k] is not Role.base)


def compile_system(equations: Equations, events: Any, x: Array) -> System:
    """x: a first argument, (size,)."""
    at = equations.layout
    given = events_given(events)
    functions = tuple(event.function for event in given)
    jumps, moves = [jump_of(equations, event) for event in given], [moves_of(equations, event) for event in given]
    specs = event_specs(equations, given, jumps, moves)
    turning = switch_specs(equations)

    def rows(function: Callable[[Array], Array], what: str) -> Rows:
        graph = _traceable(equations, function, x, what)
        return row_by_row(function) if graph is None else kernel(graph)

    rhs = made(equations, "rhs", lambda: rows(equations.rhs, "a prescribed motion, or a function of a constraint,"))
    if at.width("python tau") or at.width("python wrenches"):
        rhs = _filled(equations, rhs)
    update: Rows | None = None
    if equations.sampled and not equations.given:
        update = row_by_row(equations.update) if equations.python_control else compiled(equations.update, at.size)
    watch = rows(_watched(equations, functions, bool(turning)), "an event") if functions or turning else None
    return System(rhs, at.n, update, at.n_held, watch, (*specs, *turning), at.size - at["run"].start)


def _watched(
    equations: Equations, functions: tuple[Callable[..., Any], ...], turning: bool
) -> Callable[[Array], Array]:
    """The events that were asked for, and the switches of a differentiated run."""
    asked = equations.event_values(functions)
    if not turning:
        return asked

    def both(x: Array) -> Array:
        turns = switches.values(equations, x)  # recorded first, so that they stand in one order everywhere
        return np.concatenate([asked(x), turns])

    return both


def switch_specs(equations: Equations) -> tuple[EventSpec, ...]:
    """Of the switches of what acts, at which derivatives jump; none where nothing is differentiated."""
    if not equations.varied:
        return ()
    size = equations.layout.size
    (found,) = traced(partial(switches.values, equations), size).outputs
    crossings = [compiled(partial(switches.crossing, equations, k), size) for k in range(found.size)]
    return tuple(
        EventSpec(f"switch {k} of what acts", turn=switches.turned(equations, crossing), moves=switches.moves(crossing))
        for k, crossing in enumerate(crossings)
    )


def tracked_signals(equations: Equations, outcomes: Sequence[Outcome], method: str) -> Tracked | None:
    """The signals of the outcomes that are followed between the ends of steps; None if none is."""
    order, ends = order_of(outcomes)
    size = equations.layout.size
    if ends:
        compiled(signals_of(equations, [outcomes[k] for k in ends]), size)  # what is wrong with one is said at once
    if not order:
        return None
    if not METHODS[method].saves_within:
        dense = ", ".join(f"'{name}'" for name, one in METHODS.items() if one.saves_within)
        raise ValueError(
            f"outcome '{outcomes[order[0]].name}' looks between the ends of steps, and integrator '{method}' knows no "
            f"states there. Use {dense}; or ask for values at the end alone: gs.outcomes.last(...)."
        )
    followed = [outcomes[k] for k in order]
    function = compiled(signals_of(equations, followed), size)
    return Tracked(function, tuple(TRACKS[one.kept] for one in followed), tuple(one.direction for one in followed))


def jump_of(equations: Equations, event: When) -> Callable[[Array], Jump] | None:
    """What an event does to the derivatives of x (size,), compiled;
    None if there are none, or it leaves them as they are.
    """
    if not equations.varied or event.effect is None:
        return None
    graph = _traceable(equations, partial(event_jump, equations, event), np.zeros(0), f"event '{event.name}'")
    assert graph is not None
    return kernel(graph)


def moves_of(equations: Equations, event: When) -> Callable[[Array, bool], Array] | None:
    """How the time of an event answers to what is varied, compiled when it is first asked for."""
    if not equations.varied:
        return None
    kernel = cache(lambda: compiled(partial(event_moves, equations, event), equations.layout.size))
    return lambda x, rises: kernel()(x)


def for_many(function: Callable[[Array], Mapping[str, Any]], size: int) -> Callable[[Array], Mapping[str, Array]]:
    """A function of x (size,) that gives arrays by name, for x (..., size):
    compiled, or row by row where it cannot be.
    """
    try:
        return compiled(function, size)
    except (TypeError, ValueError, AttributeError):  # those of a function that is called from Python at each step, too
        return lambda x: _stacked(function, x)


def _stacked(function: Callable[[Array], Mapping[str, Any]], x: Array) -> dict[str, Array]:
    rows = [function(row) for row in x.reshape(-1, x.shape[-1])]
    return {name: np.reshape([r[name] for r in rows], (*x.shape[:-1], *np.shape(rows[0][name]))) for name in rows[0]}


def row_by_row(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A function of x (size,) for x (rows, size), called from Python."""
    return lambda x: np.array([np.asarray(function(row), dtype=float) for row in x])


def _filled(equations: Equations, rhs: Rows) -> Callable[[Array], Array]:
    """Compiled dynamics, with what Python computes filled in."""

    def rows(x: Array) -> Array:
        for row in x:
            equations.fill(row)
        return rhs(x)

    return rows
