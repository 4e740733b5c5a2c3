"""Constraints must hold when a run starts, and after a jump of its state; and what they bind must be theirs to bind."""

from __future__ import annotations

import numpy as np

from ...algebra import Array
from ...constraints import Residuals
from ...constraints.consistency import rows_of_their_own
from ...constraints.kinds import Driven
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
                f"the {constraint.title} does not hold {where}: it is open by {position:.3g} (m, rad) and moves by "
                f"{velocity:.3g} per second. Begin there with gs.constraints.project(craft, t, q, v, constraints), or "
                "with gs.constraints.capture for the velocities alone."
            )


def require_room(equations: Equations, q: Array, v: Array) -> None:
    """That no constraint asks for a motion that joints which move as they are told decide alone. Joints that rest agree
    with every constraint that holds at the start, unless it is driven.
    """
    craft, bonds = equations.craft, equations.constraints
    still = resting(equations, v)
    moving = [name for name in equations.prescribed if name not in still]
    free = rows_of_their_own(craft, q, bonds)
    held = rows_of_their_own(craft, q, bonds, still)
    told = rows_of_their_own(craft, q, bonds, [*still, *moving])
    for k, bond in enumerate(bonds):
        driven = isinstance(bond, Driven) and held[k] < free[k]
        if driven or told[k] < held[k]:
            names = ", ".join(f"'{name}'" for name in (still if driven else moving))
            raise ValueError(
                f"the {bond.title} binds what joints that follow a prescribed motion or are locked decide alone "
                f"({names}): no load of it can change that. Leave out the constraint, or let one of these joints go."
            )


def resting(equations: Equations, v: Array) -> list[str]:
    """Joints that are locked: those that are told to go on as they do, and stand still."""
    told = [name for name, motion in equations.prescribed.items() if not callable(motion) and not np.any(motion)]
    return [name for name in told if not np.any(v[equations.craft.joint_named(name).v_at])]


def _largest(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))
