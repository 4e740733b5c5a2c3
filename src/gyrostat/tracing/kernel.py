"""Compiled functions: NumPy arrays in, NumPy arrays out, any batch shape, all cores."""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ..algebra.elementary import Array
from ..model import ValueCheck
from . import arrays, bound, direct, machine, memory, pool
from .arguments import Arguments
from .build import ENTRIES, Built, build
from .graph import Graph
from .recording import trace
from .taking import taking
from .tree import LEAF, flatten, unflatten

if TYPE_CHECKING:
    from .cuda_kernel import CudaKernel

_RELEASING = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_WORTH_A_THREAD = 400_000  # vector operations: some 50 microseconds
_TAKEN = 200_000  # by a thread at least; vector operations: some 25 microseconds
_WORTH_A_LOOK = 100_000_000  # vector operations: some 10 milliseconds, after which Ctrl-C is looked for


@overload
def compile(function: Callable[..., Any], craft: Any, *, target: Literal["cuda"], **options: Any) -> CudaKernel: ...
@overload
def compile(function: Callable[..., Any], craft: Any, *, target: str = "cpu", **options: Any) -> Kernel: ...
def compile(  # type: ignore[misc]  # options by name
    function: Callable[..., Any],
    craft: Any,
    *,
    inputs: Mapping[str, Any] | None = None,
    static: Mapping[str, Any] | None = None,
    parameters: Sequence[str] = (),
    threads: int | None = None,
    dtype: Any = np.float64,
    target: str = "cpu",
) -> Kernel | CudaKernel:
    """Compile `function(craft, ...)` for exactly that spacecraft; see `trace` for the arguments.

    threads: how many to use at most; None for all cores. dtype: float64 or float32. target: "cpu", which gives a
    `Kernel`; "cuda", a `CudaKernel`, which takes and gives arrays of NumPy, CuPy, JAX and PyTorch.

    Sums and products may be reordered, as real numbers allow: results agree with NumPy's to rounding. What is zero in
    the equations stays zero, also when multiplied by NaN or infinity.
    Otherwise NaN and infinity come out as they do from NumPy.

    Raises ValueError for another target, and for threads= of a card.
    """
    graph = trace(function, craft, inputs=inputs, static=static, parameters=parameters)
    crafts = craft if isinstance(craft, tuple) else (craft,)
    check = ParameterCheck(graph, crafts) if parameters else None
    if target == "cpu":
        return Kernel(graph, threads=threads, dtype=dtype, check=check)
    if target != "cuda":
        raise ValueError(f'target is {target!r}; expected "cpu" or "cuda".')
    if threads is not None:
        raise ValueError('threads= are those of the CPU; target="cuda" has one for each state. Leave it out.')
    from .cuda_kernel import CudaKernel

    return CudaKernel(graph, dtype=dtype, check=check)


class ParameterCheck:
    """Refuses values of a kernel's parameters that no spacecraft could be built with."""

    def __init__(self, graph: Graph, crafts: tuple[Any, ...]) -> None:
        self.shapes = {port.path[1]: port.shape for port in graph.inputs if port.path[0] == "parameters"}
        self.checks: list[tuple[ValueCheck, dict[str, str]]] = []
        for craft in crafts:
            before = "" if len(crafts) == 1 else f"{craft.name}/"
            own = {name.removeprefix(before): name for name in self.shapes if name.startswith(before)}
            if own:
                self.checks.append((ValueCheck(craft, list(own), f"parameters of {craft.name}"), own))

    def __call__(self, values: Mapping[str, Any], layout: str) -> None:
        found = {name: np.asarray(values[name], dtype=float) for name in self.shapes}
        for name, x in found.items():
            shape = self.shapes[name]
            if layout == "lanes":
                x = np.moveaxis(x, -1, 1)
            if x.shape[x.ndim - len(shape) :] != shape:
                return  # refused with its shape, where all inputs are
            found[name] = x
        for check, own in self.checks:
            check({name: found[path] for name, path in own.items()})


class Kernel:
    """A compiled graph. Call it like the function it was made from, without the spacecraft and static arguments.

    Arrays may have any leading batch shape; shapes are broadcast against each other without copying. A result does not
    depend on its place in the batch, nor on the number of threads. Parameters are given as `parameters={name: value}`;
    values that no spacecraft could be built with are refused.

    lazy: compile when it is first called, or when a compiled loop asks for its address, which needs the graph alone.
    out: arrays to write to, nested as the result is. layout: "rows" as users hold them, or "lanes": arrays of shape
    (blocks, *shape, lanes), one state per lane, which need no transposition (`to_lanes`, `from_lanes` convert).
    """

    def __init__(
        self,
        graph: Graph,
        *,
        threads: int | None = None,
        dtype: Any = np.float64,
        check: ParameterCheck | None = None,
        lazy: bool = False,
    ) -> None:
        if threads is not None:
            pool.require_count("threads", threads)
        self.graph, self.threads, self.dtype, self._check = graph, threads, np.dtype(dtype), check
        if self.dtype not in (np.dtype(np.float64), np.dtype(np.float32)):
            raise TypeError(f"dtype {self.dtype} cannot be compiled. Choose float64 or float32.")
        self._scalar = "double" if self.dtype == np.float64 else "float"
        self._built: dict[str, Built] = {}
        self._entry: dict[str, Any] = {}
        self._building = threading.Lock()
        self._arguments = Arguments(graph)
        self._local = threading.local()
        self._direct: direct.Direct | None = None
        self.__name__ = self.__qualname__ = graph.name
        if not lazy:
            self._for_calls()

    @functools.cached_property
    def lanes(self) -> int:
        """Of a vector of this machine, which only LLVM knows."""
        return machine.host_lanes(self._scalar)

    def _for_calls(self) -> Built:
        """With the loops over a batch."""
        with self._building:
            if "rows" not in self._built:
                built = build(self.graph, self.lanes, self._scalar)
                self._entry = {name: _RELEASING(built.library.address(name)) for name in ("rows", "lanes")}
                if direct.available() and all(len(port.path) == 1 for port in self.graph.inputs):
                    self._direct = direct.Direct(self.graph, self.dtype, *built)
                for name in ENTRIES:
                    self._built.setdefault(name, built)  # a loop may hold the address of a `block` built before
            return self._built["rows"]

    def for_loops(self) -> Built:
        """With the graph's own function at least."""
        with self._building:
            if "block" not in self._built:
                self._built["block"] = build(self.graph, self.lanes, self._scalar, loops=False)
            return self._built["block"]

    def __reduce__(self) -> Any:
        return _rebuild, (self.graph, self.threads, self.dtype, self._check, "rows" not in self._built)

    def to_c(self, name: str, folder: Any = ".", *, test: bool = False) -> list[Any]:
        """Write it as C99 for flight software: `name.c`, `name.h`; with a test, a main with reference vectors."""
        from ..export import c_files

        dtype = "double" if self.dtype == np.float64 else "float"
        return list(c_files({name: self.graph}, name, dtype=dtype, test=test).write(folder))

    @property
    def block_address(self) -> int:
        """Of `block(inputs..., outputs..., scratch)` for one lane block, so that compiled loops can call it."""
        return self.for_loops().library.address("block")

    @property
    def work_numbers(self) -> int:
        """How many numbers of scratch memory `block` needs at most."""
        return self.for_loops().work

    def block_of(self, lanes: int, scalar: str) -> Built:
        """The graph's own function for so many lanes of doubles in memory; scalar="mixed": computed in floats."""
        with self._building:
            name = f"{scalar} {lanes}"
            if name not in self._built:
                self._built[name] = build(self.graph, lanes, scalar, loops=False)
            return self._built[name]

    def has_block(self, lanes: int = 0, scalar: str = "") -> bool:
        """`for_loops`, or `block_of` these, is there already."""
        return (f"{scalar} {lanes}" if lanes else "block") in self._built

    def _for_one(self) -> Built:
        """Scalar code, one state at a time."""
        with self._building:
            if "one" not in self._built:
                self._built["one"] = build(self.graph, 1, self._scalar)
            return self._built["one"]

    def bind(self, *args: Any, out: Any = None, **named: Any) -> bound.BoundCall:
        """A call tied to these arrays: `call = fd.bind(q, v, tau)`; then `call()` reads them as they stand, and gives
        `call.out`, written anew each time.

        For loops that cannot wait: some 60 ns and the arithmetic. Arrays are C-contiguous and of
        the kernel's dtype; all single states, or all of one batch shape with single states repeated. A single state
        runs as scalar code: its last digits may differ from those in a batch.
        """
        values = self.in_order(args, named)
        inputs, batch = bound.in_place(self.graph, self.dtype, values)
        view = arrays.Rows(self.graph, self.dtype)
        if out is None:
            outputs = [view.empty(port.shape, batch) for port in self.graph.outputs]
            out = outputs[0] if self.graph.structure is LEAF else unflatten(self.graph.structure, iter(outputs))
        else:
            outputs = self._check_out(out, batch, view)
        bound.check_apart(self.graph, inputs, outputs)
        go: Callable[[], Any]
        keep = None
        if batch == ():
            go, keep = bound.one_state(self._for_one(), inputs, outputs, self.dtype)
        else:
            entries, _ = view.entries(inputs, outputs, batch)
            go = functools.partial(self._run, entries, view.count(batch), "rows")
        return bound.BoundCall(inputs, outputs, out, go if self._check is None else self._checked(go, values), keep)

    def _checked(self, go: Callable[[], None], values: Sequence[Any]) -> Callable[[], None]:
        """The same, which looks at the parameters first: their arrays may hold other values by now."""

        def call() -> None:
            self._check_parameters(values, "rows")
            go()

        return call

    def entry(self) -> bound.Entry:
        """Machine code for one state, to be called from C, Cython, cffi or Numba."""
        built, scalar = self._for_one(), "double" if self.dtype == np.float64 else "float"
        if self._check is not None:
            raise ValueError(f"{self.graph.name} has parameters, which an entry cannot check. Compile without them.")
        return bound.Entry(
            built.library.address("block"), bound.signature(self.graph, scalar), built.work, built.library
        )

    def _repr_html_(self) -> str:
        from ..model.notebook import table

        rows = [(".".join(map(str, port.path)), str(port.shape)) for port in self.graph.inputs]
        return f"<div>{escape(repr(self))}</div>{table(('argument', 'shape'), rows)}"

    def __repr__(self) -> str:
        return f"<Kernel {self.graph!r}, {self.dtype}, {self.lanes} lanes>"

    def __call__(self, *args: Any, out: Any = None, layout: str = "rows", **named: Any) -> Any:
        if not named and layout == "rows" and (one := self._direct) is not None:
            if out is None:
                found = one.call(*args, one.fresh()) if one.alone else one.several(args)
                if found is None:
                    found = one.in_one_piece(args)
            else:
                found = one.call(*args, out) if one.alone else None
            if found is not None:
                return found
        values = self.in_order(args, named)
        outputs = self._call_batch(values, out, layout)
        if out is not None:
            return out
        if self.graph.structure is LEAF:
            return outputs[0][()]
        return unflatten(self.graph.structure, (y[()] for y in outputs))

    def in_order(self, args: tuple[Any, ...], named: dict[str, Any]) -> Sequence[Any]:
        """The value of each input, in their order, from arguments by position and by name."""
        return self._arguments.in_order(args, named)

    def flat(self, values: Sequence[Any]) -> tuple[Array, ...]:
        """The outputs one after the other, from values `in_order`, with any leading batch axes."""
        return self._call_batch(values, None, "rows")

    def _call_batch(self, values: Sequence[Any], out: Any, layout: str) -> tuple[Array, ...]:
        if layout not in ("rows", "lanes"):
            raise ValueError(f"layout '{layout}' is not known. Write 'rows' or 'lanes'.")
        self._check_parameters(values, layout)
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
        entries, keep = view.entries(inputs, outputs, batch)
        self._run(entries, view.count(batch), layout)
        del keep
        return tuple(outputs)

    def _check_parameters(self, values: Sequence[Any], layout: str) -> None:
        if self._check is not None:
            given = {p.path[1]: x for p, x in zip(self.graph.inputs, values, strict=True) if p.path[0] == "parameters"}
            self._check(given, layout)

    def _check_out(self, out: Any, batch: tuple[int, ...], view: Any = None) -> list[Array]:
        """The arrays to write to, checked."""
        found = [out] if isinstance(out, np.ndarray) else [leaf for _, leaf in flatten(out, self.graph.name)[0]]
        if len(found) != len(self.graph.outputs):
            raise TypeError(f"out holds {len(found)} arrays; {self.graph.name} has {len(self.graph.outputs)} outputs.")
        for array, port in zip(found, self.graph.outputs, strict=True):
            expected = batch + port.shape if view is None else view.shape(port.shape, batch)
            arrays.check_out(array, expected, self.dtype, port.name)
        return found

    def _run(self, entries: list[int], count: int, layout: str) -> None:
        """Blocks, in pieces between which Ctrl-C is looked for, each taken by all threads."""
        if not self._entry:
            self._for_calls()
        entry = self._entry[layout]
        blocks = -(-count // self.lanes) if layout == "rows" else count
        operations = blocks * len(self.graph)
        threads = max(1, min(self.threads or pool.cores(), blocks, operations // _WORTH_A_THREAD))
        pieces = max(1, min(blocks, operations // (threads * _WORTH_A_LOOK)))
        cuts = [blocks * k // pieces for k in range(pieces + 1)]

        def record(first: int, last: int) -> ctypes.Array[ctypes.c_int64]:
            return (ctypes.c_int64 * (4 + len(entries)))(self._work_memory(), first, last, count, *entries)

        if threads == 1:

            def alone(k: int) -> None:
                own = record(cuts[k], cuts[k + 1])
                entry(ctypes.addressof(own))

            pool.run(alone, pieces, 1)
            return
        take, few = taking(), max(1, _TAKEN // len(self.graph))
        code = self._built["rows"].library.address(layout)
        following = (ctypes.c_int64 * pieces)(*cuts[:-1])

        def share(k: int) -> None:
            own, piece = record(0, 0), k // threads
            where = ctypes.addressof(following) + ctypes.sizeof(ctypes.c_int64) * piece
            take(ctypes.addressof(own), where, code, 2 * threads, few, cuts[piece + 1])

        pool.run(share, pieces * threads, threads)

    def _work_memory(self) -> int:
        """The address of the calling thread's work memory."""
        try:
            return self._local.work[1]
        except AttributeError:
            work = memory.aligned((self._for_calls().work,), self.dtype)
            self._local.work = work, memory.address(work)
            return self._local.work[1]

    def to_lanes(self, array: Any, shape: tuple[int, ...]) -> Array:
        """Rows (n, *shape) laid out by lane: (blocks, *shape, lanes). The last block is padded with the last row."""
        return arrays.to_lanes(np.asarray(array, dtype=self.dtype), len(shape), self.lanes)

    def from_lanes(self, array: Array, count: int) -> Array:
        """The first `count` rows of an array laid out by lane."""
        return arrays.from_lanes(array, count)


def _rebuild(graph: Graph, threads: int | None, dtype: Any, check: ParameterCheck | None, lazy: bool) -> Kernel:
    return Kernel(graph, threads=threads, dtype=dtype, check=check, lazy=lazy)
