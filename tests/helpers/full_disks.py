"""A small file system of its own, to be filled: where nobody may mount one, tests that need it are skipped."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
    try:
        made = subprocess.run(command, check=False, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount here")
    if made.returncode:
        pytest.skip(f"no file system may be mounted here: {made.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
