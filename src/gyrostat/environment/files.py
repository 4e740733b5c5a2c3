"""Files of orbits, attitudes and fields: plain ones of a stated size are read, no others; they are written whole or not
at all.
"""

from __future__ import annotations

from pathlib import Path


def text_of(path: str | Path, what: str, most: int) -> str:
    """The content of a plain file of at most so many bytes. what: it is, such as "an OEM"."""
    from ..io.bounded import read_file

    data = read_file(Path(path), most, what)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}:{line}: byte {data[error.start]:#04x} is no text; expected {what}, in UTF-8."
        ) from None


def save_text(path: str | Path, text: str) -> None:
    """In the place of what stood there before, or not at all."""
    from ..io.writing import write_text

    write_text(path, text)
