"""What a name may be: words that every file, terminal, page and picture can show as they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def wrong_name(name: Any) -> str:
    """Why it is none; empty if it is one."""
    if not isinstance(name, str):
        return f"its name is {name!r:.60}; expected text."
    if not name.strip():
        return "its name is empty; expected text."
    for character in name:
        if not character.isprintable():
            return f"its name holds {character!r}, which cannot be printed; expected letters, digits, spaces and marks."
    return ""


def name_of(path: Path) -> str:
    """What a file's name says without its suffix, as text that can be written anywhere:
    the system's names are bytes, and need not be UTF-8, nor what the locale says.
    """
    return os.fsencode(path.stem).decode("utf-8", "replace")


def printable(text: str) -> str:
    """Text from a file, its control characters made visible: no file may drive the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
