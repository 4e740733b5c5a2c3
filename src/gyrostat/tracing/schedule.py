"""The order in which nodes are computed, and the cut of a long graph into functions that compile in bounded time."""

from __future__ import annotations

from typing import NamedTuple

from .graph import Graph


class Part(NamedTuple):
    """Nodes that form one function.

    loads, stores: scratch slots of values that come from earlier parts, or that later parts need.
    outputs: places (output, component) of a node's value; copies:
    outputs that are inputs or constants (output, component, node).
    """

    nodes: list[int]
    loads: dict[int, int]
    stores: dict[int, int]
    outputs: dict[int, list[tuple[int, int]]]
    copies: list[tuple[int, int, int]]


def order(graph: Graph) -> list[int]:
    """All operations: first the sines and cosines of inputs (their rare slow path branches), then as recorded."""
    operations = [k for k, node in enumerate(graph) if node.op not in ("input", "const")]
    partner: dict[int, list[int]] = {}
    for k in operations:
        op, args, _ = graph.nodes[k]
        if op in ("sin", "cos"):
            partner.setdefault(args[0], []).append(k)
    done: set[int] = set()
    found = []
    for angle, pair in partner.items():
        if graph.nodes[angle].op == "input":
            found += pair
    done.update(found)
    for k in operations:
        if k not in done:
            op, args, _ = graph.nodes[k]
            pair = partner[args[0]] if op in ("sin", "cos") else [k]
            found += pair
            done.update(pair)
    return found


def parts(graph: Graph, whole: int, part: int) -> tuple[list[Part], int]:
    """The parts in the order in which they run, and the number of scratch slots that they share.

    whole: nodes that stay in one function, where the most values stay in registers; part: nodes in one function of
    longer graphs.
    """
    sequence = order(graph)
    size = part if len(sequence) > whole else whole
    pieces = [sequence[i : i + size] for i in range(0, len(sequence), size)] or [[]]
    home = {k: p for p, piece in enumerate(pieces) for k in piece}
    last_use: dict[int, int] = {}
    for p, piece in enumerate(pieces):
        for k in piece:
            for a in _taken(graph, k):
                if home.get(a, p) != p:
                    last_use[a] = p
    slots: dict[int, int] = {}
    free: list[int] = []
    size = 0
    for p, piece in enumerate(pieces):
        for k in piece:
            if k in last_use:
                if not free:
                    free.append(size)
                    size += 1
                slots[k] = free.pop()
        free += [slots[k] for k, last in last_use.items() if last == p]
    result = [_part(graph, p, piece, home, slots) for p, piece in enumerate(pieces)]
    for output, nodes in enumerate(graph.results):
        for place, k in enumerate(nodes):
            if k in home:
                result[home[k]].outputs.setdefault(k, []).append((output, place))
            else:
                result[-1].copies.append((output, place, k))
    return result, size


def _taken(graph: Graph, k: int) -> tuple[int, ...]:
    """The values that a node is made of. Those of a loop stay in its own memory, where `result` finds them."""
    return () if graph.nodes[k].op == "result" else graph.nodes[k].args


def _part(graph: Graph, p: int, piece: list[int], home: dict[int, int], slots: dict[int, int]) -> Part:
    loads = {a: slots[a] for k in piece for a in _taken(graph, k) if home.get(a, p) != p}
    return Part(piece, loads, {k: slots[k] for k in piece if k in slots}, {}, [])
