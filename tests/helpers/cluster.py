"""A Dask cluster of real processes: a scheduler and workers, each of which can be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).resolve().parent
PATIENCE = 60.0  # seconds; a busy machine


class Cluster:
    """address: of its scheduler. workers: their processes, one thread each."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._folder, self._file = folder, folder / "scheduler.json"
        self._environment = dict(os.environ)
        paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._environment |= {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
        self._scheduler = self._started("dask_scheduler", "--port", "0", "--no-dashboard", "--no-show")
        self._until(lambda: self._file.exists() and self._file.stat().st_size > 0, "the scheduler")
        self.address: str = json.loads(self._file.read_text())["address"]
        self.workers = [self._worker(k) for k in range(workers)]

    def _worker(self, k: int) -> subprocess.Popen[bytes]:
        local = str(self._folder / f"worker-{k}")
        return self._started(
            "dask_worker", "--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", local
        )

    def _started(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{what}", "--scheduler-file", str(self._file), *options]
        log = (self._folder / f"{what}.log").open("ab")
        with log:
            return subprocess.Popen(command, env=self._environment, stdout=log, stderr=log)

    def run(self, *command: Any) -> subprocess.Popen[bytes]:
        """A process that can import what the workers can."""
        return subprocess.Popen([sys.executable, *map(str, command)], env=self._environment)

    @staticmethod
    def _until(ready: Any, what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not ready():
            if time.monotonic() > end:
                raise TimeoutError(f"waited {PATIENCE} s for {what}")
            time.sleep(0.02)

    def until(self, ready: Any, what: str) -> None:
        self._until(ready, what)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self._scheduler):
            process.kill()
            process.wait()
