"""Constraints must hold when a run starts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...algebra import Array
from ...constraints import AbstractConstraint, residuals
from ...model import Spacecraft

CLOSED = 1e-6  # largest violation (m, rad, and their rates) with which a run may start


def require_closed(craft: Spacecraft, t: float, q: Array, v: Array, constraints: Sequence[AbstractConstraint]) -> None:
    batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    qs = np.broadcast_to(q, (*batch, craft.nq)).reshape(-1, craft.nq)
    vs = np.broadcast_to(v, (*batch, craft.nv)).reshape(-1, craft.nv)
    for q_run, v_run in zip(qs, vs, strict=True):
        for constraint in constraints:
            found = residuals(craft, t, q_run, v_run, [constraint])
            worst = max(np.abs(found.position).max(initial=0.0), np.abs(found.velocity).max(initial=0.0))
            if worst > CLOSED:
                raise ValueError(
                    f"the {constraint.title} does not hold at the start: it is open by {np.abs(found.position).max(initial=0.0):.3g} (m, rad) "
                    f"and moves by {np.abs(found.velocity).max(initial=0.0):.3g} per second. Start from "
                    f"gs.constraints.project(craft, t, q, v, constraints), or from gs.constraints.capture for the velocities alone."
                )
