"""Libraries of the extra `orbit`."""

from __future__ import annotations

import importlib
from typing import Any


def library(module: str, what: str) -> Any:
    """The module, or an ImportError that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{what} needs {module.split('.')[0]}, which is not installed: pip install 'gyrostat[orbit]'.", name=module
        ) from error
