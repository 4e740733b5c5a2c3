"""Counts of what came of faults, and the processes that they are tried in: one that dies is a finding, not the end."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from watching import LOOKS, Hung, Watch, end

HERE = Path(__file__).resolve()
READY = "ready"  # said by a worker when it begins with its first seed
SETTING_UP = 600.0  # seconds that it may take until then


@dataclass
class Tally:
    """outcomes: how often each came; wrong: what must not happen, with the seed that makes it happen again."""

    part: str
    tried: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, seed: int, told: dict[str, Any]) -> None:
        self.tried += sum(told["outcomes"].values())
        self.outcomes.update(told["outcomes"])
        self.wrong += [f"{self.part}, seed {seed}: {text}" for text in told["wrong"]]
        self.notes += told.get("notes", [])
        for text in told["wrong"]:
            print(f"WRONG {self.part}, seed {seed}: {text}", file=sys.stderr, flush=True)

    def words(self) -> str:
        return "; ".join([*(f"{n} {words}" for words, n in self.outcomes.most_common()), *self.notes])

    def as_dict(self) -> dict[str, Any]:
        return {
            "tried": self.tried,
            "outcomes": dict(self.outcomes.most_common()),
            "wrong": self.wrong,
            "notes": self.notes,
            "seconds": round(self.seconds, 1),
        }


def tried(part: str, first: int, last: int, patience: float, *more: str) -> Tally:
    """`part` with the seeds from first to last, in processes of their own. patience: seconds that one seed may compute,
    or sleep, before its process counts as hung.
    """
    tally, at = Tally(part), first
    while at < last:
        command = [sys.executable, str(HERE.with_name("campaign.py")), "--worker", part, str(at), str(last), *more]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            ready = _line(process, SETTING_UP) == READY + "\n"
            for told in _lines(process, patience):
                tally.add(at, told)
                at += 1
        code = process.returncode
        if not ready:
            raise RuntimeError(f"{part}: its process ended before the first fault, with exit code {code}.")
        if at < last:
            why = "no answer" if code == -9 else f"exit code {code}"
            tally.add(at, {"outcomes": {"died": 1}, "wrong": [f"the process ended: {why}"]})
            at += 1
    return tally


def _lines(process: subprocess.Popen[str], patience: float) -> Iterator[dict[str, Any]]:
    """What the worker tells about its seeds."""
    while line := _line(process, patience):
        if line.startswith("{"):
            yield json.loads(line)


def _line(process: subprocess.Popen[str], patience: float) -> str:
    """The next one; empty at the end. A worker that has hung is killed."""
    assert process.stdout is not None
    come = threading.Event()

    def watch() -> None:
        if come.wait(LOOKS):
            return
        over = Watch(process.pid, patience, patience)
        try:
            while not come.wait(LOOKS):
                over.look()
        except Hung:
            end(process.pid)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        return process.stdout.readline()
    finally:
        come.set()
        watching.join()


def tell(outcomes: dict[str, int], wrong: Sequence[str], notes: Sequence[str] = ()) -> None:
    """From a worker, about one seed."""
    print(json.dumps({"outcomes": outcomes, "wrong": list(wrong), "notes": list(notes)}), flush=True)
