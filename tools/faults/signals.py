"""SIGINT, SIGTERM and SIGKILL at random moments: while `gyrostat run` compiles, runs and saves, one craft, phases and
formations, and while a batch runs.

Whatever comes, what was complete stays, what was kept goes on to the bits of the run that nothing happened to, and
nothing else is left behind.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from watching import Hung, communicate

from gyrostat.io.results_any import load_result
from gyrostat.scenario import example

COMMAND = "from gyrostat.cli.entry import run; run()"
CASE = """spacecraft = "servicer"
outputs = ["momentum"]
[start]
angular_velocity = [1.0, 0.5, 0.2]
[run]
duration = "250 s"
save_every = "{every}"
"""
ASLEEP, COMPUTING = 60.0, 300.0  # seconds; undisturbed, each computes for some ten
NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
MISSIONS = {"phases": "capture-and-detumble", "formation": "inspection-formation"}
STAGES = ("compile", "run", "save", "batch", *MISSIONS)
KINDS = [(number, stage) for stage in STAGES for number in NUMBERS]

# As a user would write it: a batch in parts, each kept; Ctrl-C and a wish to terminate end it early, with what there is
BATCH = """
import signal, sys
from pathlib import Path
import numpy as np
import gyrostat as gs

asked = 0

def interrupt(number, frame):
    global asked
    asked = number
    raise KeyboardInterrupt

signal.signal(signal.SIGINT, interrupt)
signal.signal(signal.SIGTERM, interrupt)
craft, part = gs.load("servicer"), Path("case.partial.nc")
rng = np.random.default_rng(0)
v = np.concatenate([0.3 * rng.normal(size=(96, 6)), np.tile(0.05, (96, craft.nv - 6))], axis=1)
kept = gs.Trajectory.load(part) if "--resume" in sys.argv else None
print("servicer, 250 s", flush=True)
while kept is None or kept.interrupted:
    if kept is None:
        kept = gs.simulate(craft, None, v, (0, 20), save_at=np.linspace(0, 20, 21), max_steps=600, threads=4)
    else:
        kept = gs.simulate(craft, resume=kept, max_steps=600, threads=4)
    if kept.interrupted:
        kept.save(part)
    if asked:
        sys.exit(128 + asked)
kept.save("case.nc")
part.unlink(missing_ok=True)
"""


class Ended(NamedTuple):
    code: int
    out: str
    err: str


class Worker:
    def __init__(self) -> None:
        self._kept = tempfile.TemporaryDirectory(prefix="gyrostat-faults-")
        self.folder = Path(self._kept.name)
        self.known: dict[str, tuple[bytes, float]] = {}

    def _undisturbed(self, stage: str) -> tuple[bytes, float]:
        """The result when nothing happens, and how long that takes."""
        if stage not in self.known:
            place = self._case(self.folder / stage, stage)
            for _ in range(1 if stage == "compile" else 2):  # the second time everything is compiled
                begun = time.monotonic()
                ended = _wait(self._start(place, stage))
                takes = time.monotonic() - begun
                assert ended.code == 0, ended
            self.known[stage] = (place / "case.nc").read_bytes(), takes
        return self.known[stage]

    def _case(self, place: Path, stage: str) -> Path:
        place.mkdir()
        one = CASE.format(every="0.01 s" if stage == "save" else "2.5 s")
        (place / "case.toml").write_text(example(MISSIONS[stage]) if stage in MISSIONS else one)
        (place / "batch.py").write_text(BATCH)
        return place

    def _start(self, place: Path, stage: str, *more: str) -> subprocess.Popen[str]:
        environment = {**os.environ, **({"GYROSTAT_CACHE": str(place / "cache")} if stage == "compile" else {})}
        command = ["batch.py"] if stage == "batch" else ["-c", COMMAND, "run", "case.toml"]
        return subprocess.Popen(
            [sys.executable, *command, *more],
            cwd=place,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def one(self, seed: int) -> tuple[dict[str, int], list[str]]:
        rng = random.Random(seed)
        number, stage = KINDS[seed % len(KINDS)]
        place = self._case(self.folder / str(seed), stage)
        _, takes = self._undisturbed(stage)
        old = self._undisturbed("run" if stage != "run" else "save")[0] if rng.random() < 0.5 else None
        if old is not None:
            (place / "case.nc").write_bytes(old)
        often = ["--checkpoint-every", "0.05 s"] if stage != "batch" and rng.random() < 0.5 else []
        process = self._start(place, stage, *often)
        if stage == "save" and rng.random() < 0.7:
            _until_it_saves(process, place)
            time.sleep(rng.uniform(0.0, 0.05))
        else:
            time.sleep(rng.uniform(0.4 if stage == "save" else 0.0, 1.05) * takes)
        process.send_signal(number)
        try:
            ended = _wait(process)
            outcome, wrong = self._judge(place, stage, number, ended, old)
        except Hung as error:
            outcome, wrong = "hung", [str(error)]
        shutil.rmtree(place)
        return {outcome: 1}, [f"{number.name} while it should {stage} {often}: {text}" for text in wrong]

    def _judge(
        self, place: Path, stage: str, number: signal.Signals, ended: Ended, old: bytes | None
    ) -> tuple[str, list[str]]:
        code, result, partial, whole = (
            ended.code,
            place / "case.nc",
            place / "case.partial.nc",
            self._undisturbed(stage)[0],
        )
        usual = {0, 128 + number, -number} | ({-signal.SIGINT} if stage == "batch" else set())
        starting = code == 1 and not ended.out and "KeyboardInterrupt" in ended.err and "gyrostat" not in ended.err
        wrong = [] if code in usual or starting else [f"exit code {code}: {ended.err[-800:]}"]  # Python's own start
        found = result.read_bytes() if result.exists() else None
        if found not in (old, whole):
            wrong += ["the old result is lost"] if found is None else ["the result is neither the old nor the new one"]
        if code == 0 and found != whole:
            wrong += ["exit code 0 without the result"]
        kept = partial.exists()
        if kept and not load_result(partial).interrupted:
            wrong += ["the part calls itself complete"]
        told = "before there was anything to keep" in ended.err
        began = bool(ended.out)  # from then on signals are heard
        if began and number != signal.SIGKILL and not kept and found != whole and not told and stage != "batch":
            wrong += [f"nothing was kept of a run that had begun: {ended}"]
        wrong += self._goes_on(place, stage, kept)
        if found == whole:
            return "complete, and kept", wrong
        if kept:
            return "kept in part, and resumed bit for bit", wrong
        return "killed before a checkpoint" if began and not told else "ended before there was anything to keep", wrong

    def _goes_on(self, place: Path, stage: str, kept: bool) -> list[str]:
        """The next run ends with the same bits, and leaves nothing else behind."""
        again = _wait(self._start(place, stage, *(["--resume"] if kept else [])))
        wrong = [] if again.code == 0 else [f"run again, it ended with {again}"]
        if again.code == 0 and (place / "case.nc").read_bytes() != self._undisturbed(stage)[0]:
            wrong += ["run again, it came to other bits"]
        left = {path.name for path in place.iterdir()} - {"case.toml", "case.nc", "batch.py", "cache"}
        left |= {path.name for path in place.glob("cache/*/*") if path.name.startswith(".")}
        return wrong + ([f"left {sorted(left)}"] if left else [])


def _wait(process: subprocess.Popen[str]) -> Ended:
    out, err = communicate(process, ASLEEP, COMPUTING)
    return Ended(process.returncode, out, err)


def _until_it_saves(process: subprocess.Popen[str], place: Path) -> None:
    """Until there are bytes in a file that is under way."""
    while process.poll() is None:
        for entry in os.scandir(place):
            try:
                if entry.name.endswith(".part") and entry.stat().st_size:
                    return
            except FileNotFoundError:
                continue
