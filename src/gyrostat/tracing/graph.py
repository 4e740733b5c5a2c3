"""The recorded function: a straight list of operations from named inputs to named outputs."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..algebra.elementary import Array
from .expr import Condition, Expr
from .ops import NUMBERS, OPS
from .rules import fold
from .tables import Table
from .tree import LEAF, Structure, flatten


class Node(NamedTuple):
    """One scalar operation.

    `op` is a key of `ops.OPS`, or "input" (data: (k, i), component i of input k), or "const" (data: the float).
    `args` are positions of earlier nodes. The data of `search` and `lookup` is the position of their table. `loop`,
    `backward` and `map` (scan.py) have several values: `result` gives the one of number `data`.
    """

    op: str
    args: tuple[int, ...] = ()
    data: Any = None


class Port(NamedTuple):
    """An input or output: its path through nested arguments, as ("parameters", "arm.mass"), and its shape."""

    path: tuple[str, ...]
    shape: tuple[int, ...]

    @property
    def name(self) -> str:
        return "/".join(self.path)

    @property
    def size(self) -> int:
        return math.prod(self.shape)


class Graph:
    """A recorded function. Walk it with `for k, node in enumerate(graph)`: arguments always come first.

    inputs, outputs: the ports; `results[j]` holds the nodes of output j, in C order. `tables`: constant rows of floats.
    `structure`: how the outputs were nested in what the function returned.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        inputs: Sequence[Port],
        outputs: Sequence[Port],
        results: Sequence[Sequence[int]],
        tables: Sequence[Array] = (),
        name: str = "f",
        structure: Structure = LEAF,
    ) -> None:
        self.nodes, self.inputs, self.outputs = tuple(nodes), tuple(inputs), tuple(outputs)
        self.results, self.tables = tuple(map(tuple, results)), tuple(tables)
        self.name, self.structure = name, structure
        self._length = sum(map(_operations, self.nodes))

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        """The number of operations; inputs and constants do not count."""
        return self._length

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many operations of each kind there are, most frequent first."""
        return dict(Counter(node.op for node in self.nodes if node.op not in ("input", "const")).most_common())

    @cached_property
    def key(self) -> str:
        """A digest of all that determines the values: equal graphs have equal keys."""
        digest = hashlib.sha256()
        digest.update(repr((self.inputs, self.outputs, self.results)).encode())
        digest.update("\n".join([f"{op} {args} {data}" for op, args, data in self.nodes]).encode())
        for table in self.tables:
            digest.update(table.tobytes() + b"|")
        return digest.hexdigest()

    def evaluate(self, *arrays: Any, **named: Any) -> tuple[Array, ...]:
        """The outputs, computed node by node in NumPy: the second opinion on compiled code.

        Give the inputs in order or by name, with any common leading batch shape.
        """
        given = dict(zip((port.name for port in self.inputs), arrays, strict=False)) | named
        missing = [port.name for port in self.inputs if port.name not in given]
        if missing or len(given) != len(self.inputs):
            raise TypeError(f"evaluate() got {sorted(given)}; expected {[port.name for port in self.inputs]}.")
        flat = []
        for port in self.inputs:
            x = np.asarray(given[port.name], dtype=float)
            flat.append(x.reshape(x.shape[: x.ndim - len(port.shape)] + (port.size,)))
        values: list[Any] = []
        with np.errstate(all="ignore"):
            for op, args, data in self.nodes:
                if op == "input":
                    values.append(flat[data[0]][..., data[1]])
                elif op == "const":
                    values.append(data)
                elif op == "result":
                    values.append(values[args[0]][data])
                elif op in ("loop", "backward", "map"):
                    values.append(data.evaluate([values[a] for a in args]))
                elif data is not None:
                    values.append(OPS[op].numeric(values[args[0]], self.tables[data]))
                else:
                    values.append(OPS[op].numeric(*[values[a] for a in args]))
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in flat))
        out = []
        for port, result in zip(self.outputs, self.results, strict=True):
            columns = [np.broadcast_to(values[k], batch) for k in result]
            stacked = np.stack(columns, axis=-1) if columns else np.empty((*batch, 0))
            out.append(stacked.reshape(batch + port.shape))
        return tuple(out)

    def __str__(self) -> str:
        """The list of operations, one a line, for people."""
        names = [f"{port.name}{list(port.shape)}" for port in self.inputs]
        lines = [f"{self.name}({', '.join(names)}): {len(self)} operations {self.counts}"]
        text: list[str] = []
        for k, (op, args, data) in enumerate(self.nodes):
            if op == "input":
                port = self.inputs[data[0]]
                text.append(port.name if port.shape == () else f"{port.name}{_place(port, data[1])}")
            elif op == "const":
                text.append(f"{data:.17g}")
            else:
                table = (
                    ""
                    if data is None
                    else f", {data}"
                    if op in ("loop", "backward", "map", "result")
                    else f", table {data}"
                )
                lines.append(f"  x{k} = {_phrase(op, [text[a] for a in args], table)}")
                text.append(f"x{k}")
        for port, result in zip(self.outputs, self.results, strict=True):
            lines += [f"  {port.name}{_place(port, i)} = {text[k]}" for i, k in enumerate(result)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self).split("\n", 1)[0]


def _operations(node: Node) -> int:
    if node.op in ("loop", "backward", "map"):
        return int(node.data.operations)
    return int(node.op not in ("input", "const", "result"))


_INFIX = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "neg": "-{}",
    "recip": "1 / {}",
    "lt": "{} < {}",
    "le": "{} <= {}",
}


def _phrase(op: str, args: list[str], table: str) -> str:
    return _INFIX[op].format(*args) if op in _INFIX else f"{op}({', '.join(args)}{table})"


def _place(port: Port, component: int) -> str:
    return str([int(i) for i in np.unravel_index(component, port.shape)]) if port.shape else ""


def build(inputs: Mapping[tuple[str, ...], tuple[int, ...]], value: Any, name: str) -> Graph:
    """The graph from the symbols at the paths `inputs` to a value that holds Exprs;
    what no output needs is left out.
    """
    leaves, structure = flatten(value, name)
    outputs = [np.asarray(leaf, dtype=object) for _, leaf in leaves]
    scalars = [[_scalar(e) for e in output.flat] for output in outputs]
    position = {"/".join(path): k for k, path in enumerate(inputs)}

    def leaf(e: Any) -> Node | None:
        return Node("input", (), (position[e.data[0]], e.data[1])) if e.op == "input" else None

    nodes, results, tables = collected(scalars, leaf, lambda e: True)
    ports = [Port(path, tuple(shape)) for path, shape in inputs.items()]
    ends = [Port(path, output.shape) for (path, _), output in zip(leaves, outputs, strict=True)]
    return Graph(nodes, ports, ends, results, tables, name, structure)


def collected(
    scalars: Sequence[Sequence[Any]], leaf: Callable[[Any], Node | None], inner: Callable[[Any], bool]
) -> tuple[list[Node], list[list[int]], list[Array]]:
    """Nodes, results and tables of a graph to rows of Exprs and floats.

    leaf: the input that an Expr is, or None; inner: whether what it is made of is part of the graph.
    """
    live: dict[int, Any] = {}
    stack = [e for row in scalars for e in row if type(e) is not float]
    while stack:
        e = stack.pop()
        if e.index not in live:
            live[e.index] = e
            if inner(e):
                stack.extend(a for a in e.args if type(a) is not float)
    nodes: list[Node] = []
    place: dict[int, int] = {}
    numbers: dict[float | str, int] = {}
    known: dict[int, float] = {}  # values of constants that were kept, and of what is made of them alone
    tables: dict[Table, int] = {}

    def at(x: Any) -> int:
        found: dict[Any, int]
        value: Any
        key: Any
        if type(x) is float:
            found, value, key = numbers, x, x if abs(x) > 0.0 else str(x)  # zeros have signs, NaN equals nothing
        else:
            found, value, key = place, known.get(x.index), x.index
        if key not in found:
            found[key] = len(nodes)
            nodes.append(Node("const", (), value))
        return found[key]

    for index in sorted(live):
        e = live[index]
        node = leaf(e)
        if node is None and (value := _known(e, known)) is not None:
            known[index] = value
            continue
        if node is None:
            data = tables.setdefault(e.data, len(tables)) if isinstance(e.data, Table) else e.data
            node = Node(e.op, tuple([at(a) for a in e.args]), data)
        place[index] = len(nodes)
        nodes.append(node)
    return nodes, [[at(e) for e in row] for row in scalars], [t.values for t in tables]


def _known(e: Any, known: Mapping[int, float]) -> float | None:
    """The value of a constant that was kept, or of numbers made of such alone."""
    if e.op == "const":
        return e.data[0]
    if not e.args or e.data is not None or e.op not in NUMBERS or e.op == "where":
        return None
    values = []
    for a in e.args:
        value = a if type(a) is float else known.get(a.index)
        if value is None:
            return None
        values.append(value)
    return fold(e.op, *values)


def _scalar(e: Any) -> Any:
    """An element of an output: an Expr, or a float."""
    if isinstance(e, Condition):
        return e.where(1.0, 0.0)
    return e if isinstance(e, Expr) else float(e)
