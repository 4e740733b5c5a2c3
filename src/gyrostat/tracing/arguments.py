"""The arguments of a compiled function, by position and by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .graph import Graph


class Arguments:
    """Of a graph that is called like the function it was made from, without the spacecraft and static arguments."""

    def __init__(self, graph: Graph) -> None:
        taken = {"out", "layout"} & {port.path[0] for port in graph.inputs}
        if taken:
            raise TypeError(f"{graph.name}: a kernel's argument cannot be named '{taken.pop()}'. Rename it.")
        self.graph = graph
        self._names = tuple(dict.fromkeys(port.path[0] for port in graph.inputs if port.path[0] != "parameters"))
        self._plain = all(len(port.path) == 1 for port in graph.inputs)

    def in_order(self, args: tuple[Any, ...], named: dict[str, Any]) -> Sequence[Any]:
        """The value of each input, in their order."""
        if not named and len(args) == len(self.graph.inputs) == len(self._names) and self._plain:
            return args
        name = self.graph.name
        if len(args) > len(self._names):
            raise TypeError(f"{name} takes {len(self._names)} arguments {self._names}, got {len(args)}.")
        given = dict(zip(self._names, args, strict=False))
        twice = given.keys() & named.keys()
        if twice:
            raise TypeError(f"{name} got '{twice.pop()}' both by position and by name. Give it once.")
        given |= {key: value for key, value in named.items() if value is not None}
        values = []
        for port in self.graph.inputs:
            value: Any = given
            for depth, key in enumerate(port.path):
                if not isinstance(value, Mapping) or key not in value:
                    raise TypeError(f"{name} misses '{'/'.join(port.path[: depth + 1])}', of shape {port.shape}.")
                value = value[key]
            values.append(value)
        unknown = _leaves(given) - {port.path for port in self.graph.inputs}
        if unknown:
            paths = ["/".join(path) for path in sorted(unknown)]
            raise TypeError(
                f"{name} has no input {', '.join(paths)}. Its inputs: {[port.name for port in self.graph.inputs]}."
            )
        return values


def _leaves(value: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    if isinstance(value, Mapping):
        return {leaf for key, inner in value.items() for leaf in _leaves(inner, (*path, str(key)))}
    return {path}
