"""Whether the rows that a batch is to keep fit into memory: said before it is allocated, since systems that promise
memory they do not have end the process when it is used.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

GIB = 2**30
OWN = 4  # times as much as a row: what is known of a run besides
LITTLE = 2**26  # bytes: not worth the look
_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def require_memory(runs: int, times: int, numbers: int) -> None:
    """Raises a MemoryError if `numbers` at every time of every run,
    as they are saved and as they are shown, are too many; times: 0 where they are not known yet.
    """
    needed = 2 * 8 * runs * (times + OWN) * numbers
    if needed < LITTLE:
        return
    free = available()
    if free is None or needed <= free:
        return
    count = f"{runs:,} runs" if runs > 1 else "a run"
    kept = f", each kept at {times:,} times," if times else ""
    remedies = ["keep fewer times with save_at="] if times > 1 else []
    remedies += ["make the runs in several calls (runs= keeps their numbers)"] if runs > 1 else []
    remedy = ", or ".join(remedies)
    raise MemoryError(
        f"{count}{kept} need{'' if runs > 1 else 's'} {needed / GIB:.3g} GiB of memory; {free / GIB:.3g} GiB are free. "
        f"{remedy[:1].upper()}{remedy[1:]}."
    )


def require_solver_memory(method: str, numbers: int) -> None:
    """Raises a MemoryError if the equations of a method's stages, so many numbers, are too many."""
    needed, free = 8 * numbers, available()
    if needed > LITTLE and free is not None and needed > free:
        raise MemoryError(
            f"integrator '{method}' solves for all members at once, which needs {needed / GIB:.3g} GiB of memory here; "
            f"{free / GIB:.3g} GiB are free. Choose 'dop853', or 'gauss6' with a step."
        )


def available() -> int | None:
    """Bytes that this process may still take, as far as the system tells; None if it does not."""
    found = [x for x in (_of_the_machine(), _of_the_group(), _of_the_process()) if x is not None]
    return max(0, min(found)) if found else None


def _of_the_machine() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        table = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
        return table["MemAvailable"] + table.get("SwapFree", 0)
    with suppress(OSError, ValueError, AttributeError):  # elsewhere, all that there is
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _of_the_group() -> int | None:
    """A container's share."""
    for limit, used in _CGROUPS:
        with suppress(OSError, ValueError):  # "max": there is none
            return int(Path(limit).read_text(encoding="ascii")) - int(Path(used).read_text(encoding="ascii"))
    return None


def _of_the_process() -> int | None:
    """ulimit -v."""
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            return limit - pages * os.sysconf("SC_PAGE_SIZE")
    return None
