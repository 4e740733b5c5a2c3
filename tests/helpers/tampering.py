"""Result files that were damaged, or changed on purpose and given a digest that fits."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

from gyrostat.io.results_netcdf import HEADER
from gyrostat.io.results_read import trailer

LENGTH = len(trailer(bytes(32)))


def damaged(content: bytes, rng: random.Random) -> bytes:
    """One to eight bytes changed, or a piece cut out, doubled, or zeroed, or the end cut off."""
    made = bytearray(content)
    at, length = rng.randrange(len(made)), rng.randrange(1, 200)
    how = rng.randrange(6)
    if how <= 1:
        for _ in range(rng.randrange(1, 9)):
            made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
    elif how == 2:
        del made[at : at + length]
    elif how == 3:
        made[at:at] = made[at : at + length]
    elif how == 4:
        made[at : at + length] = bytes(len(made[at : at + length]))
    else:
        del made[at:]
    return bytes(made)


def signed(content: bytes) -> bytes:
    """With the digest that fits, in place of the old one."""
    body = content[:-LENGTH]
    return body + trailer(hashlib.sha256(body).digest())


def tampered(path: Path, change: Callable[[h5py.File], None]) -> None:
    """The file changed through HDF5, and signed."""
    content = path.read_bytes()
    path.write_bytes(content[:-LENGTH])
    with h5py.File(path, "r+") as file:
        change(file)
    body = path.read_bytes()
    path.write_bytes(body + trailer(hashlib.sha256(body).digest()))


def with_header(change: Callable[[dict], None]) -> Callable[[h5py.File], None]:
    def changed(file: h5py.File) -> None:
        header = json.loads(file[HEADER][...].tobytes())
        change(header)
        del file[HEADER]
        file[HEADER] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)

    return changed


def with_notes(change: Callable[[dict], None]) -> Callable[[h5py.File], None]:
    def changed(header: dict) -> None:
        notes = json.loads(header["notes"])
        change(notes)
        header["notes"] = json.dumps(notes)

    return with_header(changed)


def replaced(name: str, **options: object) -> Callable[[h5py.File], None]:
    """Another dataset under the name of one that is there."""

    def changed(file: h5py.File) -> None:
        del file[name]
        file.create_dataset(name, **options)

    return changed


def values(name: str, change: Callable[[np.ndarray], None]) -> Callable[[h5py.File], None]:
    def changed(file: h5py.File) -> None:
        now = file[name][...]
        change(now)
        file[name][...] = now

    return changed


def read_mutants(saved: str, path: str, first: str, last: str) -> tuple[int, int]:
    """Read files with one to four bytes changed and a digest that fits; how many were read, how many refused.

    Any other end is an exception here, and so is memory beyond 256 MB.
    """
    import resource

    import gyrostat as gs
    from gyrostat.io.results_read import ResultError

    content, read, refused = Path(saved).read_bytes(), 0, 0
    gs.Trajectory.load(saved)  # everything is imported before memory is counted
    limit = 2**28 + 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seed in range(int(first), int(last)):
        rng, made = random.Random(seed), bytearray(content)
        for _ in range(rng.randrange(1, 5)):
            at = rng.randrange(len(made) - LENGTH) if rng.random() < 0.5 else rng.randrange(4000)
            made[at] = rng.randrange(256)
        Path(path).write_bytes(signed(bytes(made)))
        try:
            gs.Trajectory.load(path)
            read += 1
        except ResultError:
            refused += 1
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert peak < limit, f"{peak} bytes"
    return read, refused
