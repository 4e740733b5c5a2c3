"""A kernel tied to arrays: what a call would look up each time is written down once.

One state runs as scalar code straight on the caller's memory, with nothing copied. It rounds like the code of a batch
but for sums that the compiler pairs otherwise: the last digits may differ from those of the same state in a batch.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..algebra.elementary import Array
from . import memory
from .arrays import Rows
from .build import Built
from .direct import available, bound_call
from .graph import Graph

_HOLDING = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)  # keeps the GIL: giving it back takes longer than the work


class Entry(NamedTuple):
    """A kernel's machine code for one state, for callers in C, Cython, cffi or Numba.

    address: of a function that takes a pointer for each input, each output, and one to scratch memory of `work`
    numbers, which no other call may use meanwhile. Arrays are C-contiguous; inputs and outputs must not overlap.
    signature: the same in C. library: must live as long as the address is in use.
    """

    address: int
    signature: str
    work: int
    library: Any


class BoundCall:
    """Calls a kernel with the arrays it was bound to, as they are then, and gives `out`, written anew each time.

    Made by `Kernel.bind`. It holds the arrays; one call at a time.
    """

    def __init__(
        self, inputs: Sequence[Array], outputs: Sequence[Array], out: Any, go: Callable[[], Any], keep: Any = None
    ) -> None:
        self.inputs, self.outputs, self.out, self._go, self._keep = tuple(inputs), tuple(outputs), out, go, keep

    def __call__(self) -> Any:
        self._go()
        return self.out


def in_place(graph: Graph, dtype: np.dtype, values: Sequence[Any]) -> tuple[list[Array], tuple[int, ...]]:
    """The inputs as they are, and their common batch shape; refused if one of them could not be read where it lies."""
    for value, port in zip(values, graph.inputs, strict=True):
        if not isinstance(value, np.ndarray) or value.dtype != dtype or not value.flags.c_contiguous:
            found = f"{type(value).__name__} {getattr(value, 'dtype', '')}".strip()
            if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
                found += ", not C-contiguous"
            raise TypeError(
                f"{graph.name}: '{port.name}' is {found}. A bound call reads arrays where they lie: give a "
                f"C-contiguous array of {dtype}, such as np.ascontiguousarray({port.name}, dtype='{dtype}')."
            )
    inputs, batch = Rows(graph, dtype).inputs(values)
    for value, port in zip(inputs, graph.inputs, strict=True):
        lead = value.shape[: value.ndim - len(port.shape)]
        if lead not in ((), batch):
            raise ValueError(
                f"{graph.name}: '{port.name}' has batch shape {lead}, the call has {batch}. A bound call repeats only "
                f"single states: give {port.shape} or {batch + port.shape}."
            )
    return inputs, batch


def check_apart(graph: Graph, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    """Refuse results that would be written over what is read, or over each other."""
    for k, (y, port) in enumerate(zip(outputs, graph.outputs, strict=True)):
        others = [*zip(inputs, graph.inputs, strict=True), *zip(outputs[:k], graph.outputs[:k], strict=True)]
        for x, other in others:
            if np.shares_memory(x, y):
                raise ValueError(
                    f"{graph.name}: out for '{port.name}' shares memory with '{other.name}'. "
                    "Give it an array of its own."
                )


def one_state(
    built: Built, inputs: Sequence[Array], outputs: Sequence[Array], dtype: np.dtype
) -> tuple[Callable[[], Any], Any]:
    """The call of scalar code on these arrays; and what must live as long."""
    work = memory.aligned((built.work,), dtype)
    places = [n for a in (*inputs, *outputs) for n in (memory.address(a), 0)]
    record = np.array([memory.address(work), 0, 1, 1, *places], dtype=np.int64)
    if available():
        go, keep = bound_call(built.library, record, None)
        return go, (work, keep)
    entry = _HOLDING(built.library.address("lanes"))
    return functools.partial(entry, ctypes.c_void_p(memory.address(record))), (built, work, record)


def signature(graph: Graph, scalar: str) -> str:
    """`block` of scalar code, in C."""
    inputs = [f"const {scalar} *{_c_name(port.name)}" for port in graph.inputs]
    outputs = [f"{scalar} *{_c_name(port.name)}" for port in graph.outputs]
    return f"void {_c_name(graph.name)}({', '.join([*inputs, *outputs, f'{scalar} *work'])})"


def _c_name(name: str) -> str:
    return "".join(c if c.isalnum() and c.isascii() else "_" for c in name)
