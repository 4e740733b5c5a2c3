"""What goes wrong while a function is recorded, told with the user's file, line and source text."""

from __future__ import annotations

import linecache
import os
import sys
from types import FrameType, TracebackType

import numpy as np

_TRACING = os.path.dirname(os.path.abspath(__file__)) + os.sep
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep


class TraceError(TypeError):
    """A function did something with a traced value that cannot be recorded."""


def at_user_line(problem: str, remedy: str) -> TraceError:
    """Build a TraceError that points at the innermost line of the function being traced."""
    frames: list[tuple[FrameType, int]] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        frames.append((frame, frame.f_lineno))
        frame = frame.f_back
    return TraceError(_message(problem, remedy, frames))


def from_exception(error: Exception, remedy: str) -> TraceError:
    """Turn what NumPy raised on traced values into a TraceError that points at the user's line."""
    frames: list[tuple[FrameType, int]] = []
    step: TracebackType | None = error.__traceback__
    while step is not None:
        frames.insert(0, (step.tb_frame, step.tb_lineno))
        step = step.tb_next
    return TraceError(_message(str(error), remedy, frames))


def _message(problem: str, remedy: str, frames: list[tuple[FrameType, int]]) -> str:
    where = _choose(frames)
    return f"{problem}\n{where}  {remedy}" if where else f"{problem}\n  {remedy}"


def _choose(frames: list[tuple[FrameType, int]]) -> str:
    """The innermost frame outside NumPy and gyrostat, else the innermost outside NumPy and this package."""
    for hidden in ((_PACKAGE, _NUMPY), (_TRACING, _NUMPY)):
        for frame, line in frames:
            name = frame.f_code.co_filename
            if not name.startswith(hidden) and not name.startswith("<frozen"):
                source = linecache.getline(name, line).strip() or "(source not available)"
                return f"  {name}, line {line}, in {frame.f_code.co_name}:\n    {source}\n"
    return ""
