"""Runs that end before their time, with what there is: by Ctrl-C, or because somebody else asks for it.

Whoever holds the process asks: a command that was told to terminate, a clock that wants a checkpoint. All runs that are
begun within `stop_when` look at its answer between their steps, whatever simulates them.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


def _never() -> bool:
    return False


_asked: ContextVar[Callable[[], bool]] = ContextVar("asked", default=_never)
_keeps_parts: ContextVar[bool] = ContextVar("keeps_parts", default=True)


@contextmanager
def stop_when(asked: Callable[[], bool]) -> Iterator[None]:
    """Simulations in this block are interrupted, as by Ctrl-C, once `asked()` is true, with what there is.

    It may be called from several threads.
    """
    token = _keeps_parts.set(True)
    try:
        with _also(asked):
            yield
    finally:
        _keeps_parts.reset(token)


@contextmanager
def all_or_nothing() -> Iterator[None]:
    """Simulations in this block that are interrupted raise KeyboardInterrupt, for those who would take a part for the
    whole.
    """
    token = _keeps_parts.set(False)
    try:
        yield
    finally:
        _keeps_parts.reset(token)


def refuse_part() -> None:
    """Of a run that was interrupted here and now: raises KeyboardInterrupt where nobody keeps it."""
    if not _keeps_parts.get():
        raise KeyboardInterrupt


@contextmanager
def _also(asked: Callable[[], bool]) -> Iterator[None]:
    outer = _asked.get()
    token = _asked.set(lambda: asked() or outer())
    try:
        yield
    finally:
        _asked.reset(token)


def question() -> Callable[[], bool]:
    """What is asked between steps of runs that begin here and now: shall they stop?"""
    return _asked.get()


@contextmanager
def ctrl_c(ask: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C calls `ask`; the second has its usual force.

    Where Ctrl-C means something else already, it keeps its meaning.
    """
    usual = signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return

    def asking(*_: object) -> None:
        ask()
        signal.signal(signal.SIGINT, usual)

    signal.signal(signal.SIGINT, asking)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


@contextmanager
def one_after_the_other() -> Iterator[None]:
    """Simulations in this block are parts of one: Ctrl-C in one of them, or between two, also ends the next.

    Where it starts, that is: what there is can be continued. Also a decorator.
    """
    stop = False

    def ask() -> None:
        nonlocal stop
        stop = True

    with _also(lambda: stop), ctrl_c(ask):
        yield
