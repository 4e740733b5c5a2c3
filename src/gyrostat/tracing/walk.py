"""A graph on other kinds of values: symbols of another tool, numbers of many digits."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..algebra.elementary import Array
from .graph import Graph
from .scan import Loop

MOST_STEPS = 1000  # of a loop that is written out
# what Python's own operators mean to any tool
ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "recip": lambda a: 1 / a,
    "pow": operator.pow,
    "lt": operator.lt,
    "le": operator.le,
}
Operations = Mapping[str, Callable[..., Any]]


def walk(
    graph: Graph,
    inputs: Sequence[Sequence[Any]],
    operations: Operations,
    constant: Callable[[float], Any],
    tool: str,
    loops: bool = True,
) -> list[list[Any]]:
    """The outputs' components, in C order, from the inputs', operation by operation.

    operations: by name; `search` and `lookup` are given the table as their second argument. tool: for the message about
    operations that it does not have. loops: whether they are written out, or refused.
    """
    missing = sorted(
        {node.op for node in graph.nodes} - {*operations, "input", "const", *(("loop", "result") if loops else ())}
    )
    if missing:
        named = ", ".join(f"'{op}'" for op in missing)
        reason = _REASONS.get(missing[0], ".")
        raise NotImplementedError(
            f"{graph.name} cannot be written for {tool}: it has no operation like {named}{reason}"
        )
    values: list[Any] = []
    for op, args, data in graph.nodes:
        if op == "input":
            values.append(inputs[data[0]][data[1]])
        elif op == "const":
            values.append(constant(data))
        elif op in ("search", "lookup"):
            values.append(operations[op](values[args[0]], graph.tables[data]))
        elif op == "loop":
            values.append(_unrolled(data, [values[a] for a in args], operations, constant, tool))
        elif op == "result":
            values.append(values[args[0]][data])
        else:
            values.append(operations[op](*(values[a] for a in args)))
    return [[values[k] for k in result] for result in graph.results]


def _unrolled(
    loop: Loop, args: Sequence[Any], operations: Operations, constant: Callable[[float], Any], tool: str
) -> list[Any]:
    """Every step of a loop, one after the other."""
    if loop.steps > MOST_STEPS:
        raise NotImplementedError(
            f"a loop of {loop.steps} steps cannot be written for {tool}, where each is written out: at most "
            f"{MOST_STEPS}."
        )
    x, captured = list(args[: loop.n]), list(args[loop.n :])
    for k in range(loop.steps):
        (x,) = walk(loop.body, [x, [constant(float(k))], captured], operations, constant, tool)
    return x


def require_short(table: Array, most: int, tool: str) -> None:
    """Refuses tables that a tool would have to write out entry by entry."""
    if len(table) > most:
        raise NotImplementedError(
            f"a table of {len(table)} entries cannot be written for {tool}, where each is a case: at most {most}."
        )


_REASONS = {
    "backward": ": a gradient through a loop. Export the function, and let the other tool differentiate it.",
    "uniform": ": random numbers belong to a run. Leave the noise out of what is exported.",
}
