"""The order in which nodes are computed, and the cut of a long graph into functions that compile in bounded time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .graph import Graph
from .repeats import Outline, cut, outline

_MOSTLY = 0.5  # of a graph's nodes: it is cut into equal stretches where so many are in stretches that repeat


class Part(NamedTuple):
    """Nodes that form one function.

    loads, stores: scratch slots of values that come from earlier parts, or that later parts need.
    outputs: places (output, component) of a node's value; copies:
    outputs that are inputs or constants (output, component, node). outline: of what is like other parts.
    """

    nodes: list[int]
    loads: dict[int, int]
    stores: dict[int, int]
    outputs: dict[int, list[tuple[int, int]]]
    copies: list[tuple[int, int, int]]
    outline: Outline | None = None


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


def parts(graph: Graph, whole: int, part: int, long: int | None = None) -> tuple[list[Part], int]:
    """The parts in the order in which they run, and the number of scratch slots that they share.

    whole: nodes that stay in one function, where the most values stay in registers; part: nodes in one function of
    longer graphs; long: nodes beyond which a graph that repeats itself is cut into equal stretches: those that occur
    more than once have an outline.
    """
    sequence = order(graph)
    if long is not None and len(sequence) > long:
        found, slots = _parts(graph, cut(graph, sequence))
        found = _outlined(graph, found)
        if sum(len(part.nodes) for part in found if part.outline) > _MOSTLY * len(sequence):
            return found, slots
    size = part if len(sequence) > whole else whole
    return _parts(graph, [sequence[i : i + size] for i in range(0, len(sequence), size)] or [[]])


def _outlined(graph: Graph, found: Sequence[Part]) -> list[Part]:
    """The same parts, with the outlines of those that are like others."""
    outlines = [_outline(graph, part) for part in found]
    often = Counter(one.shape for one in outlines if one is not None)
    return [
        part._replace(outline=one) if one is not None and often[one.shape] > 1 else part
        for part, one in zip(found, outlines, strict=True)
    ]


def _outline(graph: Graph, part: Part) -> Outline | None:
    if part.copies:
        return None
    at = {k: i for i, k in enumerate(part.nodes)}
    kept = tuple(sorted(at[k] for k in part.stores))
    given = tuple((at[k], output) for k, places in part.outputs.items() for output, _ in places)
    return outline(graph, part.nodes, (kept, given))


def _parts(graph: Graph, pieces: list[list[int]]) -> tuple[list[Part], int]:
    home = {k: p for p, piece in enumerate(pieces) for k in piece}
    last_use: dict[int, int] = {}
    for p, piece in enumerate(pieces):
        for k in piece:
            for a in _taken(graph, k):
                if home.get(a, p) != p:
                    last_use[a] = p
    ending: dict[int, list[int]] = {}
    for k, p in last_use.items():
        ending.setdefault(p, []).append(k)
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
        free += [slots[k] for k in ending.get(p, ())]
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
