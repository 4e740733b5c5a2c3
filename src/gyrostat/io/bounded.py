"""Files and other people's readers, bounded: plain files of a stated size,
and work in a process with limits that can be ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .report import fail

# Neither waits for the other end of a pipe nor changes line ends
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)
_ARCHIVES = (
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"7z\xbc\xaf",
    b"Rar!",
    b"\x28\xb5\x2f\xfd",
)

# What a limited process does first. It imports nothing of gyrostat.
_LIMIT = """
import sys
try:
    import resource
except ImportError:
    pass  # Windows: the clock alone
else:
    while sys.argv[1] != "--":
        name, _, most = sys.argv.pop(1).partition("=")
        _, hard = resource.getrlimit(getattr(resource, name))
        most = int(most) if hard == resource.RLIM_INFINITY else min(int(most), hard)
        resource.setrlimit(getattr(resource, name), (most, most))
while sys.argv.pop(1) != "--":
    pass
"""


def read_file(path: Path, most: int, what: str = "a model file") -> bytes:
    """The content of a plain file.

    Raises a `ModelError` if it is missing, larger than `most` bytes, a folder, a pipe or a device.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # before it is opened: that alone can set a device in motion
            raise fail("no-file", str(path), "is not a file but a folder, a pipe or a device.", f"Give {what}.")
        with os.fdopen(os.open(path, _OPEN), "rb") as stream:
            status = os.fstat(stream.fileno())  # it may have been exchanged meanwhile
            data = stream.read(most + 1) if stat.S_ISREG(status.st_mode) and status.st_size <= most else b""
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    except ValueError as error:
        if hasattr(error, "findings"):
            raise
        raise _unreadable(path, str(error)) from None  # a NUL in its name
    size = max(status.st_size, len(data))
    if size > most:
        raise fail("too-large", str(path), f"has {size / 2**20:.1f} MB; at most {most / 2**20:g} MB are read.")
    return data


def is_archive(data: bytes) -> bool:
    """Whether a file's content is that of an archive, or compressed, whatever its name."""
    return data.startswith(_ARCHIVES) or data[257:262] == b"ustar"


def _unreadable(path: Path, reason: str) -> ValueError:
    return fail("no-file", str(path), f"cannot be read: {reason}.", "Check the path and its permissions.")


def run_limited(code: str, arguments: Sequence[str], seconds: float, limits: Mapping[str, int]) -> int | None:
    """Run Python code in a process of its own; its exit status, or None if it took longer than `seconds`.

    limits: {"RLIMIT_CPU": seconds, "RLIMIT_AS": bytes, ...}, where the system has them. What it prints is lost. When it
    takes too long, it is ended with all that it has started.
    """
    # finds packages as this one does
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    given = [*(f"{name}={most}" for name, most in limits.items()), "--", *arguments]
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _LIMIT + code, *given],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            with contextlib.suppress(OSError, AttributeError):
                os.killpg(process.pid, signal.SIGKILL)  # a session of its own: nobody else is in that group
            process.kill()
            process.wait()


def why_ended(status: int | None, seconds: float, limits: Mapping[str, int]) -> str:
    """Why a limited process ended that did not say so itself. Status 5 is its word for want of memory."""
    if status is None:
        return f"it took longer than {seconds:g} s"
    computing = f"{limits['RLIMIT_CPU']} s of computing"
    reasons = {
        5: f"{limits['RLIMIT_AS'] / 2**30:g} GB of memory",
        -_signal("SIGXFSZ"): f"{limits['RLIMIT_FSIZE'] / 2**20:g} MB of output",
        -_signal("SIGXCPU"): computing,
        -_signal("SIGKILL"): computing,
    }
    return f"it asked for more than {reasons[status]}" if status in reasons else f"its process ended with {status}"


def _signal(name: str) -> int:
    """Its number; one that no process ends with where there is no such signal."""
    return getattr(signal, name, 10**6)
