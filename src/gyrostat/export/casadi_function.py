"""A graph as a `casadi.Function` with named inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..algebra import Array
from ..tracing.c99 import names_of
from ..tracing.graph import Graph, Port
from ..tracing.walk import ARITHMETIC, require_short, walk
from .extras import demand

MOST_ENTRIES = 500  # of a table: each is a comparison


def to_casadi(graph: Graph | Any, name: str = "") -> Any:
    """The function `name`, on SX: give it to an optimiser, differentiate it, generate code.

    graph: a Graph, or a compiled function. Vectors are columns; matrices are matrices; arrays of more axes are columns
    in C order.
    """
    casadi = demand("casadi", "casadi", "CasADi")
    graph = getattr(graph, "graph", graph)
    names = names_of(graph.inputs)
    symbols = [casadi.SX.sym(own, *_shape(port)) for own, port in zip(names, graph.inputs, strict=True)]
    inputs = [_components(symbol, port) for symbol, port in zip(symbols, graph.inputs, strict=True)]
    results = walk(graph, inputs, _operations(casadi), casadi.SX, "CasADi")
    outputs = [_assembled(casadi, result, port) for result, port in zip(results, graph.outputs, strict=True)]
    return casadi.Function(name or graph.name, symbols, outputs, names, names_of(graph.outputs, names))


def _shape(port: Port) -> tuple[int, int]:
    if len(port.shape) == 2:
        return port.shape[0], port.shape[1]
    return port.size, 1


def _components(symbol: Any, port: Port) -> list[Any]:
    rows, columns = _shape(port)
    return [symbol[i, j] for i in range(rows) for j in range(columns)]


def _assembled(casadi: Any, values: list[Any], port: Port) -> Any:
    rows, columns = _shape(port)
    if not values:
        return casadi.SX(rows, columns)
    return casadi.reshape(casadi.vertcat(*values), columns, rows).T


def _operations(casadi: Any) -> dict[str, Callable[..., Any]]:
    def search(x: Any, table: Array) -> Any:
        require_short(table, MOST_ENTRIES, "CasADi")
        return sum((casadi.if_else(x >= float(entry), 1.0, 0.0) for entry in table[1:]), start=casadi.SX(0.0))

    def lookup(i: Any, table: Array) -> Any:
        require_short(table, MOST_ENTRIES, "CasADi")
        value = casadi.SX(float(table[0]))
        for before, after, k in zip(table[:-1], table[1:], range(1, len(table)), strict=True):
            value = value + casadi.if_else(i >= float(k), float(after - before), 0.0)
        return value

    return ARITHMETIC | {
        "sqrt": casadi.sqrt,
        "sin": casadi.sin,
        "cos": casadi.cos,
        "atan2": casadi.atan2,
        "exp": casadi.exp,
        "log": casadi.log,
        "abs": casadi.fabs,
        "min": casadi.fmin,
        "max": casadi.fmax,
        "sign": casadi.sign,
        "floor": casadi.floor,
        "mod": lambda a, b: a - casadi.floor(a / b) * b,
        "where": casadi.if_else,
        "and": casadi.logic_and,
        "or": casadi.logic_or,
        "not": casadi.logic_not,
        "search": search,
        "lookup": lookup,
    }
