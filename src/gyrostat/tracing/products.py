"""Graphs of derivatives of a graph: along a direction (forward), and of a weighted sum of outputs (reverse)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.elementary import Array
from . import derivatives
from .expr import Trace
from .graph import Graph, Port, build
from .scan import replayed

Shapes = dict[tuple[str, ...], tuple[int, ...]]


def along(graph: Graph) -> Graph:
    """What the outputs change by. Inputs: those of the graph, then a change of each; outputs as those of the graph."""
    recording, symbols, shapes, outputs = _again(graph)
    changes = [e for port in graph.inputs for e in _fresh(recording, shapes, ("change", *port.path), port)]
    found = derivatives.pushforward(outputs, symbols, np.array(changes, dtype=object).reshape(-1, 1))
    return build(shapes, tuple(_split(found[:, 0], graph.outputs)), f"change_of_{graph.name}")


def against(graph: Graph) -> Graph:
    """The gradient of a weighted sum of the outputs. Inputs: those of the graph, then weights of each output; outputs
    are shaped as inputs.
    """
    recording, symbols, shapes, outputs = _again(graph)
    weights = [e for port in graph.outputs for e in _fresh(recording, shapes, ("weight", *port.path), port)]
    found = derivatives.pullback(outputs, symbols, weights)
    return build(shapes, tuple(_split(found, graph.inputs)), f"gradient_of_{graph.name}")


def _again(graph: Graph) -> tuple[Trace, list[Any], Shapes, list[Any]]:
    """The graph in a recording of its own: (it, symbols of inputs, their shapes, outputs)."""
    recording = Trace()
    shapes: Shapes = {}
    symbols = [_fresh(recording, shapes, port.path, port) for port in graph.inputs]
    return recording, [e for part in symbols for e in part], shapes, replayed(graph, recording, symbols)


def _fresh(recording: Trace, shapes: Shapes, path: tuple[str, ...], port: Port) -> list[Any]:
    shapes[path] = port.shape
    return list(np.asarray(recording.inputs("/".join(path), port.shape), dtype=object).flat)


def _split(values: Sequence[Any] | Array, ports: tuple[Port, ...]) -> list[Array]:
    """By port, each in its shape."""
    flat = np.empty(len(values), dtype=object)
    flat[:] = list(values)
    parts = np.split(flat, np.cumsum([port.size for port in ports])[:-1])
    return [part.reshape(port.shape) for part, port in zip(parts, ports, strict=True)]
