"""Files that are whole or not there: made beside their place under a name nobody can guess, synced to the disk, then renamed.

A new file gets the mode that the umask of the process gives; one that replaces another keeps its mode and owner, and is never open
to more people than that while it is made. A process that is killed leaves what stood there before, and at worst a `.gyrostat-*.part`
beside it, which the next one that writes there removes: its maker holds a lock on it for as long as it lives.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be removed: no lock is needed
    fcntl = None  # type: ignore[assignment]

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_PART = re.compile(r"\.gyrostat-[0-9a-f]{32}\.part")
_BINARY = getattr(os, "O_BINARY", 0)
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_PIECE = 2**24  # bytes at once: a signal is not kept waiting for long
_swept: set[str] = set()


class WriteError(ValueError):
    """A file could not be written. What stood there before is untouched; what was to be written is still in memory."""


def write_bytes(path: str | os.PathLike[str], *pieces: Any) -> Path:
    """The pieces (bytes or memoryviews), one after the other, as the whole content of the file."""
    _replace(Path(path), [memoryview(piece).cast("B") for piece in pieces])
    return Path(path)


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """`text` as UTF-8."""
    return write_bytes(path, text.encode("utf-8"))


def write_figure(path: str | os.PathLike[str], figure: Any, *, dpi: int = 120) -> Path:
    """A matplotlib figure, in the format of the suffix."""
    path, content = Path(path), BytesIO()
    figure.savefig(content, dpi=dpi, format=path.suffix.lstrip(".") or "png")
    return write_bytes(path, content.getbuffer())


def check_writable(*paths: str | os.PathLike[str] | None) -> None:
    """Raises a WriteError that names the first path that cannot be written, before work is put into its content."""
    for path in paths:
        if path is not None:
            part, handle, _ = _begin(Path(path))
            os.close(handle)
            with suppress(OSError):
                part.unlink()


def _replace(path: Path, pieces: list[memoryview]) -> None:
    part, handle, place = _begin(path)
    needed = sum(len(piece) for piece in pieces)
    try:
        try:
            for piece in pieces:
                _write(handle, piece)
            _take_after(handle, place)
            os.fsync(handle)
            if fcntl is not None:
                os.replace(part, place)  # before the handle is closed: the lock keeps the part from being swept
        finally:
            os.close(handle)
        if fcntl is None:
            os.replace(part, place)
    except BaseException as error:
        with suppress(OSError):
            part.unlink()
        if isinstance(error, OSError):
            raise WriteError(f"cannot write '{path}': {_reason(error, place.parent, needed)}") from None
        raise
    _sync_folder(place.parent)


def _begin(path: Path) -> tuple[Path, int, Path]:
    """A new empty file in the folder of `path`, locked; its handle; and the place it is for, behind all links."""
    if "\0" in str(path):
        raise WriteError(f"cannot write {str(path)!r}: a file name holds no NUL character.")
    place = Path(os.path.realpath(path))
    try:
        return *_part(path, place), place
    except OSError as error:
        raise WriteError(f"cannot write '{path}': {_reason(error, place.parent, 0)}") from None


def _part(path: Path, place: Path) -> tuple[Path, int]:
    if not place.parent.is_dir():
        raise WriteError(f"cannot write '{path}': the folder '{path.parent}' does not exist. Make it first.")
    exists = place.exists()
    if place.is_dir():
        raise WriteError(f"cannot write '{path}': it is a folder. Choose a file name.")
    if exists and not place.is_file():
        raise WriteError(f"cannot write '{path}': it is a device or a pipe, not a file. Choose another name.")
    _sweep(place.parent)
    # 0666 less the umask, which the system takes off by itself, is what the file will have in the end if it is new
    mode = 0o600 if exists else 0o666
    while True:
        part = place.parent / f".gyrostat-{secrets.token_hex(16)}.part"
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, mode)
        if _lock(handle):
            return part, handle
        os.close(handle)  # another process swept it before it could be locked


def _write(handle: int, content: memoryview) -> None:
    at = 0
    while at < len(content):
        at += os.write(handle, content[at : at + _PIECE])


def _take_after(handle: int, place: Path) -> None:
    """Mode and owner of the file that is replaced, if there is one."""
    try:
        old = place.stat()
    except FileNotFoundError:
        return
    if hasattr(os, "fchown"):
        with suppress(PermissionError):  # somebody else's file in our folder becomes ours
            os.fchown(handle, old.st_uid, old.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(handle, stat.S_IMODE(old.st_mode))


def _lock(handle: int) -> bool:
    """False if the file is no longer there."""
    if fcntl is None:
        return True
    with suppress(OSError):  # a file system without locks: nobody else gets one there either, so nothing is swept
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return os.fstat(handle).st_nlink > 0


def _sweep(folder: Path) -> None:
    """Remove what processes that were killed have left in the folder; once in the life of this one."""
    if str(folder) in _swept:
        return
    _swept.add(str(folder))
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _PART.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_abandoned(entry.path)


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


def _sync_folder(folder: Path) -> None:
    """So that the new name outlives a loss of power, where the system can promise that."""
    if os.name == "nt":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _reason(error: OSError, folder: Path, needed: int) -> str:
    words = error.strerror or str(error)
    if error.errno not in _FULL:
        return f"{words}. Nothing was written; choose another folder."
    return f"{words}{_missing(error, folder, needed)}. Nothing was written; make room, or choose another folder."


def _missing(error: OSError, folder: Path, needed: int) -> str:
    """How many bytes are needed, how many there are, and what is missing."""
    text = f": {needed:,} bytes are needed"
    if error.errno == errno.EFBIG and resource is not None:
        limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        if limit != resource.RLIM_INFINITY:
            return f"{text}, a file may have {limit:,} here (ulimit -f), {max(0, needed - limit):,} are missing"
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return text
    if free >= needed:  # somebody made room meanwhile, or a quota is exhausted
        return f"{text}; the disk says that {free:,} are free, so look for a quota"
    return f"{text}, {free:,} are free, {needed - free:,} are missing"
