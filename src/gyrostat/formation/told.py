"""What the trajectory of a virtual tree tells of a formation: relative motion as variables, and what happened to whom.

Reports, scenes and files take it from there, so that a file says the same as the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..environment.orbit_notes import orbit_notes
from ..simulation.result.figures import CHIEF
from ..simulation.result.summary import FIGURES, HAPPENED, Happening
from .budget import velocity_changes

if TYPE_CHECKING:
    from .trajectory import FormationTrajectory

ORBIT, EPOCH = "orbit", "epoch"  # attributes of a tree; the date of t = 0 where it is known
PLACE, SPEED, SPENT = "relative_position", "relative_velocity", "velocity_spent"  # its variables


def relative_motion(run: FormationTrajectory, chief: str) -> dict[str, Any]:
    """Of every member's base from the chief's, in the chief's Hill frame; without an orbit, in inertial axes."""
    if run.formation.orbit is None:
        first = run.member(chief)
        moved = [(run.member(name).p_N - first.p_N, run.member(name).v_N - first.v_N) for name in run.formation]
        where = "in inertial axes"
    else:
        moved = [run.hill(name, about=chief) for name in run.formation]
        where = f"in the Hill frame of {chief}"
    axes, of = ("craft", "time", "axis"), f"of each member's base from that of {chief}, {where}"
    return {
        PLACE: (axes, np.array([place for place, _ in moved]), {"units": "m", "long_name": f"position {of}"}),
        SPEED: (axes, np.array([speed for _, speed in moved]), {"units": "m/s", "long_name": f"velocity {of}"}),
        SPENT: (("craft", "time"), velocity_changes(run), {"units": "m/s", "long_name": "by impulses and thrust"}),
        "craft": ("craft", list(run.formation.names)),
        "axis": ("axis", ["x", "y", "z"]),
    }


def what_happened(run: FormationTrajectory, chief: str) -> dict[str, Any]:
    """Attributes: the chief, the orbit, events and impulses by member, the closest approach, what was spent."""
    told: dict[str, Any] = {CHIEF: chief}
    if run.formation.orbit is not None:
        told[ORBIT] = orbit_notes(run.formation.orbit)
    happened = [Happening(float(e.t), "event", e.name, e.member) for e in run.events]
    for impulse in run.impulses:
        size, parts = np.linalg.norm(impulse.dv_H), ", ".join(f"{x:.4g}" for x in impulse.dv_H)
        words = f"{size:.4g} m/s ({parts} radial, along track, normal)"
        happened.append(Happening(impulse.t, "impulse", impulse.member, words))
    if len(run.formation) > 1:
        near = run.closest_approach()
        if np.isfinite(near.distance):
            words = f"{near.distance:.4g} m, {near.members[0]} and {near.members[1]}"
            happened.append(Happening(near.time, "closest approach", "of two bases", words))
    spent = [(b.member, b.total) for b in run.budgets if b.total > 0]
    figures = [
        {"name": f"{member}, velocity change by impulses and thrust", "peak": None, "final": total, "unit": "m/s"}
        for member, total in spent
    ]
    return {**told, HAPPENED: [h._asdict() for h in happened], FIGURES: figures}
