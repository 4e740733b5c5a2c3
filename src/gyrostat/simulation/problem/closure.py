"""Constraints must hold when a run starts."""

from __future__ import annotations

import numpy as np

from ...algebra import Array
from ...constraints import Residuals
from .equations import Equations

CLOSED = 1e-6  # largest violation (m, rad, and their rates) with which a run may start


def require_closed(equations: Equations, found: Residuals) -> None:
    """found: of all constraints, (runs, rows)."""
    at = 0
    for constraint in equations.constraints:
        rows = slice(at, at + constraint.size)
        at = rows.stop
        position, velocity = (_largest(x[:, rows]) for x in found)
        if not max(position, velocity) <= CLOSED:
            raise ValueError(
                f"the {constraint.title} does not hold at the start: it is open by {position:.3g} (m, rad) "
                f"and moves by {velocity:.3g} per second. Start from "
                f"gs.constraints.project(craft, t, q, v, constraints), or from gs.constraints.capture for the velocities alone."
            )


def _largest(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))
