"""Compiled functions: NumPy arrays in, NumPy arrays out, any batch shape, all cores."""

from __future__ import annotations

import ctypes
import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra.elementary import Array
from . import arrays, cache, machine, pool
from .graph import Graph
from .llvm import assembly
from .trace import trace
from .tree import LEAF, flatten, unflatten

_ENTRY = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
_RELEASING = ctypes.CFUNCTYPE(None, *_ENTRY)
_HOLDING = ctypes.PYFUNCTYPE(None, *_ENTRY)  # does not release the GIL: quicker for a single state
_WORTH_A_THREAD = 400_000  # lane operations: some 50 microseconds
FORMAT = 1  # of cache entries; raise it when the meaning of assembly or its drivers changes


def compile(
    function: Callable[..., Any],
    craft: Any,
    *,
    inputs: Mapping[str, Any] | None = None,
    static: Mapping[str, Any] | None = None,
    parameters: Sequence[str] = (),
    threads: int | None = None,
    dtype: Any = np.float64,
) -> Kernel:
    """Compile `function(craft, ...)` for exactly that spacecraft; see `trace` for the arguments.

    threads: how many to use at most; None for all cores. dtype: float64 or float32.
    """
    graph = trace(function, craft, inputs=inputs, static=static, parameters=parameters)
    return Kernel(graph, threads=threads, dtype=dtype)


class Kernel:
    """A compiled graph. Call it like the function it was made from, without the spacecraft and static arguments.

    Arrays may have any leading batch shape; shapes are broadcast against each other without copying. A result does not depend
    on its place in the batch, nor on the number of threads. Parameters are given as `parameters={name: value}`.

    out: arrays to write to, nested as the result is. layout: "rows" as users hold them, or "lanes": arrays of shape
    (blocks, *shape, lanes), one state per lane, which need no transposition (`to_lanes`, `from_lanes` convert).
    """

    def __init__(self, graph: Graph, *, threads: int | None = None, dtype: Any = np.float64) -> None:
        self.graph, self.threads, self.dtype = graph, threads, np.dtype(dtype)
        if self.dtype not in (np.dtype(np.float64), np.dtype(np.float32)):
            raise TypeError(f"dtype {self.dtype} cannot be compiled. Choose float64 or float32.")
        scalar = "double" if self.dtype == np.float64 else "float"
        self.lanes = machine.host_lanes(scalar)
        self._library, self._work = _build(graph, self.lanes, scalar)
        rows, lanes = self._library.address("rows"), self._library.address("lanes")
        self._entry = {"rows": _RELEASING(rows), "lanes": _RELEASING(lanes)}
        self._single = _HOLDING(rows)
        self._arguments = tuple(dict.fromkeys(port.path[0] for port in graph.inputs if port.path[0] != "parameters"))
        self._shapes = tuple(port.shape for port in graph.inputs)
        self._plain = all(len(port.path) == 1 for port in graph.inputs)
        self._local = threading.local()
        self.__name__ = self.__qualname__ = graph.name

    def __reduce__(self) -> Any:
        return _rebuild, (self.graph, self.threads, self.dtype)

    def __repr__(self) -> str:
        return f"<Kernel {self.graph!r}, {self.dtype}, {self.lanes} lanes>"

    def __call__(self, *args: Any, out: Any = None, layout: str = "rows", **named: Any) -> Any:
        if not named and self._plain and layout == "rows" and len(args) == len(self._shapes):
            for array, shape in zip(args, self._shapes, strict=True):
                if type(array) is not np.ndarray or array.shape != shape:
                    break
            else:
                return self._call_single(args, out)
        return self._call_batch(self._bind(args, named), out, layout)

    def _call_single(self, args: tuple, out: Any) -> Any:
        """One state: copied to buffers whose addresses are known. Buffers belong to a thread."""
        try:
            buffers = self._local.buffers
        except AttributeError:
            buffers = self._local.buffers = _Buffers(self)
        for buffer, array in zip(buffers.inputs, args, strict=True):
            buffer[...] = array
        self._single(buffers.table, buffers.work, 0, 1, 1)
        if out is None:
            results = [buffer.copy() for buffer in buffers.outputs]
            return results[0] if self.graph.structure is LEAF else unflatten(self.graph.structure, iter(results))
        for array, buffer in zip(self._check_out(out, ()), buffers.outputs, strict=True):
            array[...] = buffer
        return out

    def _bind(self, args: tuple, named: dict[str, Any]) -> list[Any]:
        """The value of each input port, from arguments by position and by name."""
        name = self.graph.name
        if len(args) > len(self._arguments):
            raise TypeError(f"{name} takes {len(self._arguments)} arguments {self._arguments}, got {len(args)}.")
        given = dict(zip(self._arguments, args, strict=False))
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

    def _call_batch(self, values: list[Any], out: Any, layout: str) -> Any:
        if layout not in self._entry:
            raise ValueError(f"layout '{layout}' is not known. Write 'rows' or 'lanes'.")
        view = (
            arrays.Rows(self.graph, self.dtype)
            if layout == "rows"
            else arrays.Lanes(self.graph, self.dtype, self.lanes)
        )
        inputs, batch = view.inputs(values)
        if out is None:
            outputs = [view.empty(port.shape, batch) for port in self.graph.outputs]
        else:
            outputs = self._check_out(out, batch, view)
            inputs = [np.array(x) if any(np.may_share_memory(x, y) for y in outputs) else x for x in inputs]
        table, keep = view.table(inputs, outputs, batch)
        self._run(self._entry[layout], table, view.count(batch), layout)
        del keep
        if out is not None:
            return out
        if self.graph.structure is LEAF:
            return outputs[0]
        return unflatten(self.graph.structure, iter(outputs))

    def _check_out(self, out: Any, batch: tuple[int, ...], view: Any = None) -> list[Array]:
        """The arrays to write to, checked."""
        leaves, structure = flatten(out, self.graph.name)
        if len(leaves) != len(self.graph.outputs):
            raise TypeError(f"out holds {len(leaves)} arrays; {self.graph.name} has {len(self.graph.outputs)} outputs.")
        found = []
        for (_, array), port in zip(leaves, self.graph.outputs, strict=True):
            expected = batch + port.shape if view is None else view.shape(port.shape, batch)
            arrays.check_out(array, expected, self.dtype, port.name)
            found.append(array)
        return found

    def _run(self, entry: Any, table: Array, count: int, layout: str) -> None:
        """Blocks, split over threads."""
        blocks = -(-count // self.lanes) if layout == "rows" else count
        most = self.threads or pool.cores()
        shares = max(1, min(most, blocks, blocks * len(self.graph) // _WORTH_A_THREAD))
        cuts = [blocks * k // shares for k in range(shares + 1)]
        address = table.ctypes.data

        def share(k: int) -> None:
            work = np.empty(self._work, dtype=self.dtype)
            entry(address, work.ctypes.data, cuts[k], cuts[k + 1], count)

        pool.run(share, shares)

    def to_lanes(self, array: Any, shape: tuple[int, ...]) -> Array:
        """Rows (n, *shape) laid out by lane: (blocks, *shape, lanes). The last block is padded with the last row."""
        return arrays.to_lanes(np.asarray(array, dtype=self.dtype), len(shape), self.lanes)

    def from_lanes(self, array: Array, count: int) -> Array:
        """The first `count` rows of an array laid out by lane."""
        return arrays.from_lanes(array, count)


def _leaves(value: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    if isinstance(value, Mapping):
        return {leaf for key, inner in value.items() for leaf in _leaves(inner, (*path, str(key)))}
    return {path}


class _Buffers:
    """Arrays for a single state, with addresses that do not change."""

    def __init__(self, kernel: Kernel) -> None:
        graph, dtype = kernel.graph, kernel.dtype
        self.inputs = [np.zeros(port.shape, dtype) for port in graph.inputs]
        self.outputs = [np.zeros(port.shape, dtype) for port in graph.outputs]
        self._work = np.zeros(kernel._work, dtype)
        self._table = np.array([[a.ctypes.data, a.nbytes] for a in (*self.inputs, *self.outputs)], dtype=np.int64)
        self.table = ctypes.c_void_p(self._table.ctypes.data)
        self.work = ctypes.c_void_p(self._work.ctypes.data)


def _rebuild(graph: Graph, threads: int | None, dtype: Any) -> Kernel:
    return Kernel(graph, threads=threads, dtype=dtype)


def _build(graph: Graph, lanes: int, scalar: str) -> tuple[machine.Library, int]:
    """Machine code from the cache, or compiled and stored there; and the numbers of work memory that a call needs."""
    key = hashlib.sha256(
        "\n".join((str(FORMAT), graph.key, str(lanes), scalar, machine.identity())).encode()
    ).hexdigest()
    stored = cache.load(key)
    if stored is not None:
        head, _, code = stored.partition(b"\n")
        return machine.Library(code), json.loads(head)
    text, vectors = assembly(graph, lanes, scalar)
    code = machine.machine_code(text)
    work = vectors * lanes
    cache.store(key, json.dumps(work).encode() + b"\n" + code)
    return machine.Library(code), work
