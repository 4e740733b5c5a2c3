"""The quick way for a single state: no batch, no threads, no allocation but that of the result."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.elementary import Array
from . import memory
from .graph import Graph
from .tree import LEAF, unflatten

_HOLDING = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)  # keeps the GIL: giving it back takes longer than the work


class Single:
    """One state at a time, for one thread: through buffers whose addresses are written down once."""

    def __init__(self, graph: Graph, dtype: np.dtype, entry: int, work: int) -> None:
        self.dtype, self.structure = dtype, graph.structure
        self.inputs = [np.zeros(port.shape, self.dtype) for port in graph.inputs]
        self.outputs = [np.zeros(port.shape, self.dtype) for port in graph.outputs]
        self.slots = [(buffer, buffer.shape) for buffer in self.inputs]
        self.work = memory.aligned((work,), self.dtype)
        addresses = [n for a in (*self.inputs, *self.outputs) for n in (a.ctypes.data, 0)]
        self.record = np.array([self.work.ctypes.data, 0, 1, 1, *addresses], dtype=np.int64)
        self.pointer = ctypes.c_void_p(self.record.ctypes.data)
        self.entry = _HOLDING(entry)
        self.copies = [b.copy if b.ndim else functools.partial(b.__getitem__, ()) for b in self.outputs]
        self.fresh = self.copies[0] if graph.structure is LEAF else self.nested
        self.expected = len(self.inputs) if all(len(port.path) == 1 for port in graph.inputs) else -1

    def take(self, args: tuple[Any, ...]) -> bool:
        """Copy the arguments into the buffers; False if they are not arrays of just one state, one for each input."""
        if len(args) != self.expected:
            return False
        dtype = self.dtype
        try:
            for array, (buffer, shape) in zip(args, self.slots):  # noqa: B905 (a microsecond matters here)
                if array.shape != shape or array.dtype is not dtype:
                    return False
                buffer[...] = array
        except AttributeError:
            return False
        return True

    def nested(self) -> Any:
        """The results, in new arrays."""
        return unflatten(self.structure, iter([copy() for copy in self.copies]))

    def give(self, out: Any, check: Callable[[Any, tuple[int, ...]], list[Array]]) -> Any:
        """The results, written to `out`; `check` turns it into a list of arrays."""
        first = self.outputs[0]
        if self.structure is LEAF and type(out) is np.ndarray and out.shape == first.shape and out.dtype is self.dtype:
            out[...] = first
            return out
        for array, buffer in zip(check(out, ()), self.outputs, strict=True):
            array[...] = buffer
        return out
