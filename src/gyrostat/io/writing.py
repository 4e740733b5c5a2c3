"""Files that are whole or not there: made beside their place under a name nobody can guess, synced to the disk,
then renamed.

A new file gets the mode that the umask of the process gives; one that replaces another keeps its mode and owner, and is
never open to more people than that while it is made. A process that is killed leaves what stood there before
(`gyrostat._parts`).
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

from .._parts import Part

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_PIECE = 2**24  # bytes at once: a signal is not kept waiting for long


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
            _begin(Path(path))[0].give_up()


def _replace(path: Path, pieces: list[memoryview]) -> None:
    part, place = _begin(path)
    needed = sum(len(piece) for piece in pieces)
    try:
        for piece in pieces:
            _write(part.handle, piece)
        _take_after(part.handle, place)
        os.fsync(part.handle)
        part.finish(place)
    except BaseException as error:
        part.give_up()
        if isinstance(error, OSError):
            raise WriteError(f"cannot write '{path}': {_reason(error, place.parent, needed)}") from None
        raise
    _sync_folder(place.parent)


def _begin(path: Path) -> tuple[Part, Path]:
    """A new empty file in the folder of `path`, and the place it is for, behind all links."""
    if "\0" in str(path):
        raise WriteError(f"cannot write {str(path)!r}: a file name holds no NUL character.")
    try:
        place = Path(os.path.realpath(path))
    except FileNotFoundError:  # of a relative path
        raise WriteError(f"cannot write '{path}': the folder that this process works in is gone.") from None
    try:
        return _part(path, place), place
    except OSError as error:
        raise WriteError(f"cannot write '{path}': {_reason(error, place.parent, 0)}") from None


def _part(path: Path, place: Path) -> Part:
    if not place.parent.is_dir():
        link, folder = ("it is a link, and ", place.parent) if path.is_symlink() else ("", path.parent)
        raise WriteError(f"cannot write '{path}': {link}the folder '{folder}' does not exist. Make it first.")
    exists = place.exists()
    if place.is_dir():
        raise WriteError(f"cannot write '{path}': it is a folder. Choose a file name.")
    if exists and not place.is_file():
        raise WriteError(f"cannot write '{path}': it is a device or a pipe, not a file. Choose another name.")
    # 0666 less the umask is what the file will have in the end if it is new
    return Part(place.parent, 0o600 if exists else 0o666)


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
        remedy = "a shorter name" if error.errno == errno.ENAMETOOLONG else "another folder"
        return f"{words}. Nothing was written; choose {remedy}."
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
