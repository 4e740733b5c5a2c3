"""pyNastran, which reads Nastran's files."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

# pyNastran runs what stands in these: a comment at the top of a file, and equations and responses of optimisation
HEADERS = re.compile(r"\$.*pynastran.*code", re.IGNORECASE)
RUN = ("DEQATN", "DTABLE", "DRESP1", "DRESP2", "DRESP3", "DCONSTR", "DVCREL2", "DVMREL2", "DVPREL2")
WITHOUT = "is read by pyNastran, which is not installed. pip install 'gyrostat[fem]'"


def reader(what: str, path: Path) -> Any:
    """Its class BDF or OP2, for a plain file."""
    if path.exists() and not path.is_file():
        raise ValueError(f"{path}: is not a file but a folder, a pipe or a device.")
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

        return _harmless(BDF)
    from pyNastran.op2.op2 import OP2

    return OP2


def _harmless(bdf: Any) -> Any:
    """The reader of a model that runs nothing of what it reads, whichever included file it stands in."""

    class Harmless(bdf):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.disable_cards(RUN)

        def _check_pynastran_header(self, lines: list[str], *more: Any, **options: Any) -> None:
            if any(HEADERS.search(line) for line in lines):
                raise ValueError("it holds a comment that is code for pyNastran; take it out if you want to read it")
            super()._check_pynastran_header(lines, *more, **options)

    return Harmless


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
