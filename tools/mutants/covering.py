"""Which tests execute which lines: test files measured one by one, and again where something changed."""

from __future__ import annotations

import ast
import difflib
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from queue import Queue
from typing import Any

from server import by_turns

NICE = "5"  # a campaign is long: others come first


@dataclass
class Measured:
    """Of one test file: how long each test takes, and which of them execute what: by source, with its digest, and line.

    Sources of which it executes no function, only what runs on import, are left out, as are tests that fail.
    """

    digest: str
    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    lines: dict[str, tuple[str, dict[int, list[str]]]] = field(default_factory=dict)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else ""


class Server:
    """A process that runs tests of a tree; see server.py. collected: test files that it has imported before."""

    def __init__(self, root: Path, modules: Path, collected: Sequence[str] = ()) -> None:
        command = ["nice", "-n", NICE, sys.executable, str(Path(__file__).with_name("server.py")), str(modules)]
        command += collected
        self.process = subprocess.Popen(
            command,
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment(root),
        )
        assert self.process.stdout is not None
        self.process.stdout.readline()  # it has imported what it shall: from now on sources may change

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Covering:
    """The map, kept in a JSON file; beside it the names of modules that tests import."""

    def __init__(self, root: Path, store: Path, sources: Sequence[str]) -> None:
        self.root, self.store, self.sources = root, store, list(sources)
        self.modules = store.with_name("modules.json")
        self.tests: dict[str, Measured] = {}
        self._lock = threading.Lock()
        self._marks: dict[str, str] = {}
        self._moved: dict[tuple[str, str], dict[int, int]] = {}  # line now -> line when it was measured
        if store.exists():
            for name, row in json.loads(store.read_text()).items():
                for source, (mark, lines) in row["lines"].items():
                    row["lines"][source] = (mark, {int(line): tests for line, tests in lines.items()})
                self.tests[name] = Measured(**row)
        self.seconds = {test: s for row in self.tests.values() for test, s in row.seconds.items()}

    def stale(self, files: Iterable[str], *, sources: bool = True) -> list[str]:
        """Test files that were not measured as they, and (sources) what they execute, are now."""
        now: dict[str, str] = {}

        def current(source: str) -> str:
            if source not in now:
                now[source] = digest(self.root / source)
            return now[source]

        found = []
        for name in files:
            known = self.tests.get(name)
            same = known is not None and known.digest == digest(self.root / name)
            moved = sources and known and any(mark != current(source) for source, (mark, _) in known.lines.items())
            if not same or moved:
                found.append(name)
        return found

    def measure(self, files: Sequence[str], trees: Sequence[Path], limit: float, tell: Callable[[str], None]) -> None:
        """Each in one of the trees, which are copies of the checkout."""
        todo: Queue[str] = Queue()
        for name in files:
            todo.put(name)

        def work(tree: Path) -> None:
            server = Server(tree, self.modules, files)
            saved = time.monotonic()
            while not todo.empty():
                name = todo.get()
                row = self._measured(name, tree, server.ask(tests=[name], seconds=limit, measure=self.sources))
                tell(
                    f"{name}: {sum(row.seconds.values()):.0f} s, {len(row.seconds)} tests, {len(row.lines)} sources"
                    + "".join(f"\n    FAILS, not used: {test}" for test in row.failed)
                )
                with self._lock:
                    self.tests[name] = row
                    self.seconds |= row.seconds
                    if todo.empty() or time.monotonic() > saved + 60.0:
                        self.save()
                        saved = time.monotonic()
            server.close()

        with ThreadPoolExecutor(len(trees)) as pool:
            list(pool.map(work, trees))

    def save(self) -> None:
        self.store.parent.mkdir(parents=True, exist_ok=True)
        part = self.store.with_suffix(f".part-{time.monotonic_ns()}")
        part.write_text(json.dumps({name: asdict(row) for name, row in sorted(self.tests.items())}))
        part.replace(self.store)

    def _measured(self, name: str, tree: Path, answer: dict[str, Any]) -> Measured:
        row = Measured(digest(tree / name), answer.get("tests", {}), answer["failed"])
        texts = self.store.with_name("sources")
        texts.mkdir(parents=True, exist_ok=True)
        for source, lines in answer.get("lines", {}).items():
            (texts / digest(tree / source)).write_bytes((tree / source).read_bytes())
            by_line = {int(line): tests for line, tests in lines.items()}
            if by_line.keys() & set(_bodies(tree / source)):
                row.lines[source] = (digest(tree / source), by_line)
        with self._lock:
            known = json.loads(self.modules.read_text()) if self.modules.exists() else []
            more = [module for module in answer.get("modules", []) if module not in known]
            if more:
                self.modules.parent.mkdir(parents=True, exist_ok=True)
                self.modules.write_text(json.dumps(known + more))
        return row

    def tests_of(self, file: str, line: int) -> list[str]:
        """Tests that execute the line, likeliest to see a fault first: of the same package, and the quick; then the
        others of their files, which may use what another has made there and left in a cache, or what the source holds;
        where none executes any of the source, those of files that name its package.

        A line outside functions is executed on import: for it, all tests that execute a function of the source, or the
        function that it is a default of.
        """
        wanted = _executed_with(self.root / file, line)
        found: set[str] = set()
        beside: set[str] = set()
        for name, row in self.tests.items():
            mark, lines = row.lines.get(file, ("", {}))
            here = {test for number in self._then(file, mark, wanted) & lines.keys() for test in lines[number]}
            more = row.seconds.keys() - here - set(row.failed) if here else set()
            if here and row.digest != self._now(name):  # some tests may have other names by now
                text = self._text(name)
                here, more = ({test for test in some if f"def {_function(test)}(" in text} for some in (here, more))
            found |= here
            beside |= more
        if not any(file in row.lines for row in self.tests.values()):
            named = ".".join(Path(file).parts[1:-1])
            beside = {test for name, row in self.tests.items() if named in self._text(name) for test in row.seconds}
        package = Path(file).parts[2] if len(Path(file).parts) > 3 else ""

        def cost(test: str) -> float:
            return (self.seconds[test] + 0.02) * (1.0 if f"/{package}/" in test else 4.0)

        return by_turns(sorted(found, key=cost)) + by_turns(sorted(beside, key=cost))

    def _then(self, file: str, mark: str, lines: frozenset[int]) -> set[int]:
        """The lines in the source as it was when it was measured; lines that are new were nowhere."""
        if not mark or mark == self._now(file):
            return set(lines)
        if (file, mark) not in self._moved:
            old = self.store.with_name("sources") / mark
            before = old.read_text(encoding="utf-8").splitlines() if old.exists() else []
            after = (self.root / file).read_text(encoding="utf-8").splitlines()
            blocks = difflib.SequenceMatcher(None, after, before, autojunk=False).get_matching_blocks()
            self._moved[file, mark] = {a + k + 1: b + k + 1 for a, b, size in blocks for k in range(size)}
        return {self._moved[file, mark][line] for line in lines if line in self._moved[file, mark]}

    def _text(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8") if (self.root / name).exists() else ""

    def _now(self, file: str) -> str:
        if file not in self._marks:
            self._marks[file] = digest(self.root / file)
        return self._marks[file]


def _function(test: str) -> str:
    return test.partition("[")[0].rpartition("::")[2]


@cache
def _executed_with(path: Path, line: int) -> frozenset[int]:
    """Lines of which one is executed before or while this one is."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = _bodies(path)
    if line in inside:
        return frozenset(number for number in inside if inside[line] <= number <= line)
    for node in ast.walk(tree):  # a default of a function
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= line < node.body[0].lineno:
            return frozenset(range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(inside) | {line}


def _bodies(path: Path) -> dict[int, int]:
    """Of lines within functions: the line on which their statement begins."""
    found: dict[int, int] = {}

    def mark(statements: list[ast.stmt]) -> None:
        for part in statements:
            for line in range(part.lineno, (part.end_lineno or part.lineno) + 1):
                found[line] = part.lineno
            inner = [getattr(part, name, []) for name in ("body", "orelse", "finalbody")]
            inner += [entry.body for name in ("handlers", "cases") for entry in getattr(part, name, [])]
            for body in inner:
                mark(body)

    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            mark(node.body)
    return found


def environment(root: Path) -> dict[str, str]:
    """Of a process that shall use this tree's sources, quietly."""
    quiet = {"MPLBACKEND": "Agg", "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return os.environ | {"PYTHONPATH": str(root / "src")} | quiet
