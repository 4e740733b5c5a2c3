"""What the audit looks at while a run goes on, inside the compiled loop: at its start, at every n-th step, at its end.

    p - sum of impulses,   l_c - sum of angular impulses,   kinetic and stored energy - sum of works                 (1)

must not change, whatever happens. Kept are the first, largest and smallest value of each component; and, to measure
them by, the largest kinetic energy of each body, the largest sums of what causes did, and the largest loads of control
where nothing of the craft could make them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, maximum, norm, sqrt
from ...model import Spacecraft
from ..engine.compiling import compiled
from ..engine.measures import Measures, Reduce, steps_between_looks
from ..engine.system_cache import made
from ..problem.balance import held_by
from ..problem.causes import Cause
from ..problem.equations import Equations

BALANCED = (
    *(f"{kind} momentum {axis}" for kind in ("angular", "linear") for axis in "xyz"),
    "energy",
)
ACTING = ("angular impulses", "linear impulses", "energies")
# variables of a whole run, that parts do not share
INSIDE = (
    "audited",
    "audited_name",
    "cause",
    "cause_impulse",
    "cause_work",
)
RANGE = (Reduce.first, Reduce.largest, Reduce.smallest)
UNITS = {"rad/s": "N m", "m/s": "N", "1/s": "J"}


class Entry(NamedTuple):
    name: str
    how: Reduce


def entries(craft: Spacecraft, causes: tuple[Cause, ...]) -> list[Entry]:
    """What is looked at, in order."""
    found = [Entry(name, how) for how in (Reduce.first, Reduce.largest) for name in BALANCED]
    found += [Entry(kinetic_name(body.name), Reduce.largest) for body in craft.bodies]
    found += [Entry(name, Reduce.largest) for name in ACTING]
    found += [Entry(load_name(cause.who, unit), Reduce.largest) for cause in causes for unit in pushed(craft, cause)]
    return [*found, *(Entry(name, Reduce.smallest) for name in BALANCED)]


def kinetic_name(body: str) -> str:
    return f"kinetic energy of {body}"


def load_name(who: str, unit: str) -> str:
    return f"{who}, {unit}"


def pushed(craft: Spacecraft, cause: Cause) -> dict[str, list[int]]:
    """The coordinates that a cause pushes, by the unit of the load."""
    units = [unit for joint in craft.joints for unit in joint.motion.v_units]
    found: dict[str, list[int]] = {}
    for k in cause.pushes:
        found.setdefault(UNITS[units[k]], []).append(k)
    return found


def audit_measures(equations: Equations, rhs: Any, evaluations: int) -> Measures:
    """evaluations: of the right-hand side in a step."""
    how = tuple(entry.how for entry in entries(equations.craft, equations.causes))
    kernel = made(equations, "looks", lambda: compiled(looked_at(equations), equations.layout.size))
    return Measures(kernel, how, steps_between_looks(kernel, rhs, evaluations))


def looked_at(equations: Equations) -> Callable[[Array], Array]:
    """The function of x (size,) to all `entries`."""

    def looks(x: Array) -> Array:
        at, craft = equations.layout, equations.own_craft(x)
        held = held_by(craft, x[at["q"]], equations.velocity(x))
        impulses, works = integrals_of(equations.causes, x[at["integrals"]])
        energy = sum(held.kinetic) + held.stored
        balanced = np.concatenate([held.momentum - sum(impulses, start=np.zeros(6)), [energy - sum(works, start=0.0)]])
        acting = [sum((norm(j[part]) for j in impulses), start=0.0) for part in (slice(0, 3), slice(3, 6))]
        acting.append(energy + sum((maximum(w, -w) for w in works), start=0.0))
        return np.concatenate([balanced, balanced, held.kinetic, acting, _loads(equations, x), balanced])

    return looks


def _loads(equations: Equations, x: Array) -> Array:
    """Of control, where nothing of the craft could make them; not known here if Python computes them."""
    wanted = [own for cause in equations.causes for own in pushed(equations.craft, cause).values()]
    if not wanted:
        return np.zeros(0)
    if equations.python_control and not equations.sampled:
        return np.full(len(wanted), np.nan)
    load = equations.applied(x)
    return np.array([sqrt(sum(load[k] * load[k] for k in own)) for own in wanted])


def integrals_of(causes: tuple[Cause, ...], integrals: Array) -> tuple[list[Array], list[Any]]:
    """Impulses (..., 6) of the external causes, and works (...) of all, from (..., integrals)."""
    impulses, works, place = [], [], 0
    for cause in causes:
        if cause.external:
            impulses.append(integrals[..., place : place + 6])
        place += cause.width
        works.append(integrals[..., place - 1])
    return impulses, works
