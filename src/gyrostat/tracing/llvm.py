"""From a graph to LLVM assembly: one instruction per node on vectors of W lanes, each lane one member of the batch.

A "lane block" of an array with k components is k vectors, one after the other. The module has these functions:

    block(inputs..., outputs..., scratch)                the graph, for one lane block of each input and output
    lanes(record)                                        blocks first, ..., last - 1 of arrays laid out by lane
    rows(record)                                         the same for `count` rows as users hold them
    direct(...), bound()                                 for Python to call with one state (direct.py)

`record` holds 64-bit integers: the address of work memory, first, last, count; then for each input and output its
address and its stride in bytes (from one lane block, or row, to the next; zero to broadcast).
"""

from __future__ import annotations

from typing import NamedTuple

from .direct import bound_function, direct_function
from .drivers import driver, dump_place
from .emission import block_functions, completed
from .graph import Graph
from .ir import Code
from .mixed import Mixed

LONG = 8000  # nodes; shorter graphs are compiled whole, which lets more values stay in registers


class Assembly(NamedTuple):
    """LLVM assembly of a module, and the vectors of scratch memory that its functions need."""

    text: str
    work: int


def assembly(graph: Graph, lanes: int, scalar: str = "double", *, loops: bool = True) -> Assembly:
    """The module of `graph` for vectors of `lanes` numbers; without `loops`, the function `block` alone.

    scalar: "double", "float", or "mixed": floats, on memory of doubles; `block` alone.
    """
    code = Mixed(lanes) if scalar == "mixed" else Code(lanes, scalar)
    bodies, tables, scratch = block_functions(graph, code, long=LONG)
    work = scratch
    if loops:
        bodies += [driver(graph, lanes, scalar, rows=rows, scratch=scratch) for rows in (False, True)]
        bodies += [direct_function(graph, scalar), bound_function(scalar)]
        work = dump_place(graph, scratch) + max((-(-port.size // lanes) for port in graph.outputs), default=0)
    declared, functions = completed(bodies)
    text = ["\n".join(code.lines) for code in (*functions, *bodies)]
    return Assembly(
        "\n".join([*tables, *declared, *text, '!0 = !{!"branch_weights", i32 1, i32 100000}\n']),
        work,
    )
