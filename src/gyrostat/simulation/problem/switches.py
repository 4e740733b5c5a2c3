"""Where the loads of a differentiated run switch: `where`, `sign`, `floor` and `mod` of something that moves with what
is varied.

When e(t, s) = 0 (or a whole number, for floor and mod), the rates jump from f- to f+, and the time of that moves:

    dt/dp = -(e_s S + e_p) / (e_t + e_s f-),    S+ = S + (f- - f+) dt/dp                                         (1)

f- and f+ are the same equations with the switch set to one side and to the other. Where they agree nothing jumps.
Switches that turn at one e, such as `q < 1` here and `q >= 1` there, are set together. Those inside a loop are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...tracing import rules
from ...tracing.derivatives import needed, pushforward, substitute
from ...tracing.expr import Expr
from .variations import Directions, directions
from .varied import count

if TYPE_CHECKING:
    from .equations import Equations


class Turn(NamedTuple):
    """What a node of a graph is below and above the place where it switches."""

    node: Any
    below: Any
    above: Any


class Switch(NamedTuple):
    """e: what passes zero, or whole numbers. turns: what changes there."""

    e: Any
    whole: bool
    turns: list[Turn]

    @property
    def g(self) -> Any:
        """Changes its sign there."""
        return rules.sin(rules.mul(self.e, np.pi)) if self.whole else self.e

    def below(self, values: Sequence[Any]) -> list[Any]:
        return substitute(values, {turn.node: turn.below for turn in self.turns})

    def above(self, values: Sequence[Any]) -> list[Any]:
        return substitute(values, {turn.node: turn.above for turn in self.turns})


class Crossing(NamedTuple):
    """At a switch. up, down: derivatives of the state beyond it, (state, columns), when e rises and when it falls;
    up_at, down_at: those of its time (columns,); held: 1 if the motion cannot leave it on either side; odd: 1 if g
    falls where e rises.
    """

    up: Array
    down: Array
    up_at: Array
    down_at: Array
    held: Any
    odd: Any


def switches(equations: Equations, x: Array) -> list[Switch]:
    """Those of the rates at x, of symbols."""
    return _switches(_rates(equations, x), directions(equations, x), x)


def values(equations: Equations, x: Array) -> Array:
    """What changes its sign at each switch."""
    return np.array([switch.g for switch in switches(equations, x)], dtype=object)


def crossing(equations: Equations, k: int, x: Array) -> Crossing:
    """(1) at switch k, from below and from above."""
    rates, own = _rates(equations, x), directions(equations, x)
    switch = _switches(rates, own, x)[k]
    below, above = (np.array(side, dtype=object) for side in (switch.below(rates), switch.above(rates)))
    moved = pushforward([switch.e], list(x[own.places]), own.rows)[0]
    rate_below, rate_above = (_along(switch.e, own.with_column(f, 1.0), x) for f in (below, above))
    S = x[equations.layout["S"]].reshape(-1, count(equations.varied))
    up_at, down_at = (np.array([rules.div(-e, rate) for e in moved], dtype=object) for rate in (rate_below, rate_above))
    up, down = S + np.outer(below - above, up_at), S + np.outer(above - below, down_at)
    held = rules.where(rules.logical_and(rules.lt(0.0, rate_below), rules.lt(rate_above, 0.0)), 1.0, 0.0)
    even = rules.mod(rules.floor(rules.add(switch.e, 0.5)), 2.0) if switch.whole else 0.0
    return Crossing(up, down, up_at, down_at, held, even)


def turned(equations: Equations, crossing: Callable[[Array], Crossing]) -> Callable[[Array, Array, bool], Array]:
    """What a switch does to y: the derivatives jump. crossing: of x (size,), compiled."""
    at = equations.layout

    def jumped(x: Array, y: Array, rises: bool) -> Array:
        x, y = x.copy(), y.copy()
        x[at.state] = y  # what an effect of this instant has left
        found = crossing(x)
        if found.held:
            raise ValueError(
                f"sensitivities: at t = {float(equations.time(x)):.9g} s the motion of {equations.craft.name} begins "
                "to slide along a switch of what acts on it (where, sign, floor or mod in a law, an environment or a "
                "stop): both sides drive it back, and no derivative follows from either. Smooth the switch, as "
                "tanh(s / width) does sign(s); give the law a period=; or leave out sensitivities=."
            )
        y[at.row("S")] = np.ravel(found.up if rises != bool(found.odd) else found.down)
        return y

    return jumped


def moves(crossing: Callable[[Array], Crossing]) -> Callable[[Array, bool], Array]:
    """The derivatives of the time at which it is crossed."""

    def moved(x: Array, rises: bool) -> Array:
        found = crossing(x)
        return found.up_at if rises != bool(found.odd) else found.down_at

    return moved


def _rates(equations: Equations, x: Array) -> list[Any]:
    return [e if isinstance(e, Expr) else float(e) for e in equations.state_rates(x)]


def _along(e: Any, way: Directions, x: Array) -> Any:
    """What e changes by along the last column."""
    return pushforward([e], list(x[way.places]), way.rows[:, -1:])[0, 0]


def _switches(rates: Sequence[Any], own: Directions, x: Array) -> list[Switch]:
    """In the order in which they were recorded; without those that no direction moves."""
    symbols = [x[i] for i, row in zip(own.places, own.rows, strict=True) if any(not _is_zero(e) for e in row)]
    found: dict[tuple[int, bool], Switch] = {}
    way = needed(rates, symbols)
    moved = {node.index for node in (*symbols, *way)}
    for node in way:
        if node.op == "loop" and node.data.applies(
            _MEANING, [type(a) is not float and a.index in moved for a in node.args]
        ):
            raise ValueError(
                "sensitivities: something that acts compares what moves inside a loop (where, sign, floor or mod in "
                "algebra.scan, as sharing loads among thrusters does), and where its loads switch is not seen there. "
                "Write the loop out in Python, use minimum, maximum or abs where nothing jumps, or leave out "
                "sensitivities=; gs.rollout has gradients of runs with fixed steps."
            )
        if node.op not in _MEANING:
            continue
        e, below, above, whole = _MEANING[node.op](*node.args)
        if type(e) is float:
            continue
        if e.op == "neg" and not whole:
            e, below, above = e.args[0], above, below
        if all(_is_zero(d) for d in pushforward([e], list(x[own.places]), own.rows)[0]):
            continue
        switch = found.setdefault((e.index, whole), Switch(e, whole, []))
        switch.turns.append(Turn(node, below, above))
    return list(found.values())


def _compared(a: Any, b: Any) -> tuple[Any, Any, Any, bool]:
    return rules.sub(b, a), False, True, False


def _stairs(a: Any) -> tuple[Any, Any, Any, bool]:
    nearest = rules.floor(rules.add(a, 0.5))
    return a, rules.sub(nearest, 1.0), nearest, True


def _saw(a: Any, b: Any) -> tuple[Any, Any, Any, bool]:
    e = rules.div(a, b)
    at_top = rules.sub(a, rules.mul(rules.floor(rules.add(e, 0.5)), b))
    return e, rules.add(at_top, b), at_top, True


# what passes zero (or whole numbers), the node below, the node above, whether they are whole numbers
_MEANING: dict[str, Callable[..., tuple[Any, Any, Any, bool]]] = {
    "lt": _compared,
    "le": _compared,
    "sign": lambda a: (a, -1.0, 1.0, False),
    "floor": _stairs,
    "mod": _saw,
}


def _is_zero(e: Any) -> bool:
    return type(e) is float and e == 0.0
