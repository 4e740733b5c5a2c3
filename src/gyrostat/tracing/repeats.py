"""Equal stretches of a long graph: found, so that they are compiled once.

Bodies that are alike leave stretches of nodes that are alike: the same operations on the values of other bodies and on
other constants. Cuts are made by content: of all places where a stretch may end, the one whose next few nodes have
the least digest. Where the content repeats itself, so do the cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .graph import Graph
from .ops import CONDITIONS

_SHORTEST, _LONGEST = 120, 600  # nodes of a stretch
_SINES = 32  # nodes of a stretch of sines and cosines
_WINDOW = 12  # nodes that a digest sees
_NEAR = 40  # arguments that were made as recently are told apart by their distance


class Outline(NamedTuple):
    """A stretch without what it differs in: `shape`, the same for all that one function serves; `places`, nodes from
    outside in order of first use; `numbers`, its constants in that order.
    """

    shape: tuple[Any, ...]
    places: tuple[int, ...]
    numbers: tuple[float, ...]


def cut(graph: Graph, sequence: Sequence[int]) -> list[list[int]]:
    """The sequence in stretches, equal ones where the graph repeats itself. The sines of inputs stand first and are
    many instructions each, a few at a time.
    """
    start = next((i for i, k in enumerate(sequence) if graph.nodes[k].op not in ("sin", "cos")), len(sequence))
    pieces = [list(sequence[i : min(i + _SINES, start)]) for i in range(0, start, _SINES)]
    digests = _digests(graph, sequence)
    while start < len(sequence):
        end = len(sequence)
        if end - start > _LONGEST:
            first = start + _SHORTEST
            end = first + int(np.argmin(digests[first : start + _LONGEST]))
        pieces.append(list(sequence[start:end]))
        start = end
    return pieces


def _digests(graph: Graph, sequence: Sequence[int]) -> np.ndarray:
    """Of the nodes that follow each place."""
    position = {k: i for i, k in enumerate(sequence)}
    nodes, own = graph.nodes, np.empty(len(sequence), dtype=np.uint64)
    kinds: dict[Any, int] = {}
    for i, k in enumerate(sequence):
        op, args, _ = nodes[k]
        sight: list[Any] = [op]
        for a in args:
            distance = i - position.get(a, -_NEAR)
            sight.append(distance if distance < _NEAR else nodes[a].op if a not in position else "far")
        own[i] = kinds.setdefault(tuple(sight), len(kinds))
    found = np.zeros(len(sequence), dtype=np.uint64)
    for ahead in range(_WINDOW):
        found = found * np.uint64(0x9E3779B97F4A7C15) + np.roll(own, -ahead) + np.uint64(1)
    found ^= found >> np.uint64(29)
    for i in range(1, len(sequence)):
        one, other = nodes[sequence[i - 1]], nodes[sequence[i]]
        if one.op in ("sin", "cos") and one.args == other.args:
            found[i] = np.iinfo(np.uint64).max  # computed together
    return found


def outline(graph: Graph, nodes: Sequence[int], results: tuple[Any, ...]) -> Outline | None:
    """None where a function of its own is needed: loops and tables. results: what becomes of its nodes."""
    local = {k: i for i, k in enumerate(nodes)}
    outside: dict[int, int] = {}
    numbers: dict[int, int] = {}
    lines = []
    for k in nodes:
        op, args, data = graph.nodes[k]
        if data is not None:
            return None
        line: list[Any] = [op]
        for a in args:
            if a in local:
                line.append(local[a])
            elif graph.nodes[a].op == "const":
                line.append(("number", numbers.setdefault(a, len(numbers))))
            else:
                line.append(("outside", outside.setdefault(a, len(outside))))
        lines.append(tuple(line))
    sources = tuple([_source(graph, a) for a in outside])
    values = tuple([float(graph.nodes[a].data) for a in numbers])
    return Outline((tuple(lines), sources, results), tuple(outside), values)


def _source(graph: Graph, k: int) -> Any:
    """Where a value comes from: an input, or scratch memory as a number or a condition."""
    op, _, data = graph.nodes[k]
    return data[0] if op == "input" else "condition" if op in CONDITIONS else "number"
