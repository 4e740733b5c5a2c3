"""What goes wrong while a function is recorded, told with the user's file, line and source text."""

from __future__ import annotations

import linecache
import os
import re
import sys
import sysconfig
from types import FrameType, TracebackType
from typing import NamedTuple

import numpy as np


def _folder(path: str) -> str:
    return os.path.abspath(path) + os.sep


_TRACING = _folder(os.path.dirname(__file__))
_PACKAGE = _folder(os.path.dirname(os.path.dirname(__file__)))
_NUMPY = _folder(os.path.dirname(np.__file__))
_PYTHON = tuple({_folder(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})
_INSTALLED = tuple({_folder(sysconfig.get_path(name)) for name in ("purelib", "platlib")})

# what is written in laws, and the function of gyrostat.algebra that takes traced values, where it has another name
_OTHERWISE = {
    "abs": "absolute",
    "all": "where",
    "any": "where",
    "arccos": "acos",
    "arcsin": "asin",
    "arctan": "atan",
    "arctan2": "atan2",
    "det": "solve",
    "eig": "eigh3",
    "eigh": "eigh3",
    "eigvalsh": "eigh3",
    "fabs": "absolute",
    "fmax": "maximum",
    "fmin": "minimum",
    "heaviside": "where",
    "hypot": "norm",
    "inv": "solve",
    "max": "maximum",
    "min": "minimum",
    "piecewise": "where",
    "select": "where",
}
_CALLED = re.compile(r"\b((?:(?:np|numpy|math|scipy|linalg|la)\.)(?:\w+\.)*)(\w+)\s*\(|(?<![\w.])(abs|min|max)\s*\(")
_BRANCH = re.compile(r"\b(if|while|and|or|not|assert|sorted|bool)\b")


class Place(NamedTuple):
    """A line of source."""

    file: str
    line: int
    function: str

    @property
    def source(self) -> str:
        return linecache.getline(self.file, self.line).strip()


class TraceError(TypeError):
    """A function did something with a traced value that cannot be recorded. place: the user's line, where it is
    known."""

    place: Place | None = None


def at_user_line(problem: str, remedy: str) -> TraceError:
    """Build a TraceError that points at the innermost line of the function being traced."""
    frames: list[tuple[FrameType, int]] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        frames.append((frame, frame.f_lineno))
        frame = frame.f_back
    return _error(problem, remedy, _choose(frames))


def from_exception(error: Exception, remedy: str) -> TraceError:
    """Turn what NumPy raised on traced values into a TraceError that points at the user's line."""
    return _error(str(error), remedy, raised_at(error))


def raised_at(error: BaseException) -> Place | None:
    """The user's line in which it was raised."""
    frames: list[tuple[FrameType, int]] = []
    step: TracebackType | None = error.__traceback__
    while step is not None:
        frames.insert(0, (step.tb_frame, step.tb_lineno))
        step = step.tb_next
    return _choose(frames)


def instead(source: str) -> list[tuple[str, str]]:
    """What stands in a line of source that traced values cannot go through, and what of gyrostat.algebra to use for
    it."""
    from .. import algebra

    found: dict[str, str] = {}
    for room, name, own in _CALLED.findall(source):
        name = name or own
        other = _OTHERWISE.get(name, name)
        if hasattr(algebra, other):
            found[f"{room}{name}"] = other
    if not found and _BRANCH.search(source):
        found["if, and, or"] = "where"
    return list(found.items())


def _error(problem: str, remedy: str, place: Place | None) -> TraceError:
    if place is None:
        return TraceError(f"{problem}\n  {remedy}")
    source = place.source or "(source not available)"
    error = TraceError(f"{problem}\n  {place.file}, line {place.line}, in {place.function}:\n    {source}\n  {remedy}")
    error.place = place
    return error


def _choose(frames: list[tuple[FrameType, int]]) -> Place | None:
    """The innermost frame of the user's own code, else of installed code, else outside NumPy and this package."""
    libraries = (_PACKAGE, _NUMPY, *_PYTHON)
    for hidden in ((*libraries, *_INSTALLED), libraries, (_TRACING, _NUMPY)):
        for frame, line in frames:
            name = frame.f_code.co_filename
            if not name.startswith(hidden) and not name.startswith("<frozen"):
                return Place(name, line, frame.f_code.co_name)
    return None
