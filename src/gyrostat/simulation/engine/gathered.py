"""A function of a long vector x that is made of many small ones: each sees a few pieces of x, and gives a few of the
result.

Many members of one kind share one kernel, whose lanes are the members: the compiled loop copies what each of them sees
into the kernel's argument, calls it, and puts its results in their places. So the time loop integrates several
spacecraft that see each other as one system, and what is compiled does not grow with their number.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...tracing import Kernel, cache, machine, memory
from ...tracing.loops import Function, Integer, Module, Pointer


class Piece(NamedTuple):
    """`size` numbers from `row` on of a small vector are those from `places[k]` on of the long one, for member k."""

    row: int
    size: int
    places: Array  # (members,)


@dataclass(frozen=True, eq=False)
class Part:
    """Members of one kind. function: of their arguments (members, size) to their results (members, results)."""

    function: Kernel | Callable[[Array], Array]
    size: int
    results: int
    takes: Sequence[Piece]
    gives: Sequence[Piece]

    @property
    def members(self) -> int:
        return len(self.gives[0].places)

    def arguments(self, x: Array) -> Array:
        """What every member sees of x (..., n): (..., members, size)."""
        own = np.zeros((*x.shape[:-1], self.members, self.size))
        for row, size, places in self.takes:
            own[..., row : row + size] = x[..., places[:, None] + np.arange(size)]
        return own


class Gathered:
    """x (runs, n) to the results of all parts (runs, results)."""

    def __init__(self, parts: Sequence[Part], results: int) -> None:
        self.parts, self.results = tuple(parts), results
        self._keep: list[Array] = []
        self._table = np.concatenate([self._row(part) for part in self.parts]) if self.compiled else np.zeros(0)

    @property
    def compiled(self) -> bool:
        return all(isinstance(part.function, Kernel) for part in self.parts)

    def __call__(self, x: Array) -> Array:
        out = np.zeros((len(x), self.results))
        for part in self.parts:
            own = part.function(part.arguments(x).reshape(-1, part.size))
            rows = np.asarray(own).reshape(len(x), part.members, part.results)
            for row, size, places in part.gives:
                out[:, places[:, None] + np.arange(size)] = rows[..., row : row + size]
        return out

    # ---- compiled

    def library(self, lanes: int) -> machine.Library:
        """With `gather(x, out, work)` for vectors of so many lanes; to be kept as long as its address is."""
        return _library(lanes)

    def work(self) -> Array:
        """Memory that the compiled loop needs besides x and out; for one call at a time."""
        lanes = machine.host_lanes("double")
        kernels = [part.function for part in self.parts if isinstance(part.function, Kernel)]
        sizes = [
            lanes * max(part.size for part in self.parts),
            lanes * max(part.results for part in self.parts),
            max(kernel.work_numbers for kernel in kernels),
        ]
        sizes = [-(-size // 8) * 8 for size in (Head.size, *sizes)]  # whole cache lines
        found = memory.aligned((sum(sizes),), np.float64)
        found[:] = 0.0
        head = found[: Head.size].view(np.int64)
        head[Head.table], head[Head.parts] = self._table.ctypes.data, len(self.parts)
        for word, start in zip((Head.argument, Head.result, Head.scratch), np.cumsum(sizes), strict=False):
            head[word] = found.ctypes.data + 8 * start
        return found

    def _row(self, part: Part) -> Array:
        """Of the table of parts."""
        assert isinstance(part.function, Kernel)
        lanes, row = part.function.lanes, np.zeros(Word.size, dtype=np.int64)
        row[Word.function], row[Word.blocks] = part.function.block_address, -(-part.members // lanes)
        for word, pieces in ((Word.takes, part.takes), (Word.gives, part.gives)):
            table = np.array([self._piece(piece, lanes) for piece in pieces], dtype=np.int64)
            self._keep.append(table)
            row[word], row[word + 1] = table.ctypes.data, len(table)
        return row

    def _piece(self, piece: Piece, lanes: int) -> tuple[int, int, int]:
        """The last block is filled up with the last member, who then does the same several times."""
        places = np.asarray(piece.places, dtype=np.int64)
        padded = np.append(places, np.full(-len(places) % lanes, places[-1]))
        self._keep.append(padded)
        return piece.row, piece.size, padded.ctypes.data


def is_compiled(function: Any) -> bool:
    """True if the time loop need not ask Python for it."""
    return function is None or isinstance(function, Kernel) or (isinstance(function, Gathered) and function.compiled)


class Head(IntEnum):
    """Words at the begin of the work memory."""

    table = 0
    parts = 1
    argument = 2  # memory of one block's argument,
    result = 3  # its result,
    scratch = 4  # and of the kernels themselves
    size = 8


class Word(IntEnum):
    """Places in a row of the table of parts."""

    function = 0
    blocks = 1
    takes = 2  # the table of pieces, and how many
    gives = 4
    size = 6


@functools.cache
def _library(lanes: int) -> machine.Library:
    """The loop for vectors of so many lanes, kept on disk."""
    text = _gather(lanes, machine.host_lanes("double"))
    key = hashlib.sha256(f"gather\n{machine.identity()}\n{text}".encode()).hexdigest()
    code = cache.load(key)
    if code is None:
        code = machine.machine_code(text)
        cache.store(key, code)
    return machine.Library(code, ("gather",))


def _gather(outside: int, lanes: int) -> str:
    """LLVM assembly. outside: lanes of x and out, each a run, or a stage of one; lanes: of the kernels, members."""
    module = Module()
    f = Function(module, "gather", lanes, ["x", "out", "work"])
    x, out, work = (f.argument(name) for name in ("x", "out", "work"))
    argument, result, scratch = (work.pointer(word) for word in (Head.argument, Head.result, Head.scratch))
    with f.loop(work.integer(Head.parts)) as p:
        part = work.pointer(Head.table).at(p * int(Word.size))
        with f.loop(part.integer(Word.blocks)) as block, f.loop(outside) as lane:
            for piece, far in _pieces(f, part, Word.takes, block, x.at(lane), outside):
                near = argument.at(piece.integer(0) * lanes)
                with f.loop(piece.integer(1)) as i:
                    for k in range(lanes):
                        near.store(i * lanes + k, far[k].number(i * outside))
            f.call(part.pointer(Word.function), argument, result, scratch)
            for piece, far in _pieces(f, part, Word.gives, block, out.at(lane), outside):
                near = result.at(piece.integer(0) * lanes)
                with f.loop(piece.integer(1)) as i:
                    for k in range(lanes):
                        far[k].store(i * outside, near.number(i * lanes + k))
    f.end()
    return module.text()


def _pieces(f: Function, part: Pointer, word: Word, block: Integer, vector: Pointer, outside: int) -> Any:
    """In a loop over the pieces of a part: one of them, and where it begins in the long vector for each member of a
    block.
    """
    with f.loop(part.integer(word + 1)) as s:
        piece = part.pointer(word).at(s * 3)
        places = piece.pointer(2).at(block * f.lanes)
        yield piece, [vector.at(places.integer(k) * outside) for k in range(f.lanes)]
