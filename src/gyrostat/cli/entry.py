"""The console script. Ctrl-C while the command's own modules are loaded, half a second long, ends it in words."""

from __future__ import annotations

import sys


def run() -> None:
    try:
        from .main import run as command
    except KeyboardInterrupt:
        sys.stderr.write("Stopped before it had begun.\n")
        sys.exit(130)
    command()
