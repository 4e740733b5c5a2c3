"""Files that are whole or not there: written under another name, then renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A temporary name beside `path`, which becomes `path` when the block ends well and vanishes when it does not.

    Raises a ValueError that names the folder where it does not exist or cannot be written to.
    """
    path = Path(path)
    folder = path.parent
    if not folder.is_dir():
        raise ValueError(f"cannot write '{path}': the folder '{folder}' does not exist. Make it first.")
    if path.is_dir():
        raise ValueError(f"cannot write '{path}': it is a folder. Choose a file name.")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=folder)
        os.close(handle)
    except OSError as error:
        raise ValueError(f"cannot write '{path}': {error.strerror}. Choose another folder.") from None
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        raise ValueError(f"cannot write '{path}': {error.strerror or error}. Nothing was written.") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_whole(path: str | Path, text: str) -> Path:
    """`text` as UTF-8, whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return Path(path)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
