"""Graphs of derivatives of a graph: along a direction (forward), and of a weighted sum of outputs (reverse)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.elementary import Array
from . import derivatives, rules
from .expr import Trace
from .graph import Graph, Port, build
from .tables import Table, table_rule
from .walk import walk

_RULES = {
    **{
        op: getattr(rules, op)
        for op in [
            "add",
            "sub",
            "mul",
            "neg",
            "recip",
            "sqrt",
            "pow",
            "mod",
            "atan2",
            "sin",
            "cos",
            "exp",
            "log",
            "sign",
            "floor",
        ]
    },
    "abs": rules.absolute,
    "min": rules.minimum,
    "max": rules.maximum,
    "uniform": rules.uniform,
    "lt": rules.lt,
    "le": rules.le,
    "where": rules.where,
    "and": rules.logical_and,
    "or": rules.logical_or,
    "not": rules.logical_not,
    "search": lambda x, table: table_rule("search", x, Table(table)),
    "lookup": lambda x, table: table_rule("lookup", x, Table(table)),
}


def along(graph: Graph) -> Graph:
    """What the outputs change by: inputs are those of the graph, then a change of each; outputs as those of the
    graph."""
    recording, symbols, shapes, outputs = _again(graph)
    changes = [_fresh(recording, shapes, ("change", *port.path), port) for port in graph.inputs]
    flat, by = _joined(symbols), np.array(_joined(changes), dtype=object)
    found = derivatives.pushforward(_joined(outputs), flat, by.reshape(-1, 1))[:, 0]
    return _built(graph, shapes, _split(found, graph.outputs), [port.path for port in graph.outputs], "change")


def against(graph: Graph) -> Graph:
    """The gradient of a weighted sum of the outputs: inputs are those of the graph, then weights of each output;
    outputs are shaped as inputs."""
    recording, symbols, shapes, outputs = _again(graph)
    weights = [_fresh(recording, shapes, ("weight", *port.path), port) for port in graph.outputs]
    total: Any = 0.0
    for weight, value in zip(_joined(weights), _joined(outputs), strict=True):
        total = rules.add(total, rules.mul(weight, value))
    found = derivatives.jacobian([total], _joined(symbols))[0]
    return _built(graph, shapes, _split(found, graph.inputs), [port.path for port in graph.inputs], "gradient")


def _again(graph: Graph) -> tuple[Trace, list[list[Any]], dict[tuple[str, ...], tuple[int, ...]], list[list[Any]]]:
    """The graph in a recording of its own: (it, symbols of inputs, their shapes, outputs)."""
    recording = Trace()
    shapes: dict[tuple[str, ...], tuple[int, ...]] = {}
    symbols = [_fresh(recording, shapes, port.path, port) for port in graph.inputs]
    outputs = walk(graph, symbols, _RULES, float, "derivatives")
    return recording, symbols, shapes, outputs


def _fresh(
    recording: Trace, shapes: dict[tuple[str, ...], tuple[int, ...]], path: tuple[str, ...], port: Port
) -> list[Any]:
    shapes[path] = port.shape
    return list(np.asarray(recording.inputs("/".join(path), port.shape), dtype=object).flat)


def _joined(parts: list[list[Any]]) -> list[Any]:
    return [e for part in parts for e in part]


def _split(values: Array, ports: tuple[Port, ...]) -> list[Array]:
    cuts = np.cumsum([port.size for port in ports])[:-1]
    return [
        part.reshape(port.shape)
        for part, port in zip(np.split(np.asarray(values, dtype=object), cuts), ports, strict=True)
    ]


def _built(graph: Graph, shapes: Any, values: list[Array], paths: list[tuple[str, ...]], what: str) -> Graph:
    return build(shapes, tuple(values), f"{what}_of_{graph.name}")
