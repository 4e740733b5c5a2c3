"""Signals with their usual meaning, whatever started this process: in the background and under nohup some are ignored.

A process inherits what is ignored, and Python then leaves it so: a Ctrl-C that a test sends would go nowhere.
"""

from __future__ import annotations

import signal


def usual_signals() -> dict[int, object]:
    """What was ignored is so no longer; its number and what it meant, to put it back."""
    before = {}
    for name in ("SIGINT", "SIGHUP", "SIGTERM", "SIGQUIT"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            usual = signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
            before[number] = signal.signal(number, usual)
    return before
