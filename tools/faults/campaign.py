"""Faults, injected: full disks, signals at random moments, damaged files, interrupted kernels, many calls.

    python tools/faults/campaign.py                       # all of it: about two hours on two cores
    python tools/faults/campaign.py --share 0.01          # a hundredth of each count
    python tools/faults/campaign.py --only signals meshes
    python tools/faults/campaign.py --store out/faults.json --page docs/validation.md     # and write the counts there

Every fault is real (a file system that is full, a limit on files, a signal, changed bytes) and seeded:
`--only results --first 1234 --count 1` tries one again. Anything wrong is printed with its seed, and gives exit code 1.
Counts are kept in the store part by part, so that parts can be run one at a time; the page shows all that it holds.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests" / "helpers")]

from tally import READY, Tally, tell, tried

import gyrostat
from signals_as_usual import usual_signals

BEGIN, END = "<!-- counts of make faults -->", "<!-- end of counts -->"


class Part(NamedTuple):
    """module and class of its worker, how many seeds, seconds that one may compute or sleep, and words for the page."""

    worker: tuple[str, str]
    count: int
    patience: float
    words: str


PARTS = {
    "disk": Part(("disk", "Worker"), 400, 120, "files written where there is no room for all of them"),
    "signals": Part(
        ("signals", "Worker"),
        204,
        300,
        "SIGINT, SIGTERM, SIGKILL in compiling, runs, saving, batches, phases, formations",
    ),
    "results": Part(("files", "Results"), 6000, 60, "result files changed, two thirds with a digest that fits"),
    "scenarios": Part(("files", "Scenarios"), 4000, 120, "scenario files with changed lines and bytes"),
    "meshes": Part(("files", "Meshes"), 80, 120, "meshes with changed bytes, in all formats"),
    "kernels": Part(("kernels", "Worker"), 500, 60, "kernels on eight threads, interrupted"),
    "campaigns": Part(("campaigns", "Worker"), 200, 300, "campaigns killed, on full disks, with damaged blocks"),
    "endurance": Part(("endurance", "Worker"), 1, 60, "random calls in one process, memory flat, bits the same"),
}


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        work(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description="Inject faults and count what comes of them.")
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS), help="none: the page alone")
    parser.add_argument("--share", type=float, default=1.0, help="of each count")
    parser.add_argument("--count", type=int, help="seeds of each part, instead")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--minutes", type=float, default=30.0, help="of random calls")
    parser.add_argument("--store", type=Path, help="keep the counts here, part by part (JSON)")
    parser.add_argument("--page", type=Path, help="write all counts of the store into this page, between its marks")
    given = parser.parse_args()
    if given.page is not None and given.store is None:
        parser.error("--page shows what a --store holds; name one.")
    wrong = 0
    for name in given.only:
        told = _tried(name, given).as_dict() | {"when": f"{datetime.now(UTC):%Y-%m-%d}", "where": _machine()}
        wrong += len(told["wrong"])
        if given.store is not None:
            known = json.loads(given.store.read_text(encoding="utf-8")) if given.store.exists() else {}
            given.store.parent.mkdir(parents=True, exist_ok=True)
            given.store.write_text(json.dumps(known | {name: told}, indent=1) + "\n", encoding="utf-8")
    if given.page is not None:
        write_page(given.page, json.loads(given.store.read_text(encoding="utf-8")))
    sys.exit(wrong > 0)


def _tried(name: str, given: argparse.Namespace) -> Tally:
    part, begun = PARTS[name], time.monotonic()
    if name == "endurance":
        tally = tried(name, given.first, given.first + 1, 60 * given.minutes + 600, str(given.minutes))
    else:
        count = given.count or max(1, round(part.count * given.share))
        tally = tried(name, given.first, given.first + count, part.patience)
    tally.seconds = time.monotonic() - begun
    print(f"{name}: {tally.tried} tried in {tally.seconds:.0f} s: {tally.words()}; {len(tally.wrong)} wrong")
    sys.stdout.flush()
    return tally


def work(name: str, first: str, last: str, *more: str) -> None:
    """In a process of its own: one line for each seed."""
    usual_signals()
    os.environ["PYTHONPATH"] = str(Path(gyrostat.__file__).resolve().parents[1])  # for all that it starts, anywhere
    module, worker = PARTS[name].worker
    made: Any = getattr(importlib.import_module(module), worker)(*map(float, more))
    print(READY, flush=True)
    for seed in range(int(first), int(last)):
        tell(*made.one(seed))


def _machine() -> str:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{platform.system()} {platform.machine()}, {cores} cores, Python {platform.python_version()}"


def write_page(page: Path, known: dict[str, Any]) -> None:
    rows = ["| what | tried | what came of it | wrong | minutes | when |", "|---|---|---|---|---|---|"]
    for name in filter(known.__contains__, PARTS):
        told = known[name]
        came = "; ".join(f"{n:,} {words}" for words, n in told["outcomes"].items())
        came = "; ".join([came, *told["notes"]])
        minutes = max(1, round(told["seconds"] / 60))
        rows.append(
            f"| {PARTS[name].words} | {told['tried']:,} | {came} | {len(told['wrong'])} | {minutes} | {told['when']} |"
        )
    machines = "; ".join(dict.fromkeys(told["where"] for told in known.values()))
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    made = "\n".join([BEGIN, "", *rows, "", f"Counted on: {machines}.", "", END])
    page.write_text(f"{before}{made}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
