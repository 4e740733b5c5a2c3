"""Memory for arrays: aligned to cache lines, and for large results taken again from results that nobody holds any more.

The system clears memory before it hands it out, which takes as long as computing the results that go there.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from ..algebra.elementary import Array

LINE = 64  # bytes of a cache line
LARGE = 2**20  # bytes; smaller blocks come from the C library, which keeps them
KEPT = 2**30  # bytes that are kept at most
_ANY: Any = ctypes.c_char


def address(x: Array) -> int:
    """Where the array's first number lies (`x.ctypes.data`, sooner)."""
    try:
        return ctypes.addressof(_ANY.from_buffer(x))
    except (TypeError, ValueError):  # read-only, empty, or not in one piece
        return x.__array_interface__["data"][0]


def aligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """An empty array that starts where a cache line does: loads of whole vectors then touch one line each."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    raw = _idle.take(size) if size >= LARGE else np.empty(size + LINE, dtype=np.uint8)
    start = -address(raw) % LINE
    if size < LARGE:
        return raw[start : start + size].view(dtype).reshape(shape)
    return np.asarray(_Lease(raw, start, shape, dtype))


class _Idle:
    """Blocks of memory that were given back, by size."""

    def __init__(self) -> None:
        self.blocks: dict[int, list[Array]] = {}
        self.bytes = 0

    def take(self, size: int) -> Array:
        try:
            raw = self.blocks[size + LINE].pop()
        except (KeyError, IndexError):
            return np.empty(size + LINE, dtype=np.uint8)
        self.bytes -= raw.nbytes
        return raw

    def give_back(self, raw: Array) -> None:
        if self.bytes + raw.nbytes > KEPT:
            self.blocks.clear()  # made for another size of problem
            self.bytes = 0
        if raw.nbytes <= KEPT:
            self.bytes += raw.nbytes
            self.blocks.setdefault(raw.nbytes, []).append(raw)


_idle = _Idle()


class _Lease:
    """Owns a block for as long as any array or view of it lives."""

    def __init__(self, raw: Array, start: int, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.raw, self.idle = raw, _idle
        self.__array_interface__ = {
            "data": (address(raw) + start, False),
            "shape": shape,
            "typestr": dtype.str,
            "version": 3,
        }

    def __del__(self) -> None:
        self.idle.give_back(self.raw)
