"""A graph on other kinds of values: symbols of another tool, numbers of many digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .graph import Graph

Operations = Mapping[str, Callable[..., Any]]


def walk(
    graph: Graph, inputs: Sequence[Sequence[Any]], operations: Operations, constant: Callable[[float], Any], tool: str
) -> list[list[Any]]:
    """The outputs' components, in C order, from the inputs', operation by operation.

    operations: by name; `search` and `lookup` are given the table as their second argument. tool: for the message about
    operations that it does not have.
    """
    missing = sorted({node.op for node in graph.nodes} - {*operations, "input", "const"})
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
        else:
            values.append(operations[op](*(values[a] for a in args)))
    return [[values[k] for k in result] for result in graph.results]


_REASONS = {"uniform": ": random numbers belong to a run. Leave the noise out of what is exported."}
