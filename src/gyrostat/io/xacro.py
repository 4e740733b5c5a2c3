"""xacro files, expanded to URDF by the optional package `xacrodoc`.

Expressions in a xacro file are Python, and what keeps them from the rest of the system is easily climbed over. So
nothing is expanded without the word `trust`, and then in a process of its own, with limits to its time,
memory and output.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from .bounded import run_limited, why_ended
from .report import fail
from .xml_reader import MAX_BYTES

SECONDS = 60  # of the clock
LIMITS = {"RLIMIT_CPU": 30, "RLIMIT_AS": 2 * 2**30, "RLIMIT_FSIZE": MAX_BYTES, "RLIMIT_CORE": 0}
_EXPAND = """
source, target = sys.argv[1:]
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
            "is a xacro file: expressions in it, and in files that it includes, are run as Python and can do whatever "
            "you can on this machine.",
            "If you trust all of them: trust=True in Python, --trust on the command line. Or expand it elsewhere, and "
            "load the URDF.",
        )
    with tempfile.TemporaryDirectory(prefix="gyrostat-") as folder:
        target = Path(folder) / "expanded.urdf"
        status = run_limited(_EXPAND, [str(path.absolute()), str(target)], SECONDS, LIMITS)
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
    reason = why_ended(status, SECONDS, LIMITS)
    raise fail("xacro", str(path), f"cannot be expanded: {reason}.", "Look for what in it does not end.")
