"""Files that commands write: the folder is tried before a long run, not after it."""

from __future__ import annotations

from pathlib import Path

from ..io.files import whole_file


class _Tried(Exception):
    pass


def must_be_writable(*paths: Path | None) -> None:
    """Raises a ValueError that names the first path that cannot be written. Nothing is left behind."""
    for path in paths:
        if path is not None:
            try:
                with whole_file(path):
                    raise _Tried
            except _Tried:
                continue
