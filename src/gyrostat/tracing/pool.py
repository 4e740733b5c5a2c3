"""Threads that run shares of a batch. Machine code runs without the GIL."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any


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


def run(share: Callable[[int], None], shares: int) -> None:
    """Call share(0), ..., share(shares - 1) at the same time, the first in the calling thread."""
    if shares == 1:
        return share(0)
    others = [_executor(os.getpid()).submit(share, k) for k in range(1, shares)]
    share(0)
    for other in others:
        other.result()
