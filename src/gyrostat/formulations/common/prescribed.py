"""M vdot = load where some accelerations are prescribed: the equations of the others are solved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...algebra import Array, solve_spd
from ...model import Spacecraft


def by_place(craft: Spacecraft, follows: Mapping[str, Array]) -> dict[int, Any]:
    """Prescribed accelerations by their place in v, from those by body name."""
    given: dict[int, Any] = {}
    for B, value in follows.items():
        at = craft.joint(B).v_at
        given |= dict(zip(range(at.start, at.stop), value, strict=True))
    return given


def solve_free(M: Array, load: Array, given: Mapping[int, Any]) -> Array:
    """x (n,) with `M x = load` in the free rows and x as given, by place, in the others; M symmetric positive
    definite.
    """
    held, free = sorted(given), [k for k in range(len(load)) if k not in given]
    known = np.array([given[k] for k in held])
    right = load[free] - M[np.ix_(free, held)] @ known if held else load
    x = solve_spd(M[np.ix_(free, free)], right) if free else np.zeros(0)
    found = dict(zip(free, x, strict=True)) | dict(given)
    return np.array([found[k] for k in range(len(load))]) if len(load) else np.zeros(0)
