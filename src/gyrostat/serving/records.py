"""What goes over the socket: records of a length, a kind and a payload, all little-endian (docs/serving.md).

u32 length of what follows, u32 kind, payload

hello (1), from the server:  u32 version, u32 nq, u32 nv, u32 0, f64 dt, f64 t
state (2), from the server:  u32 standing, u32 0, u64 tick, u64 missed, f64 t, f64 q[nq], f64 v[nv]
error (3), from the server:  text in UTF-8; the connection is then closed
load  (4), from the client:  f64 load[nv], held until the next
end   (5), from the client:  nothing; the run ends there
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum

import numpy as np

from ..algebra import Array

VERSION = 1
_HEAD = struct.Struct("<II")
_HELLO = struct.Struct("<IIIIdd")
_STATE = struct.Struct("<IIQQd")


class Kind(IntEnum):
    hello = 1
    state = 2
    error = 3
    load = 4
    end = 5


class Standing(IntEnum):
    """How the run stands, in a state."""

    running = 0
    ended = 1  # its time is over, or a terminal event has stopped it
    failed = 2


class BadRecord(ValueError):
    """What a client sent is no record that a server takes."""


def packed(kind: Kind, payload: bytes = b"") -> bytes:
    return _HEAD.pack(4 + len(payload), kind) + payload


def hello(nq: int, nv: int, dt: float, t: float) -> bytes:
    return packed(Kind.hello, _HELLO.pack(VERSION, nq, nv, 0, dt, t))


def state(standing: Standing, tick: int, missed: int, t: float, q: Array, v: Array) -> bytes:
    numbers = np.concatenate([q, v]).astype("<f8").tobytes()
    return packed(Kind.state, _STATE.pack(standing, 0, tick, missed, t) + numbers)


def error(words: str) -> bytes:
    return packed(Kind.error, words.encode())


class Inbox:
    """Bytes of a client, as they come, to records."""

    def __init__(self, nv: int) -> None:
        self._bytes, self._sizes = bytearray(), {Kind.load: 8 * nv, Kind.end: 0}

    def take(self, data: bytes) -> Iterator[tuple[Kind, bytes]]:
        """The records that are complete now."""
        self._bytes += data
        while len(self._bytes) >= _HEAD.size:
            length, number = _HEAD.unpack_from(self._bytes)
            self._check(length, number)
            if len(self._bytes) < 4 + length:
                return
            payload = bytes(self._bytes[_HEAD.size : 4 + length])
            del self._bytes[: 4 + length]
            yield Kind(number), payload

    def _check(self, length: int, number: int) -> None:
        """Of a head, before anything more is waited for."""
        known = {int(kind): 4 + size for kind, size in self._sizes.items()}
        if number not in known:
            raise BadRecord(
                f"a record of kind {number} and length {length} came; expected a load (kind 4) or an end (kind 5)."
            )
        if length != known[number]:
            raise BadRecord(f"a record of kind {number} has length {length}; expected {known[number]}.")


def load_of(payload: bytes) -> Array:
    """(nv,)"""
    return np.frombuffer(payload, dtype="<f8").astype(float)
