"""A progress bar for whatever takes longer than a second, on a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

PATIENCE = 1.0  # seconds before a bar appears


@contextmanager
def progress_bar(
    wanted: bool | None, title: str, amount: float | None = None, of: str = "s of the run"
) -> Iterator[Callable[[float], None] | None]:
    """A function to tell the fraction done; None if nobody watches. wanted: None to show it on a terminal only.

    amount: seconds of the run, or whatever else there is to do; the bar then says how fast it goes. A terminal that is
    gone shows nothing, and stops nothing.
    """
    if wanted is not None and not isinstance(wanted, bool):
        raise TypeError(f"progress is {wanted!r:.80}; expected True, False, or None for a bar on terminals alone.")
    watched = sys.stderr is not None and sys.stderr.isatty()
    if wanted is False or (wanted is None and not watched):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    speed = TextColumn("{task.fields[speed]}")
    name = TextColumn("{task.description}", markup=False)  # names may hold what looks like markup or like a field
    columns = (name, BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeRemainingColumn(), speed)
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task, begun, lock, shown = bar.add_task(title, total=1.0, speed=""), time.monotonic(), threading.Lock(), False

    def tell(fraction: float) -> None:
        nonlocal shown
        if not shown and time.monotonic() - begun < PATIENCE:
            return
        with lock, suppress(OSError):
            if not shown:
                bar.start()
                shown = True
            passed = time.monotonic() - begun
            words = f"{amount * fraction / passed:.3g} {of} per s" if amount else ""
            bar.update(task, completed=fraction, speed=words)

    try:
        yield tell
    finally:
        if shown:
            with suppress(OSError):
                bar.stop()
