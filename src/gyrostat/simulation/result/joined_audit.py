"""The audit of runs that follow one another, each from where the one before ended:
deviations add up, and jumps in between are accounted for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...model import Spacecraft
from ..problem.balance import held_by
from .audited import ACTING, BALANCED, RANGE
from .trajectory import Trajectory


class Jump(NamedTuple):
    """Of the velocity, at q, between two runs.

    who: in words, with its impulse (about the centre of mass; None if it is internal) and work.
    """

    who: str
    craft: Spacecraft
    q: Array
    before: Array  # v
    after: Array  # v
    impulse: Array | None
    work: float

    def deviation(self) -> Array:
        """As BALANCED: by how much the jump changed what it does not account for."""
        held = [held_by(self.craft, self.q, v) for v in (self.before, self.after)]
        momentum, energy = ([x.momentum for x in held], [x.kinetic.sum() + x.stored for x in held])
        outer = np.zeros(6) if self.impulse is None else self.impulse
        return np.abs(np.append(momentum[1] - momentum[0] - outer, energy[1] - energy[0] - self.work))


def joined_audit(runs: Sequence[Trajectory], jumps: Sequence[Jump]) -> dict[str, Any]:
    """Variables for the Dataset of single runs put end to end, as those of each run."""
    seen = [dict(zip(map(str, r.data["audited_name"].values), r.data["audited"].values, strict=True)) for r in runs]
    jumped = sum((jump.deviation() for jump in jumps), start=np.zeros(len(BALANCED)))
    found: dict[str, float] = {"looks": sum(s["looks"] for s in seen)}
    names = [[f"{how.name} {name}" for name in BALANCED] for how in RANGE]
    first, largest, smallest = (np.array([[s[name] for name in own] for s in seen]) for own in names)
    up, down = (largest - first).sum(axis=0) + jumped, (first - smallest).sum(axis=0) + jumped
    for own, values in zip(names, (0.0 * up, up, -down), strict=True):
        found |= dict(zip(own, values.tolist(), strict=True))
    balanced = set(found)
    for name in dict.fromkeys(name for s in seen for name in s if name not in balanced):
        values = [s[name] for s in seen if name in s]
        found[name] = float(sum(values) if name in ACTING else np.max(values))
    return {
        "audited": (
            ("audited_name",),
            np.array(list(found.values())),
            {"long_name": "what the audit saw during the run"},
        ),
        "audited_name": ("audited_name", list(found)),
        **_causes(runs, jumps),
    }


def _causes(runs: Sequence[Trajectory], jumps: Sequence[Jump]) -> dict[str, Any]:
    """Sums by name."""
    impulses: dict[str, Array] = {}
    works: dict[str, float] = {}
    parts = [
        (str(who), impulse, float(work))
        for run in runs
        for who, impulse, work in zip(
            run.data["cause"].values, run.data["cause_impulse"].values, run.data["cause_work"].values, strict=True
        )
    ]
    parts += [(j.who, np.full(6, np.nan) if j.impulse is None else j.impulse, j.work) for j in jumps]
    for who, impulse, work in parts:
        impulses[who] = impulses.get(who, np.zeros(6)) + impulse
        works[who] = works.get(who, 0.0) + work
    attributes = {"long_name": "of each cause, at the end of the run"}
    return {
        "cause_impulse": (("cause", "wrench"), np.array(list(impulses.values())).reshape(-1, 6), attributes),
        "cause_work": (("cause",), np.array(list(works.values())), attributes),
        "cause": ("cause", list(works)),
    }
