"""Two random craft on bases of any kind, of which one grasps the other by a constraint of any kind, holds it for two
phases or lets it bounce off, and lets go.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import gyrostat as gs
import random_missions as missions
from gyrostat import constraints
from random_missions import START, Mission
from random_trees import random_axis, random_spacecraft, random_state

KINDS = ("revolute", "prismatic", "spherical", "cylindrical", "universal", "planar", "wheel", "cartesian", "free")
GRIPS = ("point", "weld", "revolute", "prismatic", "universal", "cylindrical", "planar", "distance", "aligned")
LONG = {"near": 0.11, "hold": 0.17, "still held": 0.1, "go": 0.12}  # s
# what places the craft once, jumps of every rate, and what is of one craft alone
LEFT_OUT = ("_rod", "_kick", "_formulation", "_conserve", "_mode", "_stops")


@dataclass(frozen=True)
class Grasping:
    mission: Mission
    grip: constraints.AbstractConstraint
    restitution: float

    @property
    def phases(self) -> list[gs.Phase]:
        near, hold, still, go = LONG
        held = [gs.Phase(LONG[still], still)] if not self.restitution else []
        return [
            gs.Phase(LONG[near], near),
            gs.Phase(LONG[hold], hold, grasp=[self.grip], restitution=self.restitution),
            *held,
            gs.Phase(LONG[go], go, release=[] if self.restitution else ["grip"]),
        ]

    def run(self, changed: str = "", **more: Any) -> gs.simulation.phased_run.PhasedRun:
        times = START + np.cumsum([0.0, *(phase.duration for phase in self.phases)])
        given = {**self.mission.keywords(changed), "save_at": times, "progress": False, **more}
        m = self.mission
        return gs.simulate_phases(m.craft, m.q, m.v, self.phases, t0=START, **given)

    def __str__(self) -> str:
        return f"{self.grip.title}, restitution {self.restitution}; {self.mission}"


def random_grasp(seed: int) -> Grasping:
    rng = np.random.default_rng([seed, 9])
    crafts = [
        replace(
            missions._dressed(random_spacecraft(seed + 5000 * k, links=int(rng.integers(1, 4)), kinds=KINDS), rng),
            name=name,
        )
        for k, name in enumerate(("one", "two"))
    ]
    both = gs.together("pair", crafts)
    ends = [
        str(
            rng.choice(
                [b for b in both.member(name).bodies if not both.joint(b).motion.spins and both.body(b).mass > 0]
            )
        )
        for name in ("one", "two")
    ]
    kind, axis = str(rng.choice(GRIPS)), random_axis(rng)
    about: list[Any] = [] if kind in ("point", "weld", "aligned") else [axis]
    if kind == "universal":
        about.append(np.cross(axis, random_axis(rng)))
    if kind == "distance":
        about = [1.0]
    grip = getattr(constraints, kind)(*ends, *about, name="grip")
    mission = Mission(seed, both, *random_state(both, seed, speed=0.12), external=missions._held_base(both))
    makers = [*(m for m in missions.MAKERS if m.__name__ not in LEFT_OUT), missions._place]
    return Grasping(missions.told(mission, rng, makers, 4), grip, 0.6 if rng.random() < 0.3 else 0.0)
