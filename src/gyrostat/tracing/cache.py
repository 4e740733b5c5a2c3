"""Compiled objects on disk, so that a second start compiles nothing.

An entry is named by the digest of all it depends on, and begins with the SHA-256 of its content: a damaged entry is rebuilt,
never loaded. Entries are written to a temporary file and renamed, so that several processes may write at once. The folder is
readable by its owner alone; a folder or entry that belongs to somebody else, or that others may write, is not used.

`GYROSTAT_CACHE` names another folder, or is "off".
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

LIMIT = 512 * 2**20  # bytes; the entries used longest ago go first
_DIGEST = 32


def folder() -> Path | None:
    """Where entries are kept; None if the cache is off or the folder cannot be trusted."""
    setting = os.environ.get("GYROSTAT_CACHE", "")
    if setting.lower() in ("off", "0", "no", "false"):
        return None
    path = Path(setting).expanduser() if setting else _default()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path if _trusted(path) else None
    except OSError:
        return None


def _default() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "gyrostat"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "gyrostat" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gyrostat"


def _trusted(path: Path) -> bool:
    """True if only the current user can have written it (where the system has such owners)."""
    if not hasattr(os, "getuid"):
        return True
    status = path.stat()
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def load(key: str) -> bytes | None:
    """The content stored under `key`; None if there is none that can be trusted."""
    place = folder()
    if place is None:
        return None
    entry = place / key
    try:
        if not _trusted(entry):
            return None
        stored = entry.read_bytes()
    except OSError:
        return None
    digest, content = stored[:_DIGEST], stored[_DIGEST:]
    if hashlib.sha256(key.encode() + content).digest() != digest:
        return None
    with contextlib.suppress(OSError):
        os.utime(entry)
    return content


def store(key: str, content: bytes) -> None:
    """Keep `content` under `key`; without complaint if the disk is full or read-only."""
    place = folder()
    if place is None:
        return
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=".new-", dir=place)  # made with mode 0600
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(key.encode() + content).digest() + content)
        os.replace(temporary, place / key)
        _shrink(place)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _shrink(place: Path) -> None:
    """Remove the entries used longest ago until the folder is within its limit."""
    entries = []
    for entry in os.scandir(place):
        with contextlib.suppress(OSError):
            status = entry.stat()
            entries.append((status.st_mtime, status.st_size, entry.path))
    excess = sum(size for _, size, _ in entries) - LIMIT
    for _, size, path in sorted(entries):
        if excess <= 0:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
        excess -= size
