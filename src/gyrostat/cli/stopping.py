"""Ctrl-C, the wish of a system that shuts down, a terminal that was closed: ends a command,
and keeps what it has computed.

Before runs are under way there is nothing to keep, and a signal ends the command at once. From then on the first one
asks the runs to stop, the second has Ctrl-C's usual force. While a result is being saved, they wait.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

from .output import errors

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
WORDS = {"SIGINT": "Stopped", "SIGTERM": "Told to terminate", "SIGHUP": "The terminal was closed"}


class Stopping:
    """What was received, and whether runs are under way. Called, it says whether they shall stop."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._under_way = self._saving = False

    def __call__(self) -> bool:
        self._under_way = True
        return self.received is not None

    @property
    def exit_code(self) -> int:
        """As a shell tells it."""
        return 128 + (self.received or signal.SIGINT)

    @property
    def words(self) -> str:
        return WORDS.get(signal.Signals(self.received or signal.SIGINT).name, "Stopped")

    @contextmanager
    def saving(self) -> Iterator[None]:
        """What is begun here is finished, whatever comes."""
        self._saving = True
        try:
            yield
        finally:
            self._saving = False

    def _receive(self, number: int, _: FrameType | None) -> None:
        second, self.received = self.received is not None, self.received or number
        if not self._saving and (second or not self._under_way):
            raise KeyboardInterrupt


@contextmanager
def ends_at_once() -> Iterator[None]:
    """Of a command that keeps no part of a run: Ctrl-C ends it, and what was computed until then is not shown."""
    from ..simulation.engine.interruption import all_or_nothing

    try:
        with all_or_nothing():
            yield
    except KeyboardInterrupt:
        errors().print("Stopped.")
        raise typer.Exit(128 + signal.SIGINT) from None


@contextmanager
def signals() -> Iterator[Stopping]:
    """Within, signals go to the Stopping. One that the caller ignores (nohup) stays ignored."""
    stopping = Stopping()
    before = {}
    for number in SIGNALS:
        usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        if signal.getsignal(number) in (usual, signal.SIG_DFL):
            before[number] = signal.signal(number, stopping._receive)
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
