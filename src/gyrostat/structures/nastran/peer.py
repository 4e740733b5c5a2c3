"""pyNastran, which reads Nastran's files."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

WITHOUT = "is read by pyNastran, which is not installed. pip install 'gyrostat[fem]'"


def reader(what: str, path: Path) -> Any:
    """Its class BDF or OP2."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _with_old_names(lambda: _imported(what))
    except ImportError as error:
        if error.name and not error.name.startswith("pyNastran"):
            raise
        raise ImportError(f"{path} {WITHOUT}", name="pyNastran") from None


def _imported(what: str) -> Any:
    if what == "BDF":
        from pyNastran.bdf.bdf import BDF

        return BDF
    from pyNastran.op2.op2 import OP2

    return OP2


def quietly(path: Path, call: Callable[[], Any]) -> Any:
    """What pyNastran reads. Its warnings concern its own code; what a broken file leads it to, of many kinds and even
    the end of the process, is told as one.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call()
    except (Exception, SystemExit) as error:
        message = " ".join(str(error).split())
        raise ValueError(f"{path}: pyNastran cannot read it ({type(error).__name__}: {message:.300}).") from error


class Silent:
    """A log that nobody reads: what matters is said here."""

    level = "critical"

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: None


def _with_old_names(call: Callable[[], Any]) -> Any:
    """pyNastran 1.4 looks up, while it is imported, a name of NumPy that left in 2.4: it is lent for that long."""
    if hasattr(np, "in1d"):
        return call()
    lent: Any = np
    lent.in1d = np.isin
    try:
        return call()
    finally:
        del lent.in1d
