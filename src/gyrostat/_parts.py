"""Files under way: made beside their place under names nobody can guess, and renamed when they are whole.

A process that is killed leaves at worst a `.gyrostat-*.part`, which the next one that writes in that folder removes:
the maker of a part holds a lock on it for as long as it lives.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be removed: no lock is needed
    fcntl = None

PART = re.compile(r"\.gyrostat-[0-9a-f]{32}\.part")
_BINARY = getattr(os, "O_BINARY", 0)
_swept: set[str] = set()


class Part:
    """A new file in `folder`, open for writing and locked.

    mode: less the umask, which the system takes off by itself.
    """

    def __init__(self, folder: Path, mode: int) -> None:
        sweep(folder)
        while True:
            self.path = folder / f".gyrostat-{secrets.token_hex(16)}.part"
            self.handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, mode)
            if _lock(self.handle):
                return
            os.close(self.handle)  # another process swept it before it could be locked

    def finish(self, place: Path) -> None:
        """Close it and give it its place."""
        if fcntl is not None:
            os.replace(self.path, place)  # before it is closed: the lock keeps it from being swept
            self._close()
        else:
            self._close()
            os.replace(self.path, place)

    def give_up(self) -> None:
        """Close and remove it."""
        self._close()
        with suppress(OSError):
            self.path.unlink()

    def _close(self) -> None:
        handle, self.handle = self.handle, -1
        if handle >= 0:
            os.close(handle)


def sweep(folder: Path) -> None:
    """Remove what processes that were killed have left in the folder; once in the life of this one."""
    if str(folder) in _swept:
        return
    _swept.add(str(folder))
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if PART.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_abandoned(entry.path)


def _lock(handle: int) -> bool:
    """False if the file is no longer there."""
    if fcntl is None:
        return True
    with suppress(OSError):  # a file system without locks: nobody else gets one there either, so nothing is swept
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return os.fstat(handle).st_nlink > 0


def _remove_if_abandoned(part: str) -> None:
    handle = os.open(part, os.O_RDWR | _BINARY | getattr(os, "O_NOFOLLOW", 0))
    try:
        status = os.fstat(handle)
        ours = stat.S_ISREG(status.st_mode) and (not hasattr(os, "getuid") or status.st_uid == os.getuid())
        if ours and fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises while its maker lives
            os.unlink(part)
    finally:
        os.close(handle)
    if ours and fcntl is None:
        os.unlink(part)  # Windows refuses while it is open anywhere
