"""Tools that are installed on request."""

from __future__ import annotations

import importlib
from typing import Any


def demand(module: str, extra: str, title: str, what: str = "this export") -> Any:
    """The module, or an ImportError that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{title} is not installed, and {what} needs it: pip install 'gyrostat[{extra}]'.", name=module
        ) from error
