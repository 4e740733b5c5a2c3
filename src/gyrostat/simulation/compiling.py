"""From equations and events to the compiled system, with Python standing in where something cannot be compiled."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra import Array
from ..tracing import Kernel, TraceError, trace
from .engine import EventSpec, System
from .equations import Equations


@dataclass(frozen=True, eq=False)
class When:
    """An event: `function(craft, t, q, v)` changes sign. direction: +1 rising, -1 falling, 0 both.

    terminal: the run stops there. effect(craft, t, q, v) -> (q, v): the state jumps there, and the run goes on.
    """

    function: Callable[..., Any]
    name: str = ""
    terminal: bool = False
    direction: int = 0
    effect: Callable[..., tuple[Any, Any]] | None = None


class SimulationWarning(UserWarning):
    """A run did not reach its end, or is slower than it could be."""


def settled(equations: Equations) -> Equations:
    """Find out by tracing whether the control law can be compiled, and whether it loads the base from outside."""
    outside = equations.environment is not None or equations.craft.joint(equations.craft.base).kind != "free"
    if equations.control is None:
        return replace(equations, external_loads=outside)
    try:
        graph = trace(equations.controller, None, inputs={"x": (equations.layout.size,)})
    except TraceError as error:
        warnings.warn(
            f"the control law cannot be compiled and is called from Python at each step, which is slower.\n{error}",
            SimulationWarning,
            stacklevel=3,
        )
        equations = replace(equations, python_control=True)
    else:
        base = equations.craft.joint(equations.craft.base).v_at
        nodes = [graph.nodes[k] for k in graph.results[0][base]]
        outside = outside or any(node.op != "const" or node.data != 0.0 for node in nodes)
        if equations.conserve and outside:
            raise ValueError(
                "conserve='momentum' holds where nothing acts from outside, but the control law loads the base (the first six "
                "entries of tau). Return zeros there, or use wheels."
            )
        equations = replace(equations, external_loads=outside)
    if equations.conserve:
        equations = replace(equations, external_loads=False)
    return equations


def compile_system(equations: Equations, events: Sequence[Any]) -> System:
    size, at = equations.layout.size, equations.layout
    specs, functions = _event_specs(equations, events)

    def compiled(function: Callable[[Array], Array]) -> Kernel:
        return Kernel(trace(function, None, inputs={"x": (size,)}))

    rhs: Any = compiled(equations.rhs)
    if equations.python_control:
        rhs = _with_python_control(equations, rhs)
    update: Any = None
    if equations.control is not None and equations.control.sampled:
        update = _python_update(equations) if equations.python_control else compiled(equations.update)
    watch: Any = None
    if functions:
        values = equations.event_values(functions)
        try:
            watch = compiled(values)
        except TraceError as error:
            warnings.warn(
                f"an event cannot be compiled and is called from Python.\n{error}", SimulationWarning, stacklevel=4
            )
            watch = _row_by_row(values)
    n = equations.state_at.stop - equations.state_at.start
    held = equations.held_at.stop - equations.held_at.start
    return System(rhs, n, update, held, watch, specs, size - at["run"].start)


def _row_by_row(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: np.array([np.asarray(function(row), dtype=float) for row in x])


def _python_update(equations: Equations) -> Callable[[Array], Array]:
    return _row_by_row(equations.update)


def _with_python_control(equations: Equations, rhs: Kernel) -> Callable[[Array], Array]:
    """Compiled dynamics, with the controller's result filled in from Python."""
    at = equations.layout
    sampled = equations.control is not None and equations.control.sampled

    def rows(x: Array) -> Array:
        for row in x:
            if sampled:
                row[at["python tau"]] = row[at["held"]]
            else:
                row[at["python tau"]], row[at["python zdot"]] = equations.controller(row)
        return rhs(x)

    return rows


def _event_specs(
    equations: Equations, events: Sequence[Any]
) -> tuple[tuple[EventSpec, ...], tuple[Callable[..., Any], ...]]:
    if callable(events) or isinstance(events, When):
        events = [events]
    specs, functions = [], []
    for k, event in enumerate(events):
        event = event if isinstance(event, When) else When(event)
        name = event.name or getattr(event.function, "__name__", "") or f"event {k}"
        effect = None if event.effect is None else _effect(equations, event.effect)
        specs.append(EventSpec(name, event.terminal, event.direction, effect))
        functions.append(event.function)
    return tuple(specs), tuple(functions)


def _effect(equations: Equations, effect: Callable[..., tuple[Any, Any]]) -> Callable[[Array, Array], Array]:
    """The jump of (q, v) as a jump of y."""
    if equations.conserve:
        raise ValueError("an event's effect cannot be combined with conserve='momentum'.")
    at, offset = equations.layout, equations.state_at.start

    def jump(x: Array, y: Array) -> Array:
        craft = equations._craft(x)
        q, v = effect(craft, x[0], x[at["q"]], equations.velocity(x))
        y = y.copy()
        y[at["q"].start - offset : at["q"].stop - offset] = q
        y[at["v"].start - offset : at["v"].stop - offset] = v
        return y

    return jump
