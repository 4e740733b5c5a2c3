"""Warnings that point at the user's line, whatever lies between it and the place that found something."""

from __future__ import annotations

import contextlib
import functools
import sys
import warnings
from pathlib import Path

# What calls on the user's behalf: this package, and the decorators of the standard library that it uses
_BETWEEN = (str(Path(__file__).parent), *(module.__file__ or "" for module in (contextlib, functools)))


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """As `warnings.warn`, at the nearest caller outside of gyrostat."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BETWEEN):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
