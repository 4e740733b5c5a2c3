"""Where the blocks of a campaign are kept: in memory, or in a folder, one file each, written whole or not at all.

A block's file is its SHA-256, a line of JSON, and its numbers, little-endian, outcomes before dispersed values: nothing
is run by reading it, and a changed byte is seen. It holds no times and no names of machines: the same runs give the
same file, whoever made it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from .._warned import warn_user
from ..io.writing import WriteError, check_writable, write_bytes, write_text
from ..model.names import printable
from .plan import Block, Plan

fcntl: Any = None
with suppress(ImportError):  # Windows has none
    import fcntl

MANIFEST = "campaign.json"
SUFFIX = ".block"
COMPARED = 8  # runs
DOUBLE = "first-block.double"  # in double precision, of a campaign in single


class Store:
    """In memory."""

    def __init__(self) -> None:
        self._blocks: dict[int, Block] = {}
        self._double: Block | None = None

    @property
    def in_double(self) -> Block | None:
        """The first block in double precision, of a campaign in single."""
        return self._double

    def write_in_double(self, block: Block) -> None:
        self._double = block

    def have(self, start: int) -> int:
        """Where the block ends that begins there; `start` if there is none."""
        return self._blocks[start].stop if start in self._blocks else start

    def write(self, block: Block) -> None:
        self._blocks[block.start] = block

    def read(self, start: int) -> Block:
        return self._blocks[start]

    @contextmanager
    def mine(self, shard: tuple[int, int] | None) -> Iterator[None]:
        """While it is written to."""
        yield


class Folder(Store):
    """A folder. Two processes on it are told of each other; shards of a job array may share it."""

    def __init__(self, path: str | Path, plan: Plan, size: int, resume: bool) -> None:
        self.path = Path(path)
        self._widths = (len(plan.outcomes), len(plan.value_names))
        self._stops: dict[int, int] = {}
        wanted = {**plan.manifest, "block": size}
        manifest = self.path / MANIFEST
        if manifest.exists():
            self._must_be_same(manifest, wanted)
            self._stops = dict(self._found())
            if self._stops and not resume:
                raise ValueError(
                    f"'{self.path}' holds {len(self._stops)} blocks of this campaign already. Go on with them: "
                    "resume=True (--resume); or choose another folder."
                )
            self._must_do_the_same(plan)
            return
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise ValueError(f"'{self.path}' is no store of a campaign, and not empty. Choose another folder.")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteError(f"cannot make the folder '{self.path}': {error.strerror}. Choose another.") from None
        check_writable(manifest)
        write_text(manifest, json.dumps(wanted, indent=1) + "\n")

    def have(self, start: int) -> int:
        if start not in self._stops:
            with suppress(OSError, ValueError):
                self._stops[start] = self._header(start)[0]["stop"]  # a shard of another process
        return self._stops.get(start, start)

    @property
    def in_double(self) -> Block | None:
        try:
            return self._read(self.path / DOUBLE)
        except (ValueError, OSError, KeyError):
            return None  # it is made again

    def write_in_double(self, block: Block) -> None:
        self._write(self.path / DOUBLE, block)

    def write(self, block: Block) -> None:
        self._write(self._file(block.start), block)
        self._stops[block.start] = block.stop

    def _write(self, path: Path, block: Block) -> None:
        header = {
            "start": block.start,
            "stop": block.stop,
            "columns": [block.outcomes.shape[1], block.values.shape[1]],
            "failures": {str(k): why for k, why in sorted(block.failures.items())},
        }
        numbers = np.hstack([block.outcomes, block.values]).astype("<f8")
        content = json.dumps(header).encode() + b"\n" + numbers.tobytes()
        write_bytes(path, hashlib.sha256(content).hexdigest().encode() + b"\n", content)

    def read(self, start: int) -> Block:
        return self._read(self._file(start))

    def _read(self, path: Path) -> Block:
        digest, _, content = path.read_bytes().partition(b"\n")
        if hashlib.sha256(content).hexdigest().encode() != digest:
            raise ValueError(
                f"'{path}' was changed or cut off. Take it away, and resume: only its runs are made again."
            )
        line, _, raw = content.partition(b"\n")
        header = json.loads(line)
        width = self._widths[0]
        numbers = np.frombuffer(raw, dtype="<f8").reshape(header["stop"] - header["start"], sum(self._widths))
        failures = {int(k): why for k, why in header["failures"].items()}
        return Block(header["start"], header["stop"], numbers[:, :width].copy(), numbers[:, width:].copy(), failures)

    @contextmanager
    def mine(self, shard: tuple[int, int] | None) -> Iterator[None]:
        if fcntl is None:
            yield
            return
        names = [("lock", fcntl.LOCK_EX)] if shard is None else [("lock", fcntl.LOCK_SH)]
        if shard is not None:
            names.append((f"lock-{shard[0]}-of-{shard[1]}", fcntl.LOCK_EX))
        handles = []
        try:
            for name, how in names:
                try:
                    handles.append((self.path / name).open("a"))
                except OSError as error:
                    raise WriteError(f"cannot write in '{self.path}': {error.strerror}.") from None
                try:
                    fcntl.flock(handles[-1], how | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise ValueError(
                        f"another process works on the store '{self.path}'. Wait for it, or share the work: "
                        "shard=(1, 2) (--shard 1/2) in one, (2, 2) in the other."
                    ) from None
                except OSError:
                    pass  # a file system without locks: blocks are whole all the same
            yield
        finally:
            for handle in handles:
                handle.close()

    def _file(self, start: int) -> Path:
        return self.path / f"{start:012d}{SUFFIX}"

    def _header(self, start: int) -> tuple[dict[str, Any], bytes]:
        with self._file(start).open("rb") as file:
            digest = file.readline().strip()
            return json.loads(file.readline()), digest

    def _found(self) -> Iterator[tuple[int, int]]:
        """Blocks that are whole. Others are put aside: their runs are made again."""

        for path in sorted(self.path.glob(f"*{SUFFIX}")):
            try:
                block = self.read(int(path.stem))
            except (ValueError, OSError, KeyError):
                aside = path.with_suffix(".damaged")
                path.replace(aside)
                warn_user(f"'{path}' was damaged; it is '{aside.name}' now, and its runs are made again.")
                continue
            yield block.start, block.stop

    def _must_be_same(self, manifest: Path, wanted: Mapping[str, Any]) -> None:
        try:
            found = json.loads(manifest.read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise ValueError(f"'{manifest}' cannot be read: {printable(str(error))}. Choose another folder.") from None
        others = differences(found, json.loads(json.dumps(wanted)))
        if others:
            raise ValueError(f"'{self.path}' holds another campaign: {'; '.join(others)}. Choose another folder.")

    def _must_do_the_same(self, plan: Plan) -> None:
        """Laws, environments and events are functions, and cannot be compared: their first runs can."""
        if not self._stops:
            return
        start = min(self._stops)
        stored = self.read(start)
        count = min(COMPARED, stored.stop - start)
        anew = plan.block(start, start + count)
        if (
            anew.outcomes.tobytes() != stored.outcomes[:count].tobytes()
            or anew.values.tobytes() != stored.values[:count].tobytes()
        ):
            raise ValueError(
                f"'{self.path}' holds another campaign: runs {start} to {start + count - 1} give other numbers now. A "
                "law, an environment, an event or the machine is not what it was. Choose another folder."
            )


def differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """As in "seed was 8, is 9"."""
    return [
        f"{name} was {_short(found.get(name))}, is {_short(value)}"
        for name, value in wanted.items()
        if found.get(name) != value
    ]


def _short(x: Any) -> str:
    text = json.dumps(x)
    return text if len(text) <= 120 else text[:120] + " ..."
