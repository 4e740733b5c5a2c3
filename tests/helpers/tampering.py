"""Result files that were damaged, or changed on purpose and given a digest that fits."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

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


def with_notes(change: Callable[[dict], None]) -> Callable[[h5py.File], None]:
    def changed(file: h5py.File) -> None:
        notes = json.loads(file.attrs["notes"])
        change(notes)
        file.attrs["notes"] = json.dumps(notes)

    return changed


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
