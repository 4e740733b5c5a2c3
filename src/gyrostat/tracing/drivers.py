"""The loops around a compiled graph: over blocks of a batch laid out by lane,
or by rows as users hold them (see llvm.py).
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from .graph import Graph
from .ir import Code, block_names
from .transpose import load_tile, runs, store_tile, tiles

_UNROLLED_TILES = 3
_BLOCKS_AHEAD = 2
_MOST_FETCHED = 128  # components of one input


def dump_place(graph: Graph, scratch: int) -> int:
    """Where in the work memory the rows that pad the last block are written: behind scratch and all lane blocks."""
    return scratch + sum(port.size for port in graph.inputs + graph.outputs)


def _block_names(graph: Graph) -> list[list[str]]:
    return [[f"%{name}" for name in names] for names in block_names(len(graph.inputs), len(graph.outputs))]


def driver(graph: Graph, lanes: int, scalar: str, rows: bool, scratch: int) -> Code:
    """The functions `rows` and `lanes`: a loop over blocks."""
    code = Code(lanes, scalar)
    names = [name for group in _block_names(graph) for name in group]
    fields = [("%work", "ptr"), ("%first", "i64"), ("%last", "i64"), ("%count", "i64")]
    for name in names:
        fields += [(f"{name}base", "ptr"), (f"{name}stride", "i64")]
    for k, (field, kind) in enumerate(fields):
        address = code.let(f"getelementptr i64, ptr %record, i64 {k}")
        code.do(f"{field} = load {kind}, ptr {address}, align 8")
    code.do("%some = icmp slt i64 %first, %last")
    code.do("br i1 %some, label %start, label %end")
    code.begin("start")
    code.repeat("%first", "%last", 1, functools.partial(_rows if rows else _lanes, code, graph, scratch))
    code.do("br label %end")
    code.begin("end")
    head = f"define void @{'rows' if rows else 'lanes'}(ptr %record) nounwind {{"
    code.lines = [head, "entry:", *code.lines, "  ret void", "}"]
    return code


def _lanes(code: Code, graph: Graph, scratch: int, b: str) -> None:
    """Block b, where it lies. What a later block will read is fetched meanwhile: the graph reads here and there."""
    inputs, outputs = _block_names(graph)
    later = code.let(f"add i64 {b}, {_BLOCKS_AHEAD}")
    code.needs["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"] = None
    for name, used in zip(inputs, used_components(graph), strict=True):
        block = _row(code, name, later) if used else ""
        for component in sorted(used)[:_MOST_FETCHED]:
            place = code.let(f"getelementptr {code.vector}, ptr {block}, i64 {component}")
            code.do(f"call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 3, i32 1)")
    _call_block(code, [_row(code, name, b) for name in (*inputs, *outputs)])


def _rows(code: Code, graph: Graph, scratch: int, b: str) -> None:
    """Transpose W rows of each input into its buffer, call `block`, transpose the outputs back.

    The last block is padded: missing rows are read from the last row, and written to where nobody reads.
    """
    inputs, outputs = _block_names(graph)
    used = used_components(graph)
    buffers, place = [], scratch
    for port in graph.inputs + graph.outputs:
        buffers.append(code.let(f"getelementptr {code.vector}, ptr %work, i64 {place}"))
        place += port.size
    nowhere = code.let(f"getelementptr {code.vector}, ptr %work, i64 {dump_place(graph, scratch)}")
    start = code.let(f"mul i64 {b}, {code.lanes}")
    last = code.let("sub i64 %count, 1")
    numbers = [code.let(f"add i64 {start}, {k}") for k in range(code.lanes)]
    present = [code.let(f"icmp sle i64 {n}, {last}") for n in numbers]
    clamped = [code.let(f"select i1 {p}, i64 {n}, i64 {last}") for p, n in zip(present, numbers, strict=True)]
    for k, name in enumerate(inputs):
        found = tiles(graph.inputs[k].size, code.lanes, used[k])
        pointers = [_row(code, name, n) for n in clamped] if found else []
        _each_tile(code, found, functools.partial(_take, code, pointers, buffers[k]))
    _call_block(code, buffers)
    for name, port, buffer in zip(outputs, graph.outputs, buffers[len(inputs) :], strict=True):
        own = [_row(code, name, n) for n in clamped]
        pointers = [code.let(f"select i1 {p}, ptr {r}, ptr {nowhere}") for p, r in zip(present, own, strict=True)]
        _each_tile(
            code, tiles(port.size, code.lanes, range(port.size)), functools.partial(_give, code, pointers, buffer)
        )


def _take(code: Code, pointers: list[str], buffer: str, start: str, width: int) -> None:
    for column, vector in enumerate(load_tile(code, pointers, start, width)):
        code.store(vector, buffer, _plus(code, start, column))


def _give(code: Code, pointers: list[str], buffer: str, start: str, width: int) -> None:
    store_tile(code, [code.load(buffer, _plus(code, start, c)) for c in range(width)], pointers, start)


def used_components(graph: Graph) -> list[set[int]]:
    """Of each input, the components that the graph reads."""
    used: list[set[int]] = [set() for _ in graph.inputs]
    for op, _, data in graph.nodes:
        if op == "input":
            used[data[0]].add(data[1])
    return used


def _each_tile(code: Code, found: list[tuple[int, int]], body: Callable[..., None]) -> None:
    """`body(start, width)` for each tile; long runs of tiles are a loop."""
    for start, width, count in runs(found):
        if count > _UNROLLED_TILES:
            code.repeat(str(start), str(start + count * width), width, functools.partial(body, width=width))
        else:
            for k in range(count):
                body(str(start + k * width), width)


def _plus(code: Code, start: str, k: int) -> str:
    return str(int(start) + k) if start.isdecimal() else code.let(f"add i64 {start}, {k}")


def _row(code: Code, name: str, number: str) -> str:
    """Pointer to row (or lane block) `number` of an array."""
    offset = code.let(f"mul i64 {name}stride, {number}")
    return code.let(f"getelementptr i8, ptr {name}base, i64 {offset}")


def _call_block(code: Code, blocks: list[str]) -> None:
    code.do(f"call void @block({', '.join(f'ptr {p}' for p in (*blocks, '%work'))})")
