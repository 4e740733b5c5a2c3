"""Constraints must hold when a run starts, and after a jump of its state."""

from __future__ import annotations

import numpy as np

from ...algebra import Array
from ...constraints import Residuals
from .equations import Equations

CLOSED = 1e-6  # largest violation (m, rad, and their rates) with which a run may start


def require_closed(equations: Equations, found: Residuals, where: str = "at the start") -> None:
    """found: of all constraints, (runs, rows). where: in the words of the error."""
    at = 0
    for constraint in equations.constraints:
        rows = slice(at, at + constraint.size)
        at = rows.stop
        position, velocity = (_largest(x[:, rows]) for x in found)
        if not max(position, velocity) <= CLOSED:
            raise ValueError(
                f"the {constraint.title} does not hold {where}: it is open by {position:.3g} (m, rad) "
                f"and moves by {velocity:.3g} per second. Begin there with "
                f"gs.constraints.project(craft, t, q, v, constraints), or with gs.constraints.capture for the "
                f"velocities alone."
            )


def _largest(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))
