"""Named arrays as the bytes of a NetCDF-4 file, made in memory: the HDF5 library never meets a full disk.

It cannot close a file that it could not write, and crashes when it tries again;
with the process go all results that it holds.

Names of axes, units and words are there as NetCDF has them, for everybody else's tools, and once more in one plain
array of bytes, the header (JSON). gyrostat reads the header and plain arrays of numbers alone: what NetCDF needs beyond
them HDF5 keeps in structures of any length, whose length it believes before it looks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from ..algebra import Array

HEADER = "gyrostat_header"
ROOM = 2**20  # bytes for what is not an array, to begin with
ROOM_EACH = 2**12
CHUNK = 2**18  # bytes
DEFLATE = {"compression": "gzip", "compression_opts": 4, "shuffle": True}


class Variable(NamedTuple):
    """An array of numbers or of words, the names of its axes, and words or numbers about it: units, long_name."""

    dims: tuple[str, ...]
    values: Array
    attributes: Mapping[str, str | int | float] = {}


def netcdf_bytes(
    variables: Mapping[str, Variable],
    attributes: Mapping[str, str],
    header: Mapping[str, Any],
    *,
    compress: bool = False,
) -> memoryview:
    """The file. Names may hold any character: what HDF5 keeps for itself is written as in an address, %2F.

    compress: arrays of more than a chunk by deflate, bytes of like weight together; none of a file that would claim
    more than a reader believes.
    """
    content = _written(variables, attributes, header, compress)
    claimed = sum(x.values.nbytes for x in variables.values() if x.values.dtype.kind not in "UO")
    if compress and claimed > believed(len(content)):
        return _written(variables, attributes, header, False)
    return content


def believed(size: int) -> int:
    """Bytes that all arrays of a file of this size may have together, once inflated."""
    return 256 * 2**20 + 64 * size


def _written(
    variables: Mapping[str, Variable], attributes: Mapping[str, str], header: Mapping[str, Any], compress: bool
) -> memoryview:
    import h5netcdf
    import h5py

    told = np.frombuffer(json.dumps({**header, "variables": _described(variables)}).encode(), dtype=np.uint8)
    variables = {**variables, HEADER: Variable((HEADER,), told, {"long_name": "what gyrostat reads, as JSON"})}
    memory = Memory(sum(ROOM_EACH + v.values.nbytes for v in variables.values()) + ROOM)
    with h5netcdf.File(memory, "w") as file:
        sizes: dict[str, int] = {}
        for name, (dims, values, _) in variables.items():
            for dim, size in zip(dims, values.shape, strict=True):
                if sizes.setdefault(dim, size) != size:
                    raise ValueError(f"{name}: axis '{dim}' has {size} entries here, {sizes[dim]} elsewhere.")
        file.dimensions = {escaped(name): size for name, size in sizes.items()}
        for name, (dims, values, words) in variables.items():
            if values.dtype.kind in "UO":
                kind, values = h5py.string_dtype(), _words(values)
            else:
                kind, values = values.dtype, np.ascontiguousarray(values)
            packed = compress and values.dtype.kind not in "UO" and name != HEADER and values.nbytes > CHUNK // 8
            how: dict[str, Any] = {"chunks": _chunks(values), **DEFLATE} if packed else {}
            made = file.create_variable(escaped(name), tuple(map(escaped, dims)), kind, data=values, **how)
            for word, text in words.items():
                made.attrs[word] = _word(text)
        for name, text in attributes.items():
            file.attrs[name] = _word(text)
    return memory.content()


def _chunks(values: Array) -> tuple[int, ...]:
    """About `CHUNK` bytes of neighbours: whole rows of the last axes, as many as fit."""
    shape, left = list(values.shape), max(1, CHUNK // values.dtype.itemsize)
    for axis in range(len(shape) - 1, -1, -1):
        shape[axis] = max(1, min(shape[axis], left))
        left = max(1, left // shape[axis])
    return tuple(shape)


def _word(text: str | float) -> str | int | float:
    """As HDF5 can hold it, for other tools; the header has it as it is."""
    if not isinstance(text, str):
        return text
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _words(values: Array) -> Array:
    made = np.empty(values.shape, dtype=object)
    made.ravel()[:] = [_word(str(x)) for x in values.ravel()]
    return made


def _described(variables: Mapping[str, Variable]) -> dict[str, Any]:
    """Axes and attributes of each, with the values of words, and the shape of numbers."""
    described: dict[str, Any] = {}
    for name, (dims, values, attributes) in variables.items():
        words: dict[str, Any] = {"words": values.tolist()} if values.dtype.kind in "UO" else {"shape": values.shape}
        if values.dtype == np.float32:
            words["single"] = True
        described[name] = {"dims": dims, "attributes": dict(attributes), **words}
    return described


def escaped(name: str) -> str:
    """A name that HDF5 takes as it is."""
    return "".join(quote(c, safe="") if c in "%/" or not c.isprintable() else c for c in name)


class Memory:
    """A file object in memory that has its room from the beginning: too little memory is told before HDF5 is called."""

    def __init__(self, room: int) -> None:
        self._room = np.zeros(room, dtype=np.uint8)
        self._at = self._end = 0

    def content(self) -> memoryview:
        return self._room.data[: self._end]

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._end}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        stop = self._end if size < 0 else min(self._end, self._at + size)
        begin, self._at = self._at, max(self._at, stop)
        return self._room[begin:stop].tobytes()

    def readinto(self, buffer: Any) -> int:
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def write(self, content: Any) -> int:
        piece = np.frombuffer(content, dtype=np.uint8)
        stop = self._at + len(piece)
        if stop > len(self._room):
            self._room = np.concatenate([self._room, np.zeros(stop - len(self._room) + ROOM, dtype=np.uint8)])
        self._room[self._at : stop] = piece
        self._at, self._end = stop, max(self._end, stop)
        return len(piece)

    def truncate(self, size: int | None = None) -> int:
        size = self._at if size is None else size
        if size > len(self._room):
            self._room = np.concatenate([self._room, np.zeros(size - len(self._room) + ROOM, dtype=np.uint8)])
        self._room[size : self._end] = 0
        self._end = size
        return size

    def flush(self) -> None:
        pass
