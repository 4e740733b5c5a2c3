"""Threads that run shares of a batch. Machine code runs without the GIL.

Shares write into arrays that belong to the caller. So nothing leaves `run` while a share is under way: not an exception
of another share, nor what a signal handler raises (Ctrl-C, once or again).
It is raised when the last share has come to rest.
"""

from __future__ import annotations

import functools
import importlib.util
import operator
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

# as `signal`, but for a detour through enums that takes as long as a small batch
signal: Any = importlib.import_module("_signal" if importlib.util.find_spec("_signal") else "signal")

_HELD = ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGBREAK")  # whose handlers are known to raise


def require_count(name: str, value: Any) -> None:
    """Raises a ValueError for what is no whole number of one or more."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or operator.index(value) < 1:
        raise ValueError(f"{name} is {value!r:.80}; expected a whole number, at least one.")


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@functools.cache
def _executor(process: int) -> Any:
    """One pool for each process: threads do not survive a fork."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max(cores() - 1, 1), thread_name_prefix="gyrostat")


def run(
    share: Callable[[int], None],
    shares: int,
    threads: int | None = None,
    failed: Callable[[BaseException], None] | None = None,
) -> None:
    """Call share(0), ..., share(shares - 1), `threads` of them at the same time, in the calling thread and the pool's.

    threads: as many as there are shares if None; the pool has one for each core. When a share or a signal handler
    raises, shares that have not begun are left out, `failed` is told at once so that those under way can end early, and
    the first error is raised when all have.
    """
    helpers = min(shares if threads is None else threads, shares) - 1
    if helpers < 1:
        for k in range(shares):
            share(k)
        return
    work = _Work(share, shares, failed)
    with _raising_later(work.fail):
        work.finish(helpers)
    if work.error is not None:
        raise work.error


def together(calls: Sequence[Callable[[], object]]) -> None:
    """Call all of them, on as many threads as there are cores: of use where the work is LLVM's."""

    def share(k: int) -> None:
        calls[k]()

    run(share, len(calls), cores())


@contextmanager
def held() -> Iterator[None]:
    """What signal handlers raise within is raised at the end of the block, where all locks are free again."""
    errors: list[BaseException] = []
    with _raising_later(errors.append):
        yield
    if errors:
        raise errors[0]


class _Work:
    """Shares that wait, and the helpers at work on them. A helper that comes late finds no share and touches nothing.

    Nothing here takes a lock: what a signal raises between any two lines leaves no lock held,
    and a handler may call `fail`.
    """

    def __init__(
        self, share: Callable[[int], None], shares: int, failed: Callable[[BaseException], None] | None
    ) -> None:
        self._share, self._failed = share, failed
        self._waiting = deque(range(shares))
        self._begun: list[None] = []
        self._ended: list[None] = []
        self._bell: SimpleQueue[None] = SimpleQueue()  # rung whenever a helper has ended
        self.error: BaseException | None = None

    def finish(self, helpers: int) -> None:
        """Do all shares; return when no helper is at work, whatever is raised meanwhile."""
        resting = False
        while not resting:
            try:
                self._call(helpers)
                self._do()
                while len(self._ended) < len(self._begun):
                    self._bell.get()
                resting = True
            except BaseException as error:  # noqa: BLE001  (raised by `run`)
                self.fail(error)

    def _call(self, helpers: int) -> None:
        try:
            executor = _executor(os.getpid())
            for _ in range(helpers if self._waiting else 0):
                executor.submit(self._help)
        except RuntimeError:  # no thread can be started (any more): the calling one does what is left
            pass

    def _help(self) -> None:
        self._begun.append(None)
        try:
            self._do()
        except BaseException as error:  # noqa: BLE001  (raised by `run`)
            self.fail(error)
        finally:
            self._ended.append(None)
            self._bell.put(None)

    def _do(self) -> None:
        while True:
            try:
                k = self._waiting.popleft()
            except IndexError:
                return
            self._share(k)

    def fail(self, error: BaseException) -> None:
        self._waiting.clear()
        if self.error is None:
            self.error = error
        if self._failed is not None:
            self._failed(error)


@contextmanager
def _raising_later(fail: Callable[[BaseException], None]) -> Iterator[None]:
    """Signal handlers run as ever, but what they raise is handed to `fail`. Handlers run in the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual: dict[int, Any] = {}

    def handler(number: int, frame: Any) -> None:
        try:
            usual[number](number, frame)
        except BaseException as error:  # noqa: BLE001  (raised by `run`)
            fail(error)

    try:
        for name in _HELD:
            number = getattr(signal, name, None)
            if number is not None and callable(own := signal.getsignal(number)):
                usual[number] = own
                signal.signal(number, handler)
        yield
    finally:
        for number, own in usual.items():
            if signal.getsignal(number) is handler:  # its handler may have put another in its place
                signal.signal(number, own)
