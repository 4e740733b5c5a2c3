"""Arrays that are handed to functions written by users: their own, and not to be changed."""

from __future__ import annotations

from typing import Any

import numpy as np


def frozen(x: Any) -> Any:
    """A copy that cannot be written to, so that NumPy raises at the line that tries; anything but an array as it is.

    A copy, so that a function may keep what it was given: nobody changes it afterwards.
    """
    if not isinstance(x, np.ndarray):
        return x
    own = x.copy()
    own.flags.writeable = False
    return own
