"""Events as they are given: functions of (craft, t, q, v) that change sign, what happens there,
and what that does to a run's balance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...algebra import Array
from ...constraints import Residuals, residuals
from ...control.controller import call
from ...model import Spacecraft
from ..engine.system import EventSpec
from .balance import held_by
from .causes import effect_of
from .closure import require_closed, resting
from .equations import Equations
from .variations import Jump, jump


@dataclass(frozen=True, eq=False)
class When:
    """An event: `function(craft, t, q, v)` changes sign. direction: +1 rising, -1 falling, 0 both.

    terminal: the run stops there. effect(craft, t, q, v) -> (q, v): the state jumps there, and the run goes on.
    unit: of the function's values, for words about them.

    Signs are compared at the ends of the integrator's steps and at points between them. Where values and slopes tell of
    more changes, or do not fit each other, the step is looked at closely, up to 256 times. A function that swings
    faster still is told of by a warning: give `simulate` a `max_step` shorter than its swings.
    """

    function: Callable[..., Any]
    name: str = ""
    terminal: bool = False
    direction: int = 0
    effect: Callable[..., tuple[Any, Any]] | None = None
    unit: str = ""


def event_name(event: Any, otherwise: str) -> str:
    """Its own, or that of its function."""
    function = event.function if isinstance(event, When) else event
    return getattr(event, "name", "") or getattr(function, "__name__", "") or otherwise


def events_given(events: Any) -> tuple[When, ...]:
    """One or several, functions or `When`; checked, and each with a name."""
    found = []
    for k, event in enumerate([events] if callable(events) or isinstance(events, When) else events):
        if not callable(event) and not isinstance(event, When):
            raise TypeError(
                f"event {k} is {event!r}; expected a function of (craft, t, q, v), or gs.When(function, ...)."
            )
        event = event if isinstance(event, When) else When(event)
        if event.direction not in (-1, 0, 1):
            raise ValueError(
                f"event {k}: direction is {event.direction}; expected +1 (rising), -1 (falling) or 0 (both)."
            )
        found.append(replace(event, name=event_name(event, f"event {k}")))
    return tuple(found)


def effects_of(events: Any) -> tuple[str, ...]:
    """Names of the events that change the state."""
    return tuple(dict.fromkeys(event.name for event in events_given(events) if event.effect is not None))


def event_specs(
    equations: Equations,
    events: Sequence[When],
    jumps: Sequence[Callable[[Array], Jump] | None],
    moves: Sequence[Callable[[Array, bool], Array] | None],
) -> tuple[EventSpec, ...]:
    """jumps: of the derivatives; moves: those of the time; where there are any."""
    return tuple(
        EventSpec(
            e.name,
            e.terminal,
            e.direction,
            None if e.effect is None else _effect(equations, e.name, e.effect, derivatives),
            moves=moved,
        )
        for e, derivatives, moved in zip(events, jumps, moves, strict=True)
    )


def event_jump(equations: Equations, event: When, x: Array) -> Jump:
    """How the time of an event answers to what is varied,
    and the derivatives of the state after its effect; to be traced.
    """
    at, effect = equations.layout, event.effect

    def value(x: Array) -> Any:
        return equations.event_values((event.function,))(x)[0]

    def after(x: Array) -> Array:
        assert effect is not None
        state = (equations.own_craft(x), equations.time(x), x[at["q"]], x[at["v"]])
        q, v = call(effect, state, equations.available(x))
        return np.concatenate([np.asarray(q), np.asarray(v), x[at["z"]], x[at["load"]]])

    return jump(equations, value, None if effect is None else after, x)


def event_moves(equations: Equations, event: When, x: Array) -> Array:
    """How its time answers to what is varied; to be traced."""
    return event_jump(equations, event, x).dt


def _effect(
    equations: Equations,
    name: str,
    effect: Callable[..., tuple[Any, Any]],
    derivatives: Callable[[Array], Jump] | None,
) -> Callable[[Array, Array], Array]:
    """The jump of (q, v) as a jump of y: also of the impulse and the work that the effect has on its account."""
    at, craft = equations.layout, equations.craft
    account = at.row("integrals").start + _place(equations, name)

    def jumped(x: Array, y: Array) -> Array:
        x = x.copy()
        x[at.state] = y  # what another effect of this instant has left
        own, before = equations.own_craft(x), (x[at["q"]], x[at["v"]])
        q, v = call(effect, (own, equations.time(x), *before), equations.available(x))
        if np.shape(q) != (craft.nq,) or np.shape(v) != (craft.nv,):
            raise ValueError(
                f"an event's effect returned q of shape {np.shape(q)} and v of shape {np.shape(v)}; expected "
                f"({craft.nq},) and ({craft.nv},)."
            )
        for joint in resting(equations, before[1]):
            if np.any(np.asarray(v)[craft.joint_named(joint).v_at]):
                raise ValueError(
                    f"the effect of event '{name}' moves joint '{joint}', which is locked. Leave its rate at zero, or "
                    "end the run there and go on without the lock."
                )
        if equations.constraints:
            now = residuals(own, equations.time(x), np.asarray(q, float), np.asarray(v, float), equations.constraints)
            rows = Residuals(*(np.atleast_2d(part) for part in now))
            require_closed(equations, rows, f"after the effect of event '{name}'")
        y = y.copy()
        y[at.row("q")], y[at.row("v")] = q, v
        y[account : account + 7] += _balance(equations, own, q, v) - _balance(equations, own, *before)
        if derivatives is not None:
            y[at.row("S")] = derivatives(x).S.ravel()
        return y

    return jumped


def _place(equations: Equations, name: str) -> int:
    """Of the effect's integrals among all."""
    who = [cause.who for cause in equations.causes]
    return sum(cause.width for cause in equations.causes[: who.index(effect_of(name))])


def _balance(equations: Equations, craft: Spacecraft, q: Any, v: Any) -> Array:
    held = held_by(craft, np.asarray(q, dtype=float), np.asarray(v, dtype=float))
    return np.append(held.momentum, held.kinetic.sum() + held.stored).astype(float)
