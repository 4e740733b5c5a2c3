"""From a graph to machine code in memory, through the cache."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import NamedTuple

from . import cache, machine
from .graph import Graph
from .llvm import assembly

ENTRIES = ("block", "rows", "lanes", "direct", "bound")


class Built(NamedTuple):
    """Machine code of a graph, and the numbers of work memory that a call needs."""

    library: machine.Library
    work: int


@functools.cache
def _own_version() -> str:
    """A digest of the source files that turn a graph into assembly:
    another gyrostat never loads what this one stored.
    """
    digest = hashlib.sha256(b"gyrostat")
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def build(graph: Graph, lanes: int, scalar: str, *, loops: bool = True) -> Built:
    """Machine code from the cache, or compiled and stored there. loops: those over a batch too; else `block` alone."""
    entries = ENTRIES if loops else ENTRIES[:1]
    parts = (_own_version(), graph.key, str(lanes), scalar, *entries, machine.identity())
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    stored = cache.load(key)
    if stored is not None:
        head, _, code = stored.partition(b"\n")
        return Built(machine.Library(code, entries), int(head))
    text, vectors = assembly(graph, lanes, scalar, loops=loops)
    code = machine.machine_code(text)
    work = vectors * lanes
    cache.store(key, str(work).encode() + b"\n" + code)
    return Built(machine.Library(code, entries), work)
