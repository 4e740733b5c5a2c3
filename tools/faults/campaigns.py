"""Campaigns of runs whose store meets a fault: the process is ended at a random moment, the disk is full, a block is
damaged.

Whatever comes, the blocks that are there are those of the undisturbed campaign, and resumed it has its bytes.
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from disk import PAGE, little_room, may_mount
from watching import Hung, communicate

import flap_campaign
from gyrostat.io.writing import WriteError

SCRIPT = Path(flap_campaign.__file__)
NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
ASLEEP, COMPUTING = 60.0, 300.0  # seconds; undisturbed, it computes for some ten
WAYS = (*NUMBERS, "full", "damaged")


class Worker:
    def __init__(self) -> None:
        self._kept = tempfile.TemporaryDirectory(prefix="gyrostat-faults-")
        self.folder = Path(self._kept.name)
        self.mounts = may_mount(self.folder / "disk")
        begun = time.monotonic()
        self._ended(self._start(self.folder / "whole"))
        self.takes = time.monotonic() - begun
        self.whole = _files(self.folder / "whole")

    def one(self, seed: int) -> tuple[dict[str, int], list[str]]:
        rng, way = random.Random(seed), WAYS[seed % len(WAYS)]
        place = self.folder / str(seed)
        try:
            if way == "full":
                outcome, wrong = self._full(rng, place)
            elif way == "damaged":
                outcome, wrong = self._damaged(rng, place)
            else:
                outcome, wrong = self._killed(rng, place, way)
        except Hung as error:
            outcome, wrong = "hung", [str(error)]
        shutil.rmtree(place, ignore_errors=True)
        name = way if isinstance(way, str) else way.name
        return {outcome: 1}, [f"{name}: {text}" for text in wrong]

    def _killed(self, rng: random.Random, place: Path, number: signal.Signals) -> tuple[str, list[str]]:
        process = self._start(place)
        time.sleep(rng.uniform(0.0, 1.05) * self.takes)
        process.send_signal(number)
        code, err = self._ended(process)
        usual = code in (0, -number, 128 + number) or (number == signal.SIGINT and "KeyboardInterrupt" in err)
        wrong = [] if usual else [f"exit code {code}: {err[-800:]}"]
        kept = _files(place) if place.exists() else {}
        blocks = sum(name.endswith(".block") for name in kept)
        wrong += self._true(kept)
        code, err = self._ended(self._start(place, "--resume"))
        wrong += [] if code == 0 else [f"resumed, it ended with {code}: {err[-800:]}"]
        wrong += self._same(place)
        many = len(self.whole) - 1
        return "complete" if blocks == many else "part of the blocks kept" if blocks else "no block yet", wrong

    def _full(self, rng: random.Random, place: Path) -> tuple[str, list[str]]:
        """The blocks until the disk is full are kept, and go on where there is room."""
        limited = not self.mounts or rng.random() < 0.5
        size = max(map(len, self.whole.values())) if limited else sum(map(len, self.whole.values()))
        room = rng.randrange(size + 2 * PAGE)
        wrong, outcome = [], "written whole"
        with little_room(self.folder, room, limited) as disk:
            store = disk / "store"
            try:
                flap_campaign.run(store=store)
            except WriteError as error:
                outcome = "refused by name, blocks kept"
                wrong += [] if "are missing" in str(error) or "cannot" in str(error) else [f"said only: {error}"]
            kept = _files(store) if store.exists() else {}
            left = [name for name in kept if name.startswith(".") or name.endswith(".part")]
            wrong += [f"left {left}"] if left else []
            if store.exists():
                shutil.copytree(store, place)
        wrong += self._true({name: content for name, content in kept.items() if name not in left})
        flap_campaign.run(store=place, resume=True)
        return outcome, wrong + self._same(place)

    def _damaged(self, rng: random.Random, place: Path) -> tuple[str, list[str]]:
        shutil.copytree(self.folder / "whole", place)
        block = rng.choice(sorted(place.glob("*.block")))
        content = bytearray(block.read_bytes())
        way = rng.choice(("changed", "cut off", "emptied"))
        if way == "changed":
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        del content[{"changed": len(content), "cut off": rng.randrange(len(content)), "emptied": 0}[way] :]
        block.write_bytes(content)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            flap_campaign.run(store=place, resume=True)
        wrong = [] if any("damaged" in str(w.message) for w in caught) else [f"a block {way} was believed"]
        return "a damaged block made again", wrong + self._same(place)

    def _true(self, kept: dict[str, bytes]) -> list[str]:
        """Blocks that are there are whole ones."""
        found = {name: content for name, content in kept.items() if name.endswith((".block", ".json"))}
        return [f"'{name}' is not what it is undisturbed" for name, x in found.items() if self.whole.get(name) != x]

    def _same(self, place: Path) -> list[str]:
        found = _files(place)
        other = {name for name, content in self.whole.items() if found.get(name) != content}
        left = {name for name in found if name not in self.whole and not name.endswith(".damaged")}
        wrong = [f"resumed, {sorted(other)} differ"] if other else []
        return wrong + ([f"left {sorted(left)}"] if left else [])

    @staticmethod
    def _start(place: Path, *more: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(SCRIPT), str(place), *more]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    @staticmethod
    def _ended(process: subprocess.Popen[str]) -> tuple[int, str]:
        _, err = communicate(process, ASLEEP, COMPUTING)
        return process.returncode, err


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith("lock")}
