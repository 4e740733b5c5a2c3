"""What each member spent: impulses, and the thrust of its control law."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..algebra import Array
from ..kinematics import total_mass

if TYPE_CHECKING:
    from .trajectory import FormationTrajectory


class MemberImpulse(NamedTuple):
    """A jump of a member's velocity. dv_H: (3,) m/s in the Hill frame of the reference orbit."""

    member: str
    t: float
    dv_H: Array


class Budget(NamedTuple):
    """Of one member: how many impulses, and the change of velocity by them and by its control law's thrust, m/s."""

    member: str
    impulses: int
    by_impulses: float
    by_thrust: float

    @property
    def total(self) -> float:
        return self.by_impulses + self.by_thrust


def budgets(run: FormationTrajectory) -> tuple[Budget, ...]:
    """Of every member, at its last saved state."""
    found = []
    for name in run.formation:
        own = [np.linalg.norm(i.dv_H) for i in run.impulses if i.member == name]
        thrust = thrust_so_far(run, name)
        reached = thrust[np.isfinite(thrust)]
        found.append(Budget(name, len(own), float(sum(own)), float(reached[-1]) if len(reached) else 0.0))
    return tuple(found)


def velocity_changes(run: FormationTrajectory) -> Array:
    """Spent so far, m/s, (members, times), in the order of `formation.names`. The state at the time of an impulse is
    that after it.
    """
    rows = []
    for name in run.formation:
        spent = thrust_so_far(run, name)
        for impulse in run.impulses:
            if impulse.member == name:
                spent = spent + np.where(run.time >= impulse.t, np.linalg.norm(impulse.dv_H), 0.0)
        rows.append(spent)
    return np.array(rows)


def thrust_so_far(run: FormationTrajectory, member: str) -> Array:
    """Integral of the size of what control pushes the base with, over the mass, m/s, (times,): by the saved times."""
    group, k = run.formation.place(member)
    force = run.groups[group].signals["tau"].values[k][:, 3:6]
    size = np.linalg.norm(force, axis=-1) / float(total_mass(run.formation.craft(member)))
    steps = (size[1:] + size[:-1]) / 2 * np.diff(run.time)
    return np.concatenate([[0.0 if np.isfinite(size[0]) else np.nan], np.cumsum(steps)])
