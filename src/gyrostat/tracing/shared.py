"""Stretches of a graph that occur often, as one function each: told where to read and write, and its constants.

    shape(inputs..., outputs..., scratch, places, numbers)

places: of what is read, then written, in order of first use: where it lies behind its input, output or scratch;
numbers: the constants that are not the same everywhere. All of them stand in two tables of the module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .graph import Graph
from .ir import Code, block_names
from .ops import CONDITIONS
from .repeats import Outline
from .schedule import Part

Emit = Callable[..., str]  # the instruction of a node
Pair = Callable[[Code, str], tuple[str, ...]]  # sine and cosine


class Call(NamedTuple):
    """A function, and its arguments besides those that all have."""

    function: str
    more: tuple[str, ...]


class Shared(NamedTuple):
    """functions, tables, and the call of each part that has an outline."""

    functions: list[Code]
    tables: list[str]
    calls: dict[int, Call]


def shared(graph: Graph, pieces: Sequence[Part], like: Code, prefix: str, emit: Emit, pair: Pair) -> Shared:
    """What the parts that have an outline need."""
    alike: dict[object, list[int]] = {}
    for p, part in enumerate(pieces):
        if part.outline is not None:
            alike.setdefault(part.outline.shape, []).append(p)
    found, places, numbers = Shared([], [], {}), list[int](), list[float]()
    for s, members in enumerate(alike.values()):
        outlines = [one for p in members if (one := pieces[p].outline) is not None]
        columns = list(zip(*(one.numbers for one in outlines), strict=True))
        same = {j: column[0] for j, column in enumerate(columns) if len(set(column)) == 1}
        name = f"{prefix}shape{s}"
        found.functions.append(_function(graph, pieces[members[0]], outlines[0], name, like, same, emit, pair))
        for p, one in zip(members, outlines, strict=True):
            start = like.place_in(f"{prefix}places", len(places)), like.number_in(f"{prefix}numbers", len(numbers))
            found.calls[p] = Call(name, start)
            places += _places(graph, pieces[p], one)
            numbers += [x for j, x in enumerate(one.numbers) if j not in same]
    if found.functions:
        found.tables.append(like.table_of_places(f"{prefix}places", places or [0]))
        found.tables.append(like.table_of_numbers(f"{prefix}numbers", numbers or [0.0]))
    return found


def _places(graph: Graph, part: Part, one: Outline) -> list[int]:
    """Vectors behind the start of what holds them: of what is read, then written."""
    nodes = graph.nodes
    read = [nodes[k].data[1] if nodes[k].op == "input" else part.loads[k] for k in one.places]
    given = [place for places in part.outputs.values() for _, place in places]
    return [*read, *(part.stores[k] for k in part.nodes if k in part.stores), *given]


def _function(
    graph: Graph, part: Part, one: Outline, name: str, like: Code, same: dict[int, float], emit: Emit, pair: Pair
) -> Code:
    """The function that serves a part, and all that are like it. same: constants that are alike everywhere."""
    code, nodes = like.fresh(), graph.nodes
    ports = block_names(len(graph.inputs), len(graph.outputs))
    inputs = [code.argument(port) for port in ports[0]]
    scratch, places, numbers = (code.argument(x) for x in ("scratch", "places", "numbers"))
    order = {k: at for at, k in enumerate(one.places)}
    targets = _targets(part, len(order), code, ports[1], scratch)
    values: dict[int, str] = {}
    pairs: dict[int, tuple[str, ...]] = {}
    constants: dict[int, int] = {}

    def value(k: int) -> str:
        if k not in values:
            op, _, data = nodes[k]
            if op == "const":
                j = constants.setdefault(k, len(constants))
                rank = j - sum(i < j for i in same)
                values[k] = code.const(same[j]) if j in same else code.load_number(numbers, rank)
            else:
                source = inputs[data[0]] if op == "input" else scratch
                values[k] = as_kept(code, graph, k, code.load_told(source, places, order[k]))
        return values[k]

    for k in part.nodes:
        op, args, data = nodes[k]
        taken = [value(a) for a in args]
        if op in ("sin", "cos"):
            if args[0] not in pairs:
                pairs[args[0]] = pair(code, *taken)
            values[k] = pairs[args[0]][op == "cos"]
        else:
            values[k] = emit(code, op, taken, data, graph, "")
        for target, j in targets.get(k, ()):
            code.store_told(as_number(code, graph, k, values[k]), target, places, j)
    code.procedure(name, ports[0], [*ports[1], "scratch"], ["places", "numbers"], own=True, long=True)
    return code


def _targets(
    part: Part, count: int, code: Code, outputs: Sequence[str], scratch: str
) -> dict[int, list[tuple[str, int]]]:
    """Where each value goes, and which entry of the places tells it; count: entries before."""
    found: dict[int, list[tuple[str, int]]] = {}
    for k in part.nodes:
        if k in part.stores:
            found.setdefault(k, []).append((scratch, count))
            count += 1
    for k, given in part.outputs.items():
        for output, _ in given:
            found.setdefault(k, []).append((code.argument(outputs[output]), count))
            count += 1
    return found


def as_number(code: Code, graph: Graph, k: int, value: str) -> str:
    """A value as memory keeps it: a condition as 1 or 0."""
    return code.select(value, code.const(1.0), code.const(0.0)) if graph.nodes[k].op in CONDITIONS else value


def as_kept(code: Code, graph: Graph, k: int, value: str) -> str:
    """A value from memory."""
    return code.compare("une", value, code.const(0.0)) if graph.nodes[k].op in CONDITIONS else value
