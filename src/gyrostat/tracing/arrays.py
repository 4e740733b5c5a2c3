"""Users' arrays as pointers and strides, without copying where possible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.elementary import Array
from .graph import Graph, Port
from .memory import address, aligned


class Rows:
    """Arrays as users hold them: batch shape first, then the shape of the argument."""

    def __init__(self, graph: Graph, dtype: np.dtype) -> None:
        self.graph, self.dtype = graph, dtype

    def inputs(self, values: Sequence[Any]) -> tuple[list[Array], tuple[int, ...]]:
        """The arrays, checked, and their common batch shape."""
        found, leads = [], []
        for value, port in zip(values, self.graph.inputs, strict=True):
            x = self._input(value, port)
            found.append(x)
            leads.append(x.shape[: x.ndim - len(port.shape)])
        if len(set(leads)) == 1:
            return found, leads[0]
        try:
            return found, np.broadcast_shapes(*leads)
        except ValueError:
            shapes = ", ".join(f"{port.name} {lead}" for port, lead in zip(self.graph.inputs, leads, strict=True))
            raise ValueError(
                f"{self.graph.name}: batch shapes do not fit together: {shapes}. They must be equal, or 1, or absent."
            ) from None

    def _input(self, value: Any, port: Port) -> Array:
        x = _as_numbers(value, self.dtype, self.graph.name, port)
        if x.shape[max(x.ndim - len(port.shape), 0) :] != port.shape:
            raise ValueError(
                f"{self.graph.name}: '{port.name}' has shape {x.shape}. Expected {_pattern(port.shape)}. For a batch, "
                "the batch's axes come first."
            )
        return x

    def shape(self, shape: tuple[int, ...], batch: tuple[int, ...]) -> tuple[int, ...]:
        return batch + shape

    def empty(self, shape: tuple[int, ...], batch: tuple[int, ...]) -> Array:
        return aligned(batch + shape, self.dtype)

    def count(self, batch: tuple[int, ...]) -> int:
        return math.prod(batch)

    def entries(
        self, inputs: list[Array], outputs: list[Array], batch: tuple[int, ...]
    ) -> tuple[list[int], list[Array]]:
        """Addresses and strides in bytes, in turn; and the arrays that must stay alive."""
        keep: list[Array] = []
        entries: list[int] = []
        for x, port in zip(inputs, self.graph.inputs, strict=True):
            stride = _row_stride(x, len(port.shape), batch)
            if stride is None:
                x, stride = np.ascontiguousarray(np.broadcast_to(x, batch + port.shape)), port.size * x.itemsize
            keep.append(x)
            entries += (address(x), stride)
        for y, port in zip(outputs, self.graph.outputs, strict=True):
            entries += (address(y), port.size * y.itemsize)
        return entries, keep


class Lanes(Rows):
    """Arrays laid out by lane, (blocks, *shape, lanes);
    an array of the argument's own shape is the same for all lanes.
    """

    def __init__(self, graph: Graph, dtype: np.dtype, lanes: int) -> None:
        super().__init__(graph, dtype)
        self.lanes = lanes

    def inputs(self, values: Sequence[Any]) -> tuple[list[Array], tuple[int, ...]]:
        found, blocks = [], 1
        for value, port in zip(values, self.graph.inputs, strict=True):
            x = _as_numbers(value, self.dtype, self.graph.name, port)
            if x.shape == port.shape:
                x = np.repeat(x[None, ..., None], self.lanes, axis=-1)
            if x.shape[1:] != (*port.shape, self.lanes) or (blocks != 1 and x.shape[0] not in (1, blocks)):
                expected = ("blocks", *port.shape, self.lanes)
                raise ValueError(
                    f"{self.graph.name}: '{port.name}' has shape {np.shape(value)}. By lanes, expected {expected} with "
                    f"the same number of blocks everywhere, or {port.shape}. Kernel.to_lanes(rows, {port.shape}) "
                    "converts."
                )
            blocks = max(blocks, x.shape[0])
            found.append(np.ascontiguousarray(x))
        return found, (blocks,)

    def shape(self, shape: tuple[int, ...], batch: tuple[int, ...]) -> tuple[int, ...]:
        return (*batch, *shape, self.lanes)

    def empty(self, shape: tuple[int, ...], batch: tuple[int, ...]) -> Array:
        return aligned((*batch, *shape, self.lanes), self.dtype)

    def entries(
        self, inputs: list[Array], outputs: list[Array], batch: tuple[int, ...]
    ) -> tuple[list[int], list[Array]]:
        strides = [x.strides[0] if x.shape[0] > 1 else 0 for x in inputs] + [y.strides[0] for y in outputs]
        return [n for x, s in zip((*inputs, *outputs), strides, strict=True) for n in (address(x), s)], list(inputs)


def _as_numbers(value: Any, dtype: np.dtype, name: str, port: Port) -> Array:
    x = np.asarray(value)
    if x.dtype == dtype:
        return x
    if x.dtype.kind not in "fiub":
        raise TypeError(f"{name}: '{port.name}' holds {x.dtype}. Expected real numbers.")
    return x.astype(dtype)


def _pattern(shape: tuple[int, ...]) -> str:
    return "(...)" if shape == () else f"(..., {', '.join(map(str, shape))})"


def _row_stride(x: Array, dims: int, batch: tuple[int, ...]) -> int | None:
    """Bytes from one member of the batch to the next; 0 if they share one; None if a copy is needed."""
    lead = x.ndim - dims
    if x.flags.c_contiguous and x.shape[:lead] == batch:
        return math.prod(x.shape[lead:]) * x.itemsize
    expected = x.itemsize
    for size, stride in zip(reversed(x.shape[lead:]), reversed(x.strides[lead:]), strict=True):
        if size != 1 and stride != expected:
            return None
        expected *= size
    axes = [(n, s) for n, s in zip(x.shape[:lead], x.strides[:lead], strict=True) if n != 1]
    if not axes:
        return 0
    if tuple(n for n, _ in axes) != tuple(n for n in batch if n != 1):
        return None
    stride = axes[-1][1]
    for (n, inner), (_, outer) in zip(axes[:0:-1], axes[-2::-1], strict=True):
        if outer != n * inner:
            return None
    return stride


def check_out(array: Any, shape: tuple[int, ...], dtype: np.dtype, name: str) -> None:
    """Refuse an array that results cannot be written to."""
    if isinstance(array, np.ndarray) and array.shape == shape and array.dtype == dtype:
        flags = array.flags
        if flags.c_contiguous and flags.writeable:
            return
    found = f"{type(array).__name__} {getattr(array, 'shape', '')} {getattr(array, 'dtype', '')}".strip()
    raise ValueError(
        f"out: found {found} for '{name}'. Expected a writable, C-contiguous array {shape} of {dtype}: "
        f"np.empty({shape}, '{dtype}')."
    )


def to_lanes(array: Array, dims: int, lanes: int) -> Array:
    """(n, *shape) to (blocks, *shape, lanes); the last block is padded with the last row."""
    count = array.shape[0]
    blocks = -(-count // lanes)
    padded = np.concatenate([array, np.repeat(array[-1:], blocks * lanes - count, axis=0)])
    out = aligned((blocks, *array.shape[1:], lanes), array.dtype)
    out[...] = np.moveaxis(padded.reshape(blocks, lanes, *array.shape[1:]), 1, -1)
    return out


def from_lanes(array: Array, count: int) -> Array:
    """(blocks, *shape, lanes) to (count, *shape)."""
    rows = np.moveaxis(array, -1, 1)
    return np.ascontiguousarray(rows.reshape(-1, *rows.shape[2:])[:count])
