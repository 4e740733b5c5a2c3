"""Loops inside a graph: `algebra.scan` on traced values, its derivatives forward and backward.

A loop is one node, `loop`, whose arguments are the first state (n) and what the body sees of the outside (m,
"captured"); its values are nodes `result`, by number. The body is a graph of its own. What does not change from step to
step is computed once, outside. (A node `map` does the same of every column of a matrix.)

    x <- f(x, k, c),  k = 0, 1, ..., steps - 1                                                                     (1)

Forward, tangents are part of the state of another loop. Backward, node `backward` goes from the last step to the first
with the adjoint of the state and sums up that of c; the states that it needs are found again from some that were kept
(loop_functions.py):

    a <- f_x^T a,    b <- b + f_c^T a                                                                              (2)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..algebra.elementary import Array
from . import rules
from .errors import at_user_line
from .expr import Condition, Trace
from .graph import Graph, Node, Port, collected
from .tables import Table, table_rule
from .tree import flatten, unflatten

MULTIPLE = ("loop", "backward", "map")  # operations that have several values


@dataclass(frozen=True)
class _Repeated:
    """A body that is run many times: of what changes (n,), ..., captured (m,)."""

    body: Graph = field(compare=False, repr=False)
    times: int
    key: str

    @property
    def n(self) -> int:
        return self.body.inputs[0].size

    @property
    def m(self) -> int:
        return self.body.inputs[-1].size

    @property
    def operations(self) -> int:
        return self.times * len(self.body)


class Loop(_Repeated):
    """What a node `loop` does: (1). body: of carry (n,), k, captured (m,) to carry."""

    @property
    def steps(self) -> int:
        return self.times

    def evaluate(self, args: Sequence[Any]) -> list[Any]:
        """All values, on NumPy floats of any batch shape."""
        x, captured = _stacked(args[: self.n]), _stacked(args[self.n :])
        for k in range(self.steps):
            (x,) = self.body.evaluate(x, float(k), captured)
        return [x[..., i] for i in range(self.n)]

    def applies(self, operations: Collection[str], moved: Sequence[bool]) -> bool:
        """Whether its body does one of these operations to what changes with the arguments that are moved."""
        carry, captured, before = list(moved[: self.n]), list(moved[self.n :]), None
        changes: list[bool] = []
        while carry != before:
            before, changes = carry, []
            for op, args, data in self.body.nodes:
                if op == "input":
                    changes.append((carry, [False], captured)[data[0]][data[1]])
                else:
                    changes.append(any(changes[a] for a in args))
            after = [changes[k] for k in self.body.results[0]]
            carry = [a or b for a, b in zip(before, after, strict=True)]
        return any(
            node.data.applies(operations, [changes[a] for a in node.args])
            if node.op == "loop"
            else node.op in operations and any(changes[a] for a in node.args)
            for node in self.body.nodes
        )

    @cached_property
    def reverse(self) -> Graph:
        """The step of (2): of carry, k, captured and the adjoint of what follows, to those of carry and captured."""
        from .derivatives import pullback

        trace = Trace()
        shapes = {name: (size,) for name, size in (("carry", self.n), ("captured", self.m), ("adjoint", self.n))}
        x, c, a = (list(trace.inputs(name, shape)) for name, shape in shapes.items())
        k = trace.input("k", 0)
        outputs = replayed(self.body, trace, [x, [k], c])
        adjoints = pullback(outputs, [*x, *c], a)
        nodes, results, tables = collected(
            [adjoints[: self.n], adjoints[self.n :]], _leaves([x, [k], c, a]), lambda e: True
        )
        ports = [Port(("carry",), (self.n,)), Port(("k",), ()), Port(("captured",), (self.m,))]
        ends = [Port(("carry",), (self.n,)), Port(("captured",), (self.m,))]
        return Graph(nodes, [*ports, Port(("adjoint",), (self.n,))], ends, results, tables, "reverse")


@dataclass(frozen=True)
class Backward:
    """What a node `backward` does: (2), from the first state, what is captured, and the adjoint of the last state."""

    loop: Loop

    @property
    def operations(self) -> int:
        return 2 * self.loop.operations + self.loop.steps * len(self.loop.reverse)

    def evaluate(self, args: Sequence[Any]) -> list[Any]:
        loop = self.loop
        n, m = loop.n, loop.m
        x, captured, a = _stacked(args[:n]), _stacked(args[n : n + m]), _stacked(args[n + m :])
        states = [x]
        for k in range(loop.steps - 1):
            states.append(loop.body.evaluate(states[-1], float(k), captured)[0])
        total: Any = 0.0 * captured
        for k in reversed(range(loop.steps)):
            a, own = loop.reverse.evaluate(states[k], float(k), captured, a)
            total = total + own
        return [*np.moveaxis(a, -1, 0), *np.moveaxis(np.broadcast_to(total, (*a.shape[:-1], m)), -1, 0)]


class Map(_Repeated):
    """What a node `map` does: the same of every column. body: of column (n,), captured (m,) to column (p,)."""

    @property
    def columns(self) -> int:
        return self.times

    @property
    def p(self) -> int:
        return self.body.outputs[0].size

    def evaluate(self, args: Sequence[Any]) -> list[Any]:
        captured = _stacked(args[self.columns * self.n :])
        found: list[Any] = []
        for k in range(self.columns):
            (column,) = self.body.evaluate(_stacked(args[k * self.n : (k + 1) * self.n]), captured)
            found += list(np.moveaxis(column, -1, 0))
        return found


def mapped(outputs: Sequence[Any], symbols: Sequence[Any], columns: Array) -> Array:
    """What the outputs are for each column of values (len(symbols), k) in place of the symbols, (len(outputs), k).

    One piece of code serves all columns; what does not depend on them is computed once. Not to be differentiated.
    """
    changing, captured = _changing(outputs, symbols), _Captured()
    own = {x.index: Node("input", (), (0, i)) for i, x in enumerate(symbols)}

    def inside(e: Any) -> bool:
        return e.index in changing or isinstance(e, Condition)

    def leaf(e: Any) -> Node | None:
        return own.get(e.index) or (None if inside(e) else captured.node(e, 1))

    nodes, results, tables = collected([outputs], leaf, inside)
    ports = [Port(("column",), (len(symbols),)), Port(("captured",), (len(captured.found),))]
    body = Graph(nodes, ports, [Port(("column",), (len(outputs),))], results, tables, "body")
    trace, k = symbols[0].trace, columns.shape[1]
    args = (*columns.T.flat, *captured.found.values())
    node = trace.node("map", args, Map(body, k, body.key))
    found = np.empty((len(outputs), k), dtype=object)
    for i, j in np.ndindex(found.shape):
        found[i, j] = trace.node("result", (node,), j * len(outputs) + i)
    return found


class _Captured:
    """What a body sees of the outside, in the order in which it is found."""

    def __init__(self) -> None:
        self.found: dict[int, Any] = {}
        self._places: dict[int, int] = {}

    def node(self, e: Any, port: int) -> Node:
        self.found.setdefault(e.index, e)
        return Node("input", (), (port, self._places.setdefault(e.index, len(self._places))))


def record(trace: Trace, f: Callable[..., Any], start: Any, first: int, steps: int) -> Any:
    """(1) from step `first` on, as nodes; start holds traced values, or f sees some."""
    leaves, structure = flatten(start, "x")
    arrays = [np.asarray(leaf, dtype=object) for _, leaf in leaves]
    args = [rules.number(trace, e) for a in arrays for e in a.flat]
    name = f"scan {len(trace.table)}"
    symbols, k = list(trace.inputs(name, (len(args),))), trace.input(f"{name} k", 0)
    value = f(unflatten(structure, iter(_shaped(symbols, arrays))), rules.add(k, float(first)))
    found, same = flatten(value, "x")
    after = [np.asarray(leaf, dtype=object) for _, leaf in found]
    if same != structure or [a.shape for a in after] != [a.shape for a in arrays]:
        raise at_user_line(
            f"scan: the function returns {[a.shape for a in after]}; it was given {[a.shape for a in arrays]}",
            "What it returns must be laid out as what it is given.",
        )
    outputs = [rules.number(trace, e) for a in after for e in a.flat]
    results = _loop(trace, outputs, symbols, k, args, steps - first)
    return unflatten(structure, iter(_shaped(results, arrays)))


def _shaped(values: Sequence[Any], like: Sequence[Array]) -> list[Any]:
    found, at = [], 0
    for a in like:
        part = np.empty(a.size, dtype=object)
        part[:] = values[at : at + a.size]
        found.append(part.reshape(a.shape)[()])
        at += a.size
    return found


def _loop(trace: Trace, outputs: list[Any], symbols: list[Any], k: Any, args: list[Any], steps: int) -> list[Any]:
    """The node of a loop whose body was recorded in the trace itself; what does not change in it is captured."""
    changing = _changing(outputs, [*symbols, k])
    captured = _Captured()

    def leaf(e: Any) -> Node | None:
        if e.index in own:
            return own[e.index]
        if e.index in changing or isinstance(e, Condition):
            return None
        return captured.node(e, 2)

    own = {x.index: Node("input", (), (0, i)) for i, x in enumerate(symbols)} | {k.index: Node("input", (), (1, 0))}
    nodes, results, tables = collected([outputs], leaf, lambda e: e.index in changing or isinstance(e, Condition))
    ports = [Port(("carry",), (len(args),)), Port(("k",), ()), Port(("captured",), (len(captured.found),))]
    body = Graph(nodes, ports, [Port(("carry",), (len(args),))], results, tables, "body")
    node = trace.node("loop", (*args, *captured.found.values()), Loop(body, steps, body.key))
    return [trace.node("result", (node,), i) for i in range(len(args))]


def _changing(outputs: Sequence[Any], symbols: Sequence[Any]) -> set[int]:
    """Nodes that depend on the symbols."""
    from .derivatives import needed

    return {node.index for node in (*symbols, *needed(outputs, symbols))}


def _leaves(groups: Sequence[Sequence[Any]]) -> Callable[[Any], Node | None]:
    known = {e.index: Node("input", (), (p, i)) for p, group in enumerate(groups) for i, e in enumerate(group)}
    return lambda e: known.get(e.index)


def replayed(graph: Graph, trace: Trace, inputs: Sequence[Sequence[Any]]) -> list[Any]:
    """The outputs of a graph, recorded anew on other values."""
    values: list[Any] = []
    for op, args, data in graph.nodes:
        if op == "input":
            values.append(inputs[data[0]][data[1]])
        elif op == "const":
            values.append(data)
        elif op in ("search", "lookup"):
            values.append(table_rule(op, values[args[0]], Table(graph.tables[data])))
        else:
            values.append(again(trace, op, [values[a] for a in args], data))
    return [values[k] for result in graph.results for k in result]


def again(trace: Trace, op: str, args: Sequence[Any], data: Any) -> Any:
    """An operation on other arguments."""
    if op in (*MULTIPLE, "result"):
        return trace.node(op, tuple(args), data)
    return rules.RULES[op](*args)


# ---- derivatives


def tangent_loop(node: Any, directions: Array) -> list[list[Any]]:
    """Tangents of the values of a loop, (n) rows of columns, from those of its arguments, (n + m, columns)."""
    from .derivatives import pushforward

    loop, trace, columns = node.data, node.trace, directions.shape[1]
    n, m = loop.n, loop.m
    name = f"scan {len(trace.table)}"
    x, c = list(trace.inputs(f"{name} x", (n,))), list(trace.inputs(f"{name} c", (m,)))
    k = trace.input(f"{name} k", 0)
    dx, dc = trace.inputs(f"{name} dx", (n, columns)), trace.inputs(f"{name} dc", (m, columns))
    still = np.array([[type(e) is float and e == 0.0 for e in row] for row in directions[n:]]).reshape(m, columns)
    dc = np.where(still, 0.0, dc) if m else dc
    outputs = replayed(loop.body, trace, [x, [k], c])
    change = pushforward(outputs, [*x, *c], np.vstack([dx, dc]).astype(object))
    flat, state = [*outputs, *change.T.flat], [*x, *dx.T.flat]
    seen = [(s, a) for s, a in zip([*c, *np.ravel(dc)], [*node.args[n:], *directions[n:].flat], strict=True)]
    seen = [(s, a) for s, a in seen if type(s) is not float]
    nodes, results, tables = collected([flat], _leaves([state, [k], [s for s, _ in seen]]), lambda e: True)
    ports = [Port(("carry",), (len(state),)), Port(("k",), ()), Port(("captured",), (len(seen),))]
    body = Graph(nodes, ports, [Port(("carry",), (len(state),))], results, tables, "body")
    args = (*node.args[:n], *directions[:n].T.flat, *(a for _, a in seen))
    beside = trace.node("loop", args, Loop(body, loop.steps, body.key))
    return [[trace.node("result", (beside,), n + j * n + i) for j in range(columns)] for i in range(n)]


def backward(node: Any, adjoints: dict[int, Any]) -> list[Any]:
    """Adjoints of the arguments of a loop, from those of its values by number."""
    loop = node.data
    last = [adjoints.get(i, 0.0) for i in range(loop.n)]
    back = node.trace.node("backward", (*node.args, *last), Backward(loop))
    return [node.trace.node("result", (back,), i) for i in range(loop.n + loop.m)]


def refuse_twice() -> Exception:
    return at_user_line(
        "a loop (scan) is differentiated backward, and then once more",
        "Second derivatives of loops are forward: differentiate first by at most as many values as there are results.",
    )


def _stacked(values: Sequence[Any]) -> Array:
    if not len(values):
        return np.zeros(0)
    return np.stack(np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in values)), axis=-1)
