"""Loops inside a graph as functions of one argument, the memory that belongs to the loop.

    loop       carry (n), captured (m), k, the next carry (n), scratch of the body; values: carry
    map        columns (k, n), captured (m), columns of results (k, p), scratch; values: the results
    backward   start (n), captured (m), adjoint (n), total (m), k, the next adjoint (n), own (m), checkpoints, states
               of a segment, scratch; values: adjoint and total

Going backward, the states before each step are needed in reverse. Of S steps every L-th state is kept, L = sqrt(S);
from the last kept to the first, the L states that follow it are computed again: twice the work forward, and memory for
2 sqrt(S) states.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from .graph import Graph
from .ir import Code
from .scan import Backward, Loop, Map

# the functions of a graph, its tables, and the vectors of scratch that they need
Blocks = Callable[[Graph, Any, str], tuple[list[Any], list[str], int]]


class LoopCode(NamedTuple):
    """functions and tables of a loop, and the vectors of memory that it needs."""

    functions: list[Any]
    tables: list[str]
    memory: int


def result_place(loop: Loop | Backward | Map, i: int) -> int:
    """Where in its memory a value is."""
    if isinstance(loop, Map):
        return loop.columns * loop.n + loop.m + i
    return i if isinstance(loop, Loop) else loop.loop.n + loop.loop.m + i


def loop_function(loop: Loop | Backward | Map, name: str, like: Any, blocks: Blocks) -> LoopCode:
    """The function `name(memory)`, and what it calls."""
    code = like.fresh()
    body = loop.loop.body if isinstance(loop, Backward) else loop.body
    functions, tables, scratch = blocks(body, like, f"{name}_")
    if isinstance(loop, Loop):
        memory = _loop(code, loop, name)
    elif isinstance(loop, Map):
        memory = _map(code, loop, name)
    else:
        forward = loop.loop
        others, more, room = blocks(forward.reverse, like, f"{name}_reverse_")
        functions, tables, scratch = functions + others, tables + more, max(scratch, room)
        memory = _backward(code, forward, name)
    code.procedure(name, [], ["memory"], own=True)
    return LoopCode([*functions, code], tables, memory + scratch)


def _loop(code: Code, loop: Loop, name: str) -> int:
    n, m = loop.n, loop.m
    captured, counter, following = n, n + m, n + m + 1
    scratch = following + n

    def step(k: str) -> None:
        _count(code, k, counter)
        _call(code, f"{name}_block", 0, counter, captured, following, scratch)
        _copy(code, following, 0, n)

    if loop.steps:
        code.repeat("0", str(loop.steps), 1, step)
    return scratch


def _map(code: Code, loop: Map, name: str) -> int:
    captured = loop.columns * loop.n
    results = captured + loop.m
    scratch = results + loop.columns * loop.p
    with code.counted("0", str(loop.columns)) as k:
        column = code.count_op("mul", k, str(loop.n))
        result = code.count_op("add", code.count_op("mul", k, str(loop.p)), str(results))
        _call(code, f"{name}_block", column, captured, result, scratch)
    return scratch


def _backward(code: Code, loop: Loop, name: str) -> int:
    n, m, steps = loop.n, loop.m, loop.steps
    length = max(1, math.isqrt(max(steps - 1, 0)) + 1)
    segments = -(-steps // length)
    captured, adjoint, total = n, n + m, 2 * n + m
    counter = total + m
    next_adjoint, own = counter + 1, counter + 1 + n
    kept = own + m
    states = kept + segments * n
    scratch = states + (length + 1) * n

    def times(a: str, factor: int, more: int = 0) -> str:
        return code.count_op("add", code.count_op("mul", a, str(factor)), str(more))

    def forward(segment: str, count: str) -> None:
        """So many states after the one that was kept."""
        _copy(code, times(segment, n, kept), states, n)
        first = times(segment, length)
        with code.counted("0", count) as i:
            _count(code, code.count_op("add", first, i), counter)
            here = times(i, n, states)
            _call(code, f"{name}_block", here, counter, captured, code.count_op("add", here, str(n)), scratch)

    zero = code.const(0.0)
    for place in range(total, total + m):
        code.store(zero, code.argument("memory"), place)
    _copy(code, 0, kept, n)
    with code.counted("0", str(segments - 1)) as segment:
        forward(segment, str(length))
        _copy(code, states + length * n, times(segment, n, kept + n), n)
    with code.counted("0", str(segments)) as back:
        segment = code.count_op("sub", str(segments - 1), back)
        rest = code.count_op("sub", str(steps), times(segment, length))
        count = code.choose(code.count_compare("slt", rest, str(length)), rest, str(length))
        last = code.count_op("sub", count, "1")
        forward(segment, last)
        with code.counted("0", count) as j:
            i = code.count_op("sub", last, j)
            _count(code, code.count_op("add", times(segment, length), i), counter)
            here = times(i, n, states)
            _call(code, f"{name}_reverse_block", here, counter, captured, adjoint, next_adjoint, own, scratch)
            _copy(code, next_adjoint, adjoint, n)
            with code.counted("0", str(m)) as c:
                at = code.count_op("add", c, str(total))
                share = code.load(code.argument("memory"), code.count_op("add", c, str(own)))
                code.store(code.add(code.load(code.argument("memory"), at), share), code.argument("memory"), at)
    return scratch


def _count(code: Code, k: str, place: int) -> None:
    """The number of the step, in every lane."""
    code.store(code.count_everywhere(k), code.argument("memory"), place)


def _call(code: Code, function: str, *places: Any) -> None:
    memory = code.argument("memory")
    code.call_named(function, *(code.place(memory, p) for p in places))


def _copy(code: Code, source: int | str, target: int | str, n: int) -> None:
    with code.counted("0", str(n)) as i:
        value = code.load(code.argument("memory"), code.count_op("add", i, str(source)))
        code.store(value, code.argument("memory"), code.count_op("add", i, str(target)))
