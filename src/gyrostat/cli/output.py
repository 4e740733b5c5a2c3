"""What all commands share for printing: consoles, safe text, findings."""

from __future__ import annotations

import os
import shutil
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOBase
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ..model import KINDS, Finding, nearest
from ..model.names import printable


def _known_kind(value: str | None) -> str | None:
    if value is not None and value not in KINDS:
        raise typer.BadParameter(f"'{value}' is no joint kind. {nearest(value, KINDS)}")
    return value


BaseKind = Annotated[
    str | None, typer.Option(callback=_known_kind, help="Kind of the base's joint, in place of the file's.")
]

STYLE = {"error": "bold red", "warning": "yellow", "note": "dim"}
SHOWN_PER_CODE = 4  # notes of one sort; the rest are counted


class Unread(TextIOBase):
    """A stream that may lose its reader (a closed pipe, a terminal that is gone):
    from then on it is silent, and nothing fails.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with self._or_silence():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._or_silence():
            self._stream.flush()

    @contextmanager
    def _or_silence(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())  # also for what is still in buffers when the process ends
            os.close(nowhere)

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding


def open_streams() -> None:
    """Standard streams that whoever called has closed (`>&-`) lead nowhere:
    nothing fails, and no file that is opened later gets their numbers, with what is printed.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free: this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))


def console() -> Console:
    """Standard output; wide where no terminal limits it. Names may hold what looks like markup: none is looked for."""
    width = None if sys.stdout.isatty() else 140
    return Console(file=Unread(sys.stdout), highlight=False, markup=False, width=width)  # type: ignore[arg-type]


def errors() -> Console:
    return Console(file=Unread(sys.stderr), highlight=False, markup=False)  # type: ignore[arg-type]


def sentence(text: str, limit: int = 2000) -> Text:
    """Plain text without markup, on as few lines as it has."""
    text = printable(text)
    return Text(text if len(text) <= limit else text[:limit] + " ...")


def place_of(error: BaseException) -> str | None:
    """The line of a user's own code that an exception comes from, as in "laws.py, line 4"; None if it is ours."""
    ours, standard = Path(__file__).parents[1], Path(os.__file__).parent
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(ours):
            return None
        library = path.is_relative_to(standard) or {"site-packages", "dist-packages"} & set(path.parts)
        if path.is_file() and not library:
            return f"{path.name}, line {frame.lineno}"
    return None


def command() -> str:
    """How this program is called from here: its name, or its path where the shell would not find it."""
    called = Path(sys.argv[0])
    if shutil.which("gyrostat") or called.name not in ("gyrostat", "gyrostat.exe"):
        return "gyrostat"
    return os.path.relpath(called) if called.is_absolute() and called.is_relative_to(Path.cwd()) else str(called)


def number(x: float, digits: int = 6) -> str:
    return f"{float(x) + 0.0:.{digits}g}"


def numbers(values: Iterable[float], digits: int = 6) -> str:
    """As in "(0, 1.5, 0)"."""
    return "(" + ", ".join(number(x, digits) for x in values) + ")"


def print_findings(out: Console, findings: Sequence[Finding], *, strict: bool = False) -> None:
    """Errors first, then warnings, then notes; many notes of one sort are counted rather than shown."""
    for level in ("error", "warning", "note"):
        seen: dict[str, int] = {}
        for finding in findings:
            if finding.level != level:
                continue
            seen[finding.code] = seen.get(finding.code, 0) + 1
            if level == "note" and seen[finding.code] > SHOWN_PER_CODE:
                continue
            style = STYLE["error"] if strict and level == "warning" else STYLE[level]
            line = Text(f"{level}: ", style=style)
            line.append_text(Text(printable(str(finding)), style="" if level != "note" else "dim"))
            out.print(line, soft_wrap=True)
        for code, count in seen.items():
            if level == "note" and count > SHOWN_PER_CODE:
                out.print(
                    Text(
                        f"note: ... and {count - SHOWN_PER_CODE} more of sort '{code}' (all with --json).", style="dim"
                    )
                )


def summary(findings: Sequence[Finding]) -> str:
    """As in "1 error, no warnings, 12 notes"."""
    words = []
    for level in ("error", "warning", "note"):
        count = sum(f.level == level for f in findings)
        words.append(f"{count or 'no'} {level}{'' if count == 1 else 's'}")
    return ", ".join(words)
