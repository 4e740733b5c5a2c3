"""Which test files execute which lines: each measured in a process of its own, and again where something changed."""

from __future__ import annotations

import ast
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Measured:
    """Of one test file: how long it takes, whether it passes, and what it executes: lines by source, with its digest.

    Sources of which it executes no function, only what runs on import, are left out.
    """

    digest: str
    seconds: float
    passes: bool
    lines: dict[str, tuple[str, list[int]]] = field(default_factory=dict)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else ""


class Covering:
    """The map, kept in a JSON file."""

    def __init__(self, root: Path, store: Path, sources: Sequence[str]) -> None:
        self.root, self.store, self.sources = root, store, set(sources)
        self.tests: dict[str, Measured] = {}
        if store.exists():
            for name, row in json.loads(store.read_text()).items():
                self.tests[name] = Measured(**row)

    def stale(self, files: Iterable[str]) -> list[str]:
        """Test files that were not measured as they, and the sources they execute, are now."""
        now: dict[str, str] = {}

        def current(source: str) -> str:
            if source not in now:
                now[source] = digest(self.root / source)
            return now[source]

        found = []
        for name in files:
            known = self.tests.get(name)
            same = known is not None and known.digest == digest(self.root / name)
            if not same or any(mark != current(source) for source, (mark, _) in known.lines.items()):
                found.append(name)
        return found

    def measure(self, files: Sequence[str], workers: int, limit: float, tell: Callable[[str], None]) -> None:
        def one(name: str) -> None:
            self.tests[name] = self._measured(name, limit)
            row = self.tests[name]
            tell(f"{name}: {row.seconds:.0f} s, {len(row.lines)} files{'' if row.passes else ', FAILS: not used'}")
            self.save()

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, files))

    def save(self) -> None:
        self.store.parent.mkdir(parents=True, exist_ok=True)
        part = self.store.with_suffix(f".part-{time.monotonic_ns()}")
        part.write_text(json.dumps({name: asdict(row) for name, row in sorted(self.tests.items())}))
        part.replace(self.store)

    def _measured(self, name: str, limit: float) -> Measured:
        import coverage

        data = self.store.parent / f"coverage-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
        command = [
            sys.executable,
            "-m",
            "coverage",
            "run",
            f"--data-file={data}",
            "--source=src/gyrostat",
            "-m",
            "pytest",
        ]
        begin = time.perf_counter()
        try:
            done = subprocess.run(
                [*command, "-q", "-x", "-p", "no:cacheprovider", name],
                cwd=self.root,
                capture_output=True,
                timeout=limit,
                check=False,
                env=environment(self.root),
            )
            passes = done.returncode == 0
        except subprocess.TimeoutExpired:
            passes = False
        row = Measured(digest(self.root / name), time.perf_counter() - begin, passes)
        if passes and data.exists():
            found = coverage.CoverageData(str(data))
            found.read()
            for path in found.measured_files():
                source = Path(path).resolve().relative_to(self.root.resolve()).as_posix()
                lines = set(found.lines(path) or [])
                if source in self.sources and lines & _lines_in_functions(self.root / source):
                    row.lines[source] = (digest(self.root / source), sorted(lines))
        data.unlink(missing_ok=True)
        return row

    def tests_of(self, file: str, line: int) -> list[str]:
        """Test files that execute the line, likeliest to see a fault first: those of the same package, then the quick.

        A line outside functions is executed on import: for it, all files that execute a function of the same source.
        """
        inside = _lines_in_functions(self.root / file)
        package = Path(file).parts[2] if len(Path(file).parts) > 3 else ""
        found = []
        for name, row in self.tests.items():
            lines = set(row.lines.get(file, ("", []))[1])
            if row.passes and (line in lines if line in inside else lines & inside):
                found.append(name)
        return sorted(found, key=lambda name: (f"/{package}/" not in name, self.tests[name].seconds))


def _lines_in_functions(path: Path) -> set[int]:
    found: set[int] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            body = node.body if isinstance(node.body, list) else [node.body]
            for part in body:
                found |= set(range(part.lineno, (part.end_lineno or part.lineno) + 1))
    return found


def environment(root: Path) -> dict[str, Any]:
    """Of a process that shall use this tree's sources, quietly."""
    import os

    return os.environ | {"PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg"}
