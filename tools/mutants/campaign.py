"""A seeded campaign of small faults: how many of them do the tests see?

    python tools/mutants/campaign.py map    -n 2               # which tests execute what; then only what changed
    python tools/mutants/campaign.py run    -n 2 --count 450   # faults one by one: the tests that execute the place
    python tools/mutants/campaign.py report                    # shares, and the faults that no test saw
    python tools/mutants/campaign.py again                     # forget those, so that `run` tries them once more

Everything is kept in `.cache/mutants`, so that a campaign can be stopped at any time and goes on where it was. The
checkout itself is never changed: each worker has a copy. A fault is seen if a test fails or takes far longer than it
should. Faults that no test sees are explained in `tools/mutants/explained.toml`, by their id.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import math
import shutil
import subprocess
import sys
import threading
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any

from covering import Covering, Server
from mutations import Mutation, mutations
from server import NOT_FOUND, NOT_SO

ROOT = Path(__file__).resolve().parents[2]
STORE = ROOT / ".cache" / "mutants"
PACKAGES = ("environment", "constraints", "simulation", "control", "scenario")
GOAL = 0.92
HEADING = "## The last campaign"
# slow, looking at no detail; or in processes of their own, which are not measured; or about other things
LEFT_OUT = (
    "tests/examples",
    "tests/fuzz",
    "tests/cli",
    "tests/view",
    "tests/tracing",
    "tests/reference",
    "tests/test_",
)


def sources(packages: Sequence[str] = PACKAGES) -> list[str]:
    found: list[str] = []
    for package in packages:
        found += sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "src" / "gyrostat" / package).rglob("*.py"))
    return found


def test_files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "tests"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    found = [name for name in listed if Path(name).name.startswith("test_") and not name.startswith(LEFT_OUT)]
    return sorted(found, key=lambda name: Path(name).parts[1] not in PACKAGES)  # those that matter most come first


def chosen(count: int, seed: int, packages: Sequence[str] = PACKAGES) -> list[Mutation]:
    """At most one fault per line; packages have shares by the square root of their lines, for small ones matter too.

    The draw of a place does not depend on other places: where the sources change a little, so does the selection.
    """
    drawn = {package: _one_per_line(package, seed) for package in packages}
    weight = {package: math.sqrt(len(places)) for package, places in drawn.items()}
    found: list[Mutation] = []
    while len(found) < min(count, sum(map(len, drawn.values()))):
        taken = Counter(_package(m.file) for m in found)
        left = [package for package in packages if taken[package] < len(drawn[package])]
        package = min(left, key=lambda name: (taken[name] + 0.5) / weight[name])
        found.append(drawn[package][taken[package]])
    return found


def _one_per_line(package: str, seed: int) -> list[Mutation]:
    places = [m for file in sources((package,)) for m in mutations(ROOT, file)]
    places.sort(key=lambda m: hashlib.sha256(f"{seed}|{m.id}".encode()).digest())
    lines: dict[tuple[str, int], Mutation] = {}
    for m in places:
        lines.setdefault((m.file, m.line), m)
    return list(lines.values())


class Worker:
    """A copy of the checkout in which one fault at a time is put."""

    def __init__(self, number: int, files: Sequence[str] = ()) -> None:
        self.files = files  # of tests
        self.root = STORE / f"worker-{number}"
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
            "\n"
        )
        kept = {name for name in listed if name and (ROOT / name).is_file()}
        for name in kept:
            there = self.root / name
            if not there.exists() or there.read_bytes() != (ROOT / name).read_bytes():
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, there)
        for old in [p for p in self.root.rglob("*.py") if p.relative_to(self.root).as_posix() not in kept]:
            old.unlink()  # of a file that has moved
        beside = STORE / "shared"
        if (ROOT.parent / "shared").exists() and not beside.exists():
            beside.symlink_to((ROOT.parent / "shared").resolve())
        # checked by their content, not by their age: a fault never runs from an old one
        compile_all = ["-m", "compileall", "-q", "-f", "--invalidation-mode", "checked-hash", "src"]
        subprocess.run([sys.executable, *compile_all], cwd=self.root, check=True, capture_output=True)
        self.servers: list[Server] = []  # one that has imported sources and tests, one that does so for each run

    def verdict(self, m: Mutation, tests: list[str], seconds: Mapping[str, float], modules: Path) -> dict[str, Any]:
        """A few tests first, then more: most faults are seen at once."""
        self.servers = self.servers or [Server(self.root, modules, files) for files in (self.files, ())]
        path = self.root / m.file
        sound = path.read_text(encoding="utf-8")
        faulty = m.applied(sound)
        used = 0.0
        row: dict[str, Any] = {"outcome": "survived", "by": "", "seconds": 0.0}
        path.write_text(faulty, encoding="utf-8")  # for tests that start other processes, and where it takes an import
        fault = {"file": m.file, "sound": sound, "faulty": faulty}
        try:
            for some in (tests[:4], tests[4:24], tests[24:]):
                if not some:
                    break
                allowed = 20.0 + 6.0 * sum(seconds[name] for name in some)
                answer = self._ask(fault, some, allowed)
                used += answer["seconds"]
                if answer["code"] == NOT_FOUND and not answer["failed"]:  # they have other cases than when measured
                    functions = list(dict.fromkeys(name.partition("[")[0] for name in some))
                    answer = self._ask(fault, functions, allowed)
                if answer["code"] == NOT_FOUND and not answer["failed"]:
                    return row | {"outcome": "error: the tests are other ones than those measured"}
                if answer["code"] != 0:
                    row |= {
                        "outcome": "killed",
                        "by": next(iter(answer["failed"]), f"pytest ends with {answer['code']}"),
                    }
                    break
        finally:
            path.write_text(sound, encoding="utf-8")
        return row | {"seconds": round(used, 1)}

    def _ask(self, fault: Mapping[str, str], tests: Sequence[str], seconds: float) -> dict[str, Any]:
        """Of the process that has imported the sound sources if the fault can be put into it; else of the other."""
        warm, cold = self.servers
        answer = warm.ask(tests=tests, seconds=seconds, fault=fault)
        return cold.ask(tests=tests, seconds=seconds) if answer["code"] == NOT_SO else answer

    def close(self) -> None:
        for server in self.servers:
            server.close()


def run(count: int, seed: int, workers: int, most: float, packages: Sequence[str]) -> None:
    covering = Covering(ROOT, STORE / "covering.json", sources())
    stale = covering.stale(test_files())
    if stale:
        print(f"{len(stale)} test files are not measured as they are now; run `campaign.py map` first. Going on so.")
    results = STORE / f"results-{seed}.jsonl"
    done = {row["key"] for row in _rows(results)}
    copies = [Worker(number, [f for f in test_files() if f in covering.tests]) for number in range(workers)]
    todo: Queue[tuple[Mutation, list[str]]] = Queue()  # found now: the checkout may change meanwhile
    for m in chosen(count, seed, packages):
        if m.key not in done:
            todo.put((m, _within(covering, m, most)))
    print(f"{count} faults, {count - todo.qsize()} done before, {todo.qsize()} to do, {workers} workers")
    lock = threading.Lock()

    def work(worker: Worker) -> None:
        while not todo.empty():
            m, tests = todo.get()
            row: dict[str, Any] = {
                "key": m.key,
                "id": m.id,
                "text": str(m),
                "file": m.file,
                "kind": m.kind,
                "tests": len(tests),
            }
            if tests:
                row |= worker.verdict(m, tests, covering.seconds, covering.modules)
            else:
                row |= {"outcome": "survived", "by": "no test executes it", "seconds": 0.0}
            with lock:
                with results.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
                print(f"{row['outcome']:9} {row['seconds']:6.1f} s  {row['text'][:150]}", flush=True)
        worker.close()

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, copies))


def _within(covering: Covering, m: Mutation, most: float) -> list[str]:
    """The tests that execute the place, as far as the time goes; at least one."""
    tests: list[str] = []
    total = 0.0
    for name in covering.tests_of(m.file, m.line):
        seconds = covering.seconds[name] + 0.01
        if tests and total + seconds > most:
            continue
        tests.append(name)
        total += seconds
    return tests


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def again(seed: int) -> None:
    """Forget the faults that no test saw, so that `run` tries them once more: with the tests as they are now."""
    results = STORE / f"results-{seed}.jsonl"
    kept = [row for row in _rows(results) if row["outcome"] == "killed"]
    results.write_text("".join(json.dumps(row) + "\n" for row in kept))


def report(seed: int, count: int, packages: Sequence[str], page: Path | None = None) -> int:
    """Shares by package and kind, survivors with their explanation; 0 if enough were seen and the others explained.

    page: where this is written, after the heading of the last campaign.
    """
    current = {m.key: str(m) for m in chosen(count, seed, packages)}
    rows = list({row["key"]: row for row in _rows(STORE / f"results-{seed}.jsonl") if row["key"] in current}.values())
    explained = tomllib.loads((Path(__file__).parent / "explained.toml").read_text(encoding="utf-8"))
    killed = [row for row in rows if row["outcome"] == "killed"]
    share = len(killed) / max(1, len(rows))
    lines = [
        f"Seed {seed}: {len(rows)} of {count} faults tried, {len(killed)} seen by a test: {100 * share:.1f} %.",
        "",
    ]
    for title, key in (("package", lambda row: _package(row["file"])), ("kind", lambda row: row["kind"])):
        every, seen = Counter(map(key, rows)), Counter(map(key, killed))
        lines += [f"| {title} | faults | seen |", "|---|---|---|"]
        lines += [
            f"| {name} | {number} | {100 * seen[name] / number:.0f} % |" for name, number in sorted(every.items())
        ]
        lines.append("")
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["outcome"] != "killed":
            groups["explained" if row["id"] in explained else "not explained"].append(row)
    for title, found in sorted(groups.items()):
        lines += [f"### Survivors, {title}: {len(found)}", ""]
        for row in sorted(found, key=lambda row: current[row["key"]]):
            note = explained.get(row["id"], row["by"] if row["outcome"] == "survived" else row["outcome"])
            lines.append(f"- `{row['id']}` {_short(current[row['key']])}" + (f": {note}" if note else ""))
        lines.append("")
    text = "\n".join(lines).rstrip() + "\n"
    print(text)
    if page is not None:
        asked = ["git", "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True)
        before = page.read_text(encoding="utf-8").partition(HEADING)[0].rstrip()
        when = f"{datetime.date.today():%Y-%m-%d}, on {commit.stdout.strip()}."
        page.write_text(f"{before}\n\n{HEADING}\n\n{when} {text}", encoding="utf-8")
    return int(share < GOAL or bool(groups["not explained"]) or len(rows) < count)


def _short(text: str, most: int = 110) -> str:
    """The place, and of long pieces of text the beginning."""
    place, _, what = text.removeprefix("src/gyrostat/").partition(": ")
    before, _, after = what.partition("` became `")
    cut = [part if len(part) <= most else part[:most] + " ..." for part in (before, after.rstrip("`"))]
    return f"{place}: {cut[0]}` became `{cut[1]}`"


def _package(file: str) -> str:
    return next(package for package in PACKAGES if file.startswith(f"src/gyrostat/{package}/"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("map", "run", "again", "report"))
    parser.add_argument("-n", "--workers", type=int, default=1)
    parser.add_argument("--count", type=int, default=450)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=float, default=60.0, help="seconds of tests per fault, as measured by map")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds for one test file in map")
    parser.add_argument("--only", default="", help="map: test files whose name contains one of these, with commas")
    parser.add_argument("--new", action="store_true", help="map: not those where the sources alone have changed")
    parser.add_argument("--write", action="store_true", help="report: into docs/mutants.md, too")
    parser.add_argument("--package", default="", help=f"of {', '.join(PACKAGES)}: this one alone")
    given = parser.parse_args()
    packages = (given.package,) if given.package else PACKAGES
    if given.what == "map":
        covering = Covering(ROOT, STORE / "covering.json", sources())
        files = [name for name in test_files() if any(part in name for part in given.only.split(","))]
        stale = covering.stale(files, sources=not given.new)
        print(f"{len(stale)} of {len(files)} test files to measure")
        trees = [Worker(number).root for number in range(given.workers)]
        covering.measure(stale, trees, given.limit, lambda text: print(text, flush=True))
    elif given.what == "run":
        run(given.count, given.seed, given.workers, given.most, packages)
    elif given.what == "again":
        again(given.seed)
    else:
        return report(given.seed, given.count, packages, ROOT / "docs" / "mutants.md" if given.write else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
