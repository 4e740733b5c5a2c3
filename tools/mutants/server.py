"""Runs tests of one tree, each request in a fork of a process that has imported all but gyrostat and the tests; or, if
test files are named on the command line, in a fork of one that has imported gyrostat and collected those tests: then a
request costs what its tests cost.

One line of JSON in, one out: `{"tests": [...], "seconds": s, "measure": [sources]}`. A test run that uses more than
`seconds` of processor time is ended, so that the verdict does not depend on how busy the machine is. Where tests are
collected, `"fault": {"file": f, "sound": text, "faulty": text}` is put into the functions in memory; the answer has the
code `NOT_SO` where that is not possible.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any

import pytest
from in_place import put_in

NOT_SO = -1
NOT_FOUND = 4  # pytest's word for tests that do not exist
OPTIONS = ("-q", "--tb=no", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")
MEMORY = 12 * 2**30  # bytes that may be written to: a fault may ask for all there is; browsers reserve more addresses
PER_LINE = 60  # tests kept per line and test file
_FIXTURE = "fixture "


def _processor_time() -> float:
    return sum(os.times()[:4])


class _Watch:
    """What happened: times of the tests that passed, and those that did not."""

    def __init__(self, order: Sequence[str], coverage: Any = None) -> None:
        self.order = {name: k for k, name in enumerate(order)}
        self.coverage = coverage
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []
        self.users: dict[str, list[str]] = {}  # of fixtures that several tests share

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.order.get(item.nodeid, len(self.order)))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed.append(f"{report.nodeid} cannot be read")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._now_in(item.nodeid)
        for name in getattr(item, "fixturenames", ()):
            self.users.setdefault(_FIXTURE + name, []).append(item.nodeid)
        begin = _processor_time()
        found = yield
        self.seconds[item.nodeid] = round(_processor_time() - begin, 4)
        return found

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        self._now_in(_FIXTURE + fixturedef.argname)
        try:
            return (yield)
        finally:
            self._now_in(request._pyfuncitem.nodeid)

    def _now_in(self, context: str) -> None:
        if self.coverage is not None:
            self.coverage.switch_context(context)

    def tests_in(self, context: str) -> Sequence[str]:
        """Those for which a line is executed that was in this context: on import, for all."""
        return list(self.seconds) if not context else self.users.get(context, [context])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


def _lines(coverage: Any, watch: _Watch, sources: Sequence[str]) -> dict[str, dict[int, list[str]]]:
    """By source and line: the tests that execute it and pass; of one with many cases the quickest come first."""
    data = coverage.get_data()
    bad = set(watch.failed)
    found: dict[str, dict[int, list[str]]] = {}
    for path in data.measured_files():
        name = Path(path).resolve().relative_to(Path.cwd().resolve()).as_posix()
        if name not in sources:
            continue
        found[name] = {}
        for line, tests in data.contexts_by_lineno(path).items():
            using = {t for context in tests for t in watch.tests_in(context)}
            kept = sorted((t for t in using if t in watch.seconds and t not in bad), key=watch.seconds.__getitem__)
            if kept:
                found[name][line] = by_turns(kept)[:PER_LINE]
    return found


def by_turns(tests: Sequence[str]) -> list[str]:
    """The first case of every test function, then the second of each, ...; else in the given order."""
    counts: dict[str, int] = {}
    turn = []
    for name in tests:
        function = name.partition("[")[0]
        counts[function] = counts.get(function, -1) + 1
        turn.append(counts[function])
    return [name for _, _, name in sorted(zip(turn, range(len(tests)), tests, strict=True))]


def _child(request: dict[str, Any], answer: int, session: pytest.Session | None) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    limit = int(request["seconds"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    begun = _processor_time()
    fault, sources = request.get("fault"), request.get("measure") or []
    if fault and not put_in(str(Path.cwd() / fault["file"]), fault["sound"], fault["faulty"]):
        result: dict[str, Any] = {"code": NOT_SO, "failed": [], "seconds": 0.0}
    else:
        measured = None
        if sources:
            import coverage

            measured = coverage.Coverage(data_file=None, include=[str(Path.cwd() / name) for name in sources])
            measured.set_option("run:disable_warnings", ["no-data-collected"])  # an error where tests are collected
            measured.start()
        watch = _Watch(request["tests"], measured)
        run = _fresh if session is None else partial(_collected, session)
        code = run(watch, request["tests"], first_alone=not sources)
        result = {"code": code, "failed": watch.failed[:1], "seconds": round(_processor_time() - begun, 2)}
        if measured is not None:
            measured.stop()
            result |= {"tests": watch.seconds, "failed": watch.failed, "lines": _lines(measured, watch, sources)}
            result["modules"] = sorted(name for name in sys.modules if _foreign(name))
    with os.fdopen(answer, "w") as stream:
        stream.write(json.dumps(result))


def _fresh(watch: _Watch, tests: Sequence[str], first_alone: bool) -> int:
    """pytest's exit code. first_alone: nothing after the first failure."""
    return int(pytest.main([*OPTIONS, *(["-x"] if first_alone else []), *tests], plugins=[watch]))


def _collected(session: pytest.Session, watch: _Watch, tests: Sequence[str], first_alone: bool) -> int:
    """The same in this process, of tests that it has collected; names of files stand for all of theirs."""
    session.config.pluginmanager.register(watch)
    wanted = [
        item for name in tests for item in session.items if item.nodeid == name or item.nodeid.startswith(f"{name}::")
    ]
    wanted += [item for name in tests for item in session.items if item.nodeid.startswith(f"{name}[")]
    if not wanted:
        return NOT_FOUND
    for item, following in zip_longest(wanted, wanted[1:]):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if watch.failed and first_alone:
            break
    return int(bool(watch.failed))


def _foreign(name: str) -> bool:
    """True for a module that lies in an installed package or the standard library, not in the tree."""
    place = getattr(sys.modules.get(name), "__file__", None)
    return place is not None and not place.startswith(str(Path.cwd())) and not name.startswith(("_", "gyrostat"))


def _run(request: dict[str, Any], session: pytest.Session | None = None) -> dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            _child(request, writing, session)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    end = time.monotonic() + 120.0 + 15.0 * request["seconds"]
    text = b""
    with os.fdopen(reading, "rb") as stream:
        while True:  # tests may start processes that hold the pipe: the child's own end counts
            left = end - time.monotonic()
            if left <= 0 or not select.select([stream], [], [], left)[0]:
                break
            piece = os.read(stream.fileno(), 1 << 16)
            if not piece:
                break
            text += piece
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
    try:
        return json.loads(text)
    except ValueError:  # ended from outside
        return {"code": 1, "failed": ["time or memory ran out"], "seconds": request["seconds"], "ended": True}


def _import_all(source: Path) -> None:
    """Every module below `source`, but those that are programs."""
    for path in sorted(source.rglob("*.py")):
        name = ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
        if not name.endswith("__main__"):
            with contextlib.suppress(Exception):
                importlib.import_module(name)


class _Serving:
    """Answers requests in place of running what was collected."""

    def __init__(self, answers: IO[str]) -> None:
        self.answers = answers

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        _serve(self.answers, session)
        return True


def _serve(answers: IO[str], session: pytest.Session | None = None) -> None:
    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        answers.write(json.dumps(_run(json.loads(line), session)) + "\n")
        answers.flush()


def main() -> None:
    for name in json.loads(Path(sys.argv[1]).read_text()) if Path(sys.argv[1]).exists() else []:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    os.set_inheritable(answers.fileno(), False)
    if not sys.argv[2:]:
        _serve(answers)
        return
    _import_all(Path.cwd() / "src")
    options = [*OPTIONS, "--capture=no", "--continue-on-collection-errors"]
    pytest.main([*options, *sys.argv[2:]], plugins=[_Serving(answers)])


if __name__ == "__main__":
    main()
