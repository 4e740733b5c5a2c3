"""Compiled objects on disk, so that a second start compiles nothing.

They lie in a folder of their own, `gyrostat-kernels`, within the user's cache folder or the one that `GYROSTAT_CACHE`
names ("off": none). An entry is named by the digest of all it depends on, and begins with the SHA-256 of its content: a
damaged entry is rebuilt, never loaded. Entries are made beside their place and renamed, so that several processes may
write at once. The folder is readable by its owner alone; a folder or entry that belongs to somebody else, or that
others may write, is not used. Nothing that is not an entry is ever touched, and a folder that holds anything else is
not used. Where there is no cache, a note says so once, and all else works.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from .._parts import PART, Part, sweep
from .._warned import warn_user

FOLDER = "gyrostat-kernels"
LIMIT = 512 * 2**20  # bytes; the entries used longest ago go first
_ENTRY = re.compile(r"[0-9a-f]{64}")
_BY_THE_SYSTEM = {".DS_Store", "Thumbs.db", "desktop.ini"}  # laid there by file browsers
_DIGEST = 32
# neither a link nor a wait for the other end of a pipe
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class CacheWarning(UserWarning):
    """Compiled kernels cannot be kept."""


class _Unusable(Exception):
    """Why there is no cache."""


def folder() -> Path | None:
    """Where entries are kept; None if the cache is off or cannot be used, which is then told once."""
    setting = os.environ.get("GYROSTAT_CACHE", "")
    if setting.lower() in ("off", "0", "no", "false"):
        return None
    try:
        place = _base(setting) / FOLDER
        _check(place)
    except _Unusable as reason:
        _note(f"{reason} Kernels are compiled anew at every start; set GYROSTAT_CACHE to another folder, or to 'off'.")
        return None
    return place


_told: set[str] = set()
_looked_at: set[Path] = set()


def _note(text: str) -> None:
    if text not in _told:
        _told.add(text)
        warn_user(text, CacheWarning)


def _base(setting: str) -> Path:
    """The folder that ours is in."""
    try:
        if setting:
            return Path(setting).expanduser()
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches"
        if os.name == "nt":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home())
        named = Path(os.environ.get("XDG_CACHE_HOME", ""))
        return named if named.is_absolute() else Path.home() / ".cache"
    except RuntimeError:  # no HOME, and the system does not know the user
        raise _Unusable("There is no cache of compiled kernels: this user has no home directory.") from None


def _check(place: Path) -> None:
    """Make the folder if it is missing. Raises unless it is ours alone and holds nothing else."""
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = place.lstat()
        if not stat.S_ISDIR(status.st_mode) or not _ours_alone(status):
            raise _Unusable(
                f"The cache of compiled kernels '{place}' is not used: it is a link, belongs to somebody else, or "
                "others may write in it."
            )
        if place not in _looked_at:
            sweep(place)
            foreign = next((name for name in os.listdir(place) if not _known(name)), None)
            if foreign is not None:
                raise _Unusable(
                    f"The cache of compiled kernels '{place}' is not used: it holds {foreign!r}, which gyrostat did "
                    "not put there. Move that elsewhere."
                )
            _looked_at.add(place)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise _Unusable(f"There is no cache of compiled kernels: '{place}' cannot be used ({reason}).") from None


def _known(name: str) -> bool:
    return bool(_ENTRY.fullmatch(name) or PART.fullmatch(name)) or name in _BY_THE_SYSTEM


def _ours_alone(status: os.stat_result) -> bool:
    """True if only the current user can have written it (where the system has such owners)."""
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def load(key: str) -> bytes | None:
    """The content stored under `key`; None if there is none that can be trusted."""
    place = folder()
    if place is None:
        return None
    entry = place / key
    try:
        handle = os.open(entry, os.O_RDONLY | _PLAIN)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or not _ours_alone(status):
                return None
            stored = file.read()
    except OSError:
        return None
    digest, content = stored[:_DIGEST], stored[_DIGEST:]
    if hashlib.sha256(key.encode() + content).digest() != digest:
        return None
    with contextlib.suppress(OSError):
        os.utime(entry)
    return content


def store(key: str, content: bytes) -> None:
    """Keep `content` under `key`, a digest of 64 hexadecimal digits; without complaint if the disk is full."""
    if not _ENTRY.fullmatch(key):
        raise ValueError(f"an entry of the cache is named by a digest; '{key}' is none.")
    place = folder()
    if place is None:
        return
    with contextlib.suppress(OSError):
        part = Part(place, 0o600)
        try:
            with os.fdopen(part.handle, "wb", closefd=False) as file:
                file.write(hashlib.sha256(key.encode() + content).digest() + content)
            part.finish(place / key)
        except BaseException:
            part.give_up()
            raise
        _shrink(place)


def _shrink(place: Path) -> None:
    """Remove the entries used longest ago until the folder is within its limit."""
    entries = sorted(_entries(place))
    excess = sum(size for _, size, _ in entries) - LIMIT
    for _, size, path in entries:
        if excess <= 0:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
        excess -= size


def _entries(place: Path) -> Iterator[tuple[float, int, str]]:
    """Last use, size and path of every entry."""
    for entry in os.scandir(place):
        with contextlib.suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            if _ENTRY.fullmatch(entry.name) and stat.S_ISREG(status.st_mode):
                yield status.st_mtime, status.st_size, entry.path
