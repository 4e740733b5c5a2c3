"""xacro files, expanded to URDF by the optional package `xacrodoc`.

Expressions in a xacro file are Python, and what keeps them from the rest of the system is easily climbed over. So nothing is expanded
without the word `trust`, and then in a process of its own, with limits to its time, memory and output.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from .report import fail
from .xml_reader import MAX_BYTES

SECONDS = 60  # of the clock
LIMITS = {"RLIMIT_CPU": 30, "RLIMIT_AS": 2 * 2**30, "RLIMIT_FSIZE": MAX_BYTES, "RLIMIT_CORE": 0}

# What the other process does. It imports nothing of gyrostat; limits are set before anything of the file is read.
_EXPAND = """
import sys
source, target, *limits = sys.argv[1:]
try:
    import resource
except ImportError:
    pass  # Windows: the clock alone
else:
    for limit in limits:
        name, _, most = limit.partition("=")
        _, hard = resource.getrlimit(getattr(resource, name))
        most = int(most) if hard == resource.RLIM_INFINITY else min(int(most), hard)
        resource.setrlimit(getattr(resource, name), (most, most))
try:
    from xacrodoc import XacroDoc
except ImportError:
    sys.exit(4)
try:
    text, end = XacroDoc.from_file(source).to_urdf_string(), 0
except BaseException as error:
    text, end, cause = str(error).strip() or type(error).__name__, 3, error
    while cause is not None:
        if isinstance(cause, MemoryError):
            sys.exit(5)
        cause = getattr(cause, "exc", None) or cause.__context__
with open(target, "wb") as file:
    file.write(text.encode("utf-8", "replace"))
sys.exit(end)
"""


def expand(path: Path, *, trust: bool) -> bytes:
    """The URDF document that a xacro file stands for. Raises a `ModelError` unless it is trusted."""
    if not trust:
        raise fail(
            "untrusted",
            str(path),
            "is a xacro file: expressions in it, and in files that it includes, are run as Python and can do whatever you can on this "
            "machine.",
            "If you trust all of them: trust=True in Python, --trust on the command line. Or expand it elsewhere, and load the URDF.",
        )
    with tempfile.TemporaryDirectory(prefix="gyrostat-") as folder:
        target = Path(folder) / "expanded.urdf"
        status = _run([str(path.absolute()), str(target), *(f"{name}={most}" for name, most in LIMITS.items())])
        text = target.read_bytes() if target.exists() else b""
    if status == 0:
        return text
    if status == 4:
        raise fail(
            "missing-package",
            str(path),
            "reading xacro needs the package 'xacrodoc', which is not installed.",
            "Run: pip install gyrostat[xacro]",
        )
    if status == 3:
        reason = text.decode("utf-8", "replace")[:1000]
        raise fail("xacro", str(path), f"cannot be expanded: {reason}", "Check it with xacro itself.")
    raise fail("xacro", str(path), f"cannot be expanded: {_why(status)}.", "Look for what in it does not end.")


def _why(status: int | None) -> str:
    """Why a process ended that did not say so itself."""
    if status is None:
        return f"it took longer than {SECONDS} s"
    memory = f"{LIMITS['RLIMIT_AS'] / 2**30:g} GB of memory"
    output = f"{LIMITS['RLIMIT_FSIZE'] / 2**20:g} MB of output"
    computing = f"{LIMITS['RLIMIT_CPU']} s of computing"
    reasons = {5: memory, -_signal("SIGXFSZ"): output, -_signal("SIGXCPU"): computing, -_signal("SIGKILL"): computing}
    return f"it asked for more than {reasons[status]}" if status in reasons else f"its process ended with {status}"


def _signal(name: str) -> int:
    """Its number; one that no process ends with where there is no such signal."""
    return getattr(signal, name, 10**6)


def _run(arguments: list[str]) -> int | None:
    """The exit status of the other process; None if it took too long, and was ended with all that it had started."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }  # finds packages as this one does
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _EXPAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        return process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            with contextlib.suppress(OSError, AttributeError):
                os.killpg(process.pid, signal.SIGKILL)  # a session of its own: nobody else is in that group
            process.kill()
            process.wait()
