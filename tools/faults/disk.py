"""A disk that is full: every kind of file that gyrostat writes, with any room left for it.

The disk is a small file system of its own, where one may be mounted; else, and for half of the seeds anyway, a limit on
the size of files. The room is any from nothing to enough, so that each write of a file is the first that fails in turn.
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat.io.writing import WriteError, write_figure
from gyrostat.scenario import example, load
from gyrostat.tracing import cache
from gyrostat.view.report import write_report

OLD = b"what stood there before"
SIZE = 4 * 2**20  # of the disk
PAGE = 4096
BEFORE = 128  # bytes that are not compared: MATLAB's files begin with the time of day
CODE = "from gyrostat.cli.main import run; run()"
SHARES = {"r.nc": 6, "r.mat": 3, "c.toml": 2, "c.urdf": 2, "cache": 3, "checkpoint.nc": 3, "run": 3}
SHARES |= {"report.html": 1, "scene.html": 1, "p.png": 1}


class Worker:
    def __init__(self) -> None:
        self._kept = tempfile.TemporaryDirectory(prefix="gyrostat-faults-")
        self.folder = Path(self._kept.name)
        self.mounts = may_mount(self.folder / "disk")
        craft = gs.load("servicer")
        v = np.zeros(craft.nv)
        v[6:] = 0.05
        run = gs.simulate(craft, gs.neutral(craft), v, (0, 20), save_at=np.linspace(0, 20, 101))
        (self.folder / "case.toml").write_text(example("servicer"))
        work = load(self.folder / "case.toml")
        self.writers: dict[str, Callable[[Path], Any]] = {
            "r.nc": run.save,
            "r.mat": run.save,
            "c.toml": lambda path: gs.save(craft, path),
            "c.urdf": lambda path: gs.save(craft, path),
            "report.html": lambda path: write_report(run, path),
            "scene.html": run.to_html,
            "p.png": lambda path: write_figure(path, run.plot()),
        }
        self.work, self.done = work, work.simulate()
        self.writers["checkpoint.nc"] = self.done.save
        self.known: dict[str, list[bytes]] = {}
        self.order = [name for name, weight in SHARES.items() for _ in range(weight)]

    def _whole(self, name: str) -> list[bytes]:
        """The file where there is room, written twice."""
        if name not in self.known:
            self.known[name] = [
                (self.writers[name](self.folder / name), (self.folder / name).read_bytes())[1] for _ in range(2)
            ]
        return self.known[name]

    def one(self, seed: int) -> tuple[dict[str, int], list[str]]:
        rng = random.Random(seed)
        name = self.order[seed % len(self.order)]
        limited = not self.mounts or rng.random() < 0.5
        if name == "cache":
            return self._cache(rng, limited)
        if name == "run":
            return self._command(rng, limited)
        size = len(self._whole(name)[0])
        room = rng.randrange(size + 2 * PAGE) if limited else PAGE * rng.randrange(size // PAGE + 3)
        with little_room(self.folder, room, limited, name) as disk:
            if name == "checkpoint.nc":
                outcome, wrong = self._checkpoint(disk / name)
            else:
                outcome, wrong = self._write(disk / name)
            left = {entry.name for entry in disk.iterdir()} - {name, "fill"}
            wrong += [f"left {sorted(left)}"] if left else []
        return {outcome: 1}, [f"{name}, room for {room} bytes: {text}" for text in wrong]

    def _write(self, path: Path) -> tuple[str, list[str]]:
        first, second = (content[BEFORE:] for content in self.known[path.name])
        try:
            self.writers[path.name](path)
        except WriteError as error:
            wrong = [] if path.read_bytes() == OLD else ["the old file was changed"]
            wrong += [] if "are missing" in str(error) or "quota" in str(error) else [f"said only: {error}"]
            return "refused by name, the old file kept", wrong
        content = path.read_bytes()[BEFORE:]
        same = content == first if first == second else len(content) >= 0.9 * len(first)
        return "written whole", [] if same else ["not what it writes elsewhere"]

    def _checkpoint(self, path: Path) -> tuple[str, list[str]]:
        """A run whose checkpoints cannot be written goes on to its end, with a note."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            done = self.work.simulate(checkpoint=path, checkpoint_every=0.01)
        wrong = [] if done.q.tobytes() == self.done.q.tobytes() else ["the run has other bits"]
        if any("checkpoint" in str(w.message) for w in caught):
            return "a run without its checkpoints, with a note, to the same bits", wrong
        if path.read_bytes() == OLD:
            return "done before a checkpoint was due", wrong
        return "written whole", wrong + ([] if gs.Trajectory.load(path).interrupted else ["it calls itself complete"])

    def _cache(self, rng: random.Random, limited: bool) -> tuple[dict[str, int], list[str]]:
        """Kernels that cannot be kept are compiled all the same."""
        room, key, content = rng.randrange(8 * PAGE), f"{rng.getrandbits(256):064x}", rng.randbytes(20000)
        before = os.environ.get("GYROSTAT_CACHE")
        with little_room(self.folder, room, limited) as disk, warnings.catch_warnings():
            warnings.simplefilter("ignore", cache.CacheWarning)
            os.environ["GYROSTAT_CACHE"] = str(disk)
            try:
                cache.store(key, content)
                found = cache.load(key)
            finally:
                del os.environ["GYROSTAT_CACHE"]
                os.environ |= {} if before is None else {"GYROSTAT_CACHE": before}
            left = [path.name for path in (disk / cache.FOLDER).iterdir() if path.name != key] if found is None else []
        wrong = [] if found in (None, content) else ["the cache gave something else back"]
        wrong += [f"the cache kept {left}"] if left else []
        return {"kept in the cache" if found else "not kept in the cache, nothing failed": 1}, wrong

    def _command(self, rng: random.Random, limited: bool) -> tuple[dict[str, int], list[str]]:
        """`gyrostat run` where there is little room; the result then goes to the folder for temporary files."""
        room = rng.randrange(2 * len(self._whole("checkpoint.nc")[0]))
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir(exist_ok=True)
        with little_room(self.folder, room, False) if not limited else _folder(self.folder / "limited") as disk:
            (disk / "case.nc").write_bytes(OLD)
            environment = {**os.environ, "TMPDIR": str(elsewhere), "HOME": str(elsewhere)}
            done = subprocess.run(
                [sys.executable, "-c", CODE, "run", str(self.folder / "case.toml"), "--plot"],
                check=False,
                capture_output=True,
                text=True,
                cwd=disk,
                env=environment,
                preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))) if limited else None,
            )
            new, saved = (disk / "case.nc").read_bytes(), [*elsewhere.glob("case-*.nc")]
            wrong = []
            if done.returncode not in (0, 1) or "Traceback" in done.stderr:
                wrong.append(f"ended with {done.returncode}: {done.stderr[-500:]}")
            if new != OLD:
                gs.Trajectory.load(disk / "case.nc")
            elif saved:
                gs.Trajectory.load(saved[0])
            elif not limited:  # where no file may be larger, there is no elsewhere
                wrong.append("the result is nowhere")
            if done.returncode == 0 and (new == OLD or not (disk / "case.png").exists()):
                wrong.append("it called itself done without its files")
            left = {entry.name for entry in disk.iterdir()} - {"case.nc", "case.png", "fill"}
            wrong += [f"left {sorted(left)}"] if left else []
        for path in saved:
            path.unlink()
        where = "in its place" if new != OLD else "elsewhere" if saved else "nowhere, as no file may be larger"
        return {f"gyrostat run, its result {where}": 1}, [f"run, room for {room} bytes: {text}" for text in wrong]


@contextlib.contextmanager
def little_room(folder: Path, room: int, limited: bool, name: str | None = None) -> Iterator[Path]:
    """A folder with the old file under `name` where there is room for so many bytes more; limited: no file may be
    larger.
    """
    with _folder(folder / "limited") if limited else small_disk(folder / "disk") as disk:
        if name is not None:
            (disk / name).write_bytes(OLD)
        if limited:
            usual = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, usual[1]))
        else:
            free = os.statvfs(disk)
            (disk / "fill").write_bytes(bytes(max(0, free.f_bavail * free.f_frsize - room)))
        try:
            yield disk
        finally:
            if limited:
                resource.setrlimit(resource.RLIMIT_FSIZE, usual)


@contextlib.contextmanager
def _folder(folder: Path) -> Iterator[Path]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    yield folder


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(folder)], check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def may_mount(folder: Path) -> bool:
    try:
        with small_disk(folder):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False
