"""Compiled functions on a CUDA card: arrays of NumPy, CuPy, JAX or PyTorch in, the same out, a thread a state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import cards
from .arguments import Arguments
from .cuda_text import LANES, THREADS, module_text
from .graph import Graph, Port
from .kernel import ParameterCheck
from .tree import LEAF, flatten, unflatten


class CudaKernel:
    """A graph compiled for the card. Call it as a `Kernel`, with arrays that lie anywhere.

    Results lie where the first array argument does, and are of its library; work is put on its stream (PyTorch's
    current one, CuPy's current one otherwise), and a call returns before it is done unless results go to the host.

    out: CuPy arrays to write to, C-contiguous, nested as the result is. layout: "rows" as users hold them, or "lanes",
    arrays (blocks, *shape, lanes) that a warp reads in one piece; `to_lanes`, `from_lanes` convert.
    """

    lanes = LANES

    def __init__(self, graph: Graph, *, dtype: Any = np.float64, check: ParameterCheck | None = None) -> None:
        self.graph, self.dtype, self._check = graph, np.dtype(dtype), check
        if self.dtype not in (np.dtype(np.float64), np.dtype(np.float32)):
            raise TypeError(f"dtype {self.dtype} cannot be compiled. Choose float64 or float32.")
        self._arguments = Arguments(graph)
        self.text = module_text(graph, "double" if self.dtype == np.float64 else "float")
        self._module = cards.card().module(self.text)
        self.__name__ = self.__qualname__ = graph.name

    def __repr__(self) -> str:
        return f"<CudaKernel {self.graph!r}, {self.dtype}>"

    def __reduce__(self) -> Any:
        return _rebuild, (self.graph, self.dtype, self._check)

    def __call__(self, *args: Any, out: Any = None, layout: str = "rows", **named: Any) -> Any:
        values = self._arguments.in_order(args, named)
        if layout not in ("rows", "lanes"):
            raise ValueError(f"layout '{layout}' is not known. Write 'rows' or 'lanes'.")
        if self._check is not None:
            given = zip(self.graph.inputs, values, strict=True)
            self._check({p.path[1]: _on_host(x) for p, x in given if p.path[0] == "parameters"}, layout)
        like = next((x for x in values if hasattr(x, "__dlpack__")), np.zeros(()))
        with cards.card().stream_of(like):
            outputs = self._launch([cards.card().taken(x, self.dtype) for x in values], out, layout)
            if out is not None:
                return out
            found = [cards.card().given(y, like) for y in outputs]
        return found[0] if self.graph.structure is LEAF else unflatten(self.graph.structure, iter(found))

    def _launch(self, values: Sequence[Any], out: Any, layout: str) -> list[Any]:
        by_lanes = layout == "lanes"
        card, batch = cards.card(), self._batch(values, by_lanes)
        shapes = [(*batch, *port.shape, LANES) if by_lanes else batch + port.shape for port in self.graph.outputs]
        outputs = [card.xp.empty(shape, self.dtype) for shape in shapes] if out is None else self._given(out, shapes)
        count = math.prod(batch) * (LANES if by_lanes else 1)
        arguments: list[Any] = [count]
        for x, port in zip(values, self.graph.inputs, strict=True):
            arguments += _with_step(x, port, batch, by_lanes)
        if count:
            card.launch(self._module, layout, count, THREADS, [*arguments, *outputs])
        return outputs

    def _batch(self, values: Sequence[Any], by_lanes: bool) -> tuple[int, ...]:
        """The common batch shape."""
        leads, name = [], self.graph.name
        for x, port in zip(values, self.graph.inputs, strict=True):
            shape = (*port.shape, LANES) if by_lanes and x.shape != port.shape else port.shape
            lead = x.shape[: max(x.ndim - len(shape), 0)]
            if x.shape[len(lead) :] != shape or (by_lanes and len(lead) > 1):
                expected = f"(blocks, {', '.join(map(str, shape))})" if by_lanes else f"(..., {port.shape})"
                raise ValueError(f"{name}: '{port.name}' has shape {x.shape}. Expected {expected}, or {port.shape}.")
            leads.append(lead)
        try:
            batch = np.broadcast_shapes(*leads)
        except ValueError:
            shapes = ", ".join(f"{port.name} {lead}" for port, lead in zip(self.graph.inputs, leads, strict=True))
            raise ValueError(
                f"{name}: batch shapes do not fit together: {shapes}. They must be equal, or 1, or absent."
            ) from None
        return (1,) if by_lanes and not batch else batch

    def _given(self, out: Any, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
        """The arrays to write to, checked."""
        xp = cards.card().xp
        found = [out] if isinstance(out, xp.ndarray) else [leaf for _, leaf in flatten(out, self.graph.name)[0]]
        if len(found) != len(shapes):
            raise TypeError(f"out holds {len(found)} arrays; {self.graph.name} has {len(shapes)} outputs.")
        for y, shape, port in zip(found, shapes, self.graph.outputs, strict=True):
            fits = isinstance(y, xp.ndarray) and y.shape == shape and y.dtype == self.dtype and y.flags.c_contiguous
            if not fits:
                described = f"{type(y).__name__} {getattr(y, 'shape', '')} {getattr(y, 'dtype', '')}".strip()
                raise ValueError(
                    f"out: found {described} for '{port.name}'. Expected a C-contiguous array of the card, {shape} of "
                    f"{self.dtype}: cupy.empty({shape}, '{self.dtype}')."
                )
        return found

    def to_lanes(self, array: Any, shape: tuple[int, ...]) -> Any:
        """Rows (n, *shape) on the card laid out by lane: (blocks, *shape, lanes), the last block padded."""
        xp, x = cards.card().xp, cards.card().taken(array, self.dtype)
        count = x.shape[0]
        padded = xp.concatenate([x, xp.repeat(x[-1:], -count % LANES, axis=0)])
        return xp.ascontiguousarray(xp.moveaxis(padded.reshape(-1, LANES, *shape), 1, -1))

    def from_lanes(self, array: Any, count: int) -> Any:
        """The first `count` rows of an array laid out by lane."""
        xp = cards.card().xp
        rows = xp.moveaxis(cards.card().taken(array, self.dtype), -1, 1)
        return xp.ascontiguousarray(rows.reshape(-1, *rows.shape[2:])[:count])


def _on_host(x: Any) -> Any:
    """Numbers that a check reads."""
    return cards.card().host(cards.card().taken(x, np.dtype(np.float64)))


def _with_step(x: Any, port: Port, batch: tuple[int, ...], by_lanes: bool) -> tuple[Any, int]:
    """The array as the kernel reads it, and the numbers from one state (block of lanes) to the next."""
    xp, size = cards.card().xp, port.size * (LANES if by_lanes else 1)
    if by_lanes and x.shape == port.shape:
        x = xp.repeat(x[..., None], LANES, axis=-1)
    if math.prod(x.shape) == size:
        return xp.ascontiguousarray(x), 0
    shape = (*port.shape, LANES) if by_lanes else port.shape
    return xp.ascontiguousarray(xp.broadcast_to(x, batch + shape)), size


def _rebuild(graph: Graph, dtype: Any, check: ParameterCheck | None) -> CudaKernel:
    return CudaKernel(graph, dtype=dtype, check=check)
