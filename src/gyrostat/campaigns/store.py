"""Where the blocks of a campaign are kept: in memory, or in a folder, one file each, written whole or not at all.

A block's file is its SHA-256, a line of JSON, and its numbers, little-endian, outcomes before dispersed values: nothing
is run by reading it, and a changed byte is seen. It holds no times and no names of machines: the same runs give the
same file, whoever made it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from .._warned import warn_user
from ..io.bounded import read_file
from ..io.writing import WriteError, check_writable, write_bytes, write_text
from ..model.names import printable
from .plan import Block, Plan

fcntl: Any = None
with suppress(ImportError):  # Windows has none
    import fcntl

MANIFEST = "campaign.json"
SUFFIX = ".block"
NAME = re.compile(r"\d{12}\.block")
COMPARED = 8  # runs
DOUBLE = "first-block.double"  # in double precision, of a campaign in single
MANIFEST_MOST, REASON_MOST = 2**26, 4096  # bytes: of the manifest; of what a run failed of


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
        self.path, self._size = Path(path), size
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
            with suppress(ValueError):
                self._stops[start] = self.read(start).stop  # a shard of another process
        return self._stops.get(start, start)

    @property
    def in_double(self) -> Block | None:
        try:
            return self._read(self.path / DOUBLE, 0)
        except ValueError:
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
        return self._read(self._file(start), start)

    def _read(self, path: Path, start: int) -> Block:
        most = 2**16 + self._size * (8 * sum(self._widths) + REASON_MOST)
        digest, _, content = read_file(path, most, "a block of a campaign").partition(b"\n")
        if hashlib.sha256(content).hexdigest().encode() != digest:
            raise _changed(path)
        line, _, raw = content.partition(b"\n")
        stop, failures = self._told(path, start, line)
        shape = stop - start, sum(self._widths)
        if len(raw) != 8 * shape[0] * shape[1]:
            raise _changed(path)
        numbers, width = np.frombuffer(raw, dtype="<f8").reshape(shape), self._widths[0]
        return Block(start, stop, numbers[:, :width].copy(), numbers[:, width:].copy(), failures)

    def _told(self, path: Path, start: int, line: bytes) -> tuple[int, dict[int, str]]:
        """Where it ends, and which of its runs failed, of what. A digest that fits vouches for accidents alone."""
        try:
            header = json.loads(line)
            stop, failures = header["stop"], {int(k): why for k, why in header["failures"].items()}
            right = header["start"] == start and header["columns"] == list(self._widths)
            right &= type(stop) is int and start < stop <= start + self._size
            right &= all(start <= k < stop and isinstance(why, str) for k, why in failures.items())
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise _changed(path) from None
        if not right:
            raise _changed(path)
        return stop, {k: printable(why) for k, why in failures.items()}

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
                    handles.append(_lock_file(self.path / name))
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
                os.close(handle)

    def _file(self, start: int) -> Path:
        return self.path / f"{start:012d}{SUFFIX}"

    def _found(self) -> Iterator[tuple[int, int]]:
        """Blocks that are whole. Others are put aside: their runs are made again."""

        for path in sorted(path for path in self.path.iterdir() if NAME.fullmatch(path.name)):
            try:
                block = self.read(int(path.stem))
            except ValueError:
                aside = path.with_suffix(".damaged")
                path.replace(aside)
                warn_user(f"'{path}' was damaged; it is '{aside.name}' now, and its runs are made again.")
                continue
            yield block.start, block.stop

    def _must_be_same(self, manifest: Path, wanted: Mapping[str, Any]) -> None:
        try:
            found = dict(json.loads(read_file(manifest, MANIFEST_MOST, "the manifest of a campaign")))
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(
                f"'{manifest}' is no manifest of a campaign: {printable(str(error))[:200]}. Choose another folder."
            ) from None
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


def _changed(path: Path) -> ValueError:
    return ValueError(f"'{path}' was changed or cut off. Take it away, and resume: only its runs are made again.")


def _lock_file(path: Path) -> int:
    """A plain file, opened; nothing waits for the other end of a pipe, and no link leads elsewhere."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW, 0o666)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, f"'{path.name}' in it is no file")
    return handle


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
