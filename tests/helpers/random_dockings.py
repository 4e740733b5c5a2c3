"""Random craft of which one grasps the base of the other, holds it for two phases, and lets go: by a weld, or as one
tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import gyrostat as gs
import random_missions as missions
from gyrostat import constraints, outcomes
from random_flexible import bending
from random_missions import START, Mission
from random_trees import random_spacecraft, random_state

KINDS = ("revolute", "prismatic", "spherical", "cylindrical", "universal", "planar", "wheel")
LONG = {"approach": 0.15, "hold": 0.2, "still held": 0.1, "go": 0.15}  # s
# what places the craft once, and a jump of every rate, are not for craft that change
LEFT_OUT = ("_rod", "_kick", "_formulation", "_conserve", "_gravity")


SPEED = outcomes.Signal(lambda craft, t, q, v: 2.0 * gs.kinetic_energy(craft, q, v), "speed", "J")
OUTCOMES = {
    "end": outcomes.last(SPEED),
    "most": outcomes.largest(SPEED),
    "least": outcomes.smallest(SPEED),
    "mean": outcomes.mean(SPEED),
    "sum": outcomes.integral(SPEED),
    "calm": outcomes.settling_time(SPEED, 1e9),
    "wild": outcomes.settling_time(SPEED, 0.0),
    "long": outcomes.time_in(SPEED, 0.0),
}


@dataclass(frozen=True)
class Docking:
    """mission: of both craft side by side, with options for all phases. grip: the weld that is grasped."""

    mission: Mission
    grip: constraints.AbstractConstraint

    def run(self, attach: bool, changed: str = "", **more: Any) -> Any:
        """changed: the option that has its other value; attach: as one tree, not by a weld."""
        held = {"grasp": [self.grip], "attach": [self.grip.title] if attach else []}
        released = {"release": [self.grip.title]}
        own = {"hold": held, "go": released}
        phases = [gs.Phase(length, name, **own.get(name, {})) for name, length in LONG.items()]
        at = self.mission
        options = {**at.keywords(changed), "save_at": np.linspace(START, START + 0.6, 13), "progress": False, **more}
        if options.get("integrator") != "gauss16":  # which knows no states within its steps
            options["outcomes"] = OUTCOMES
        return gs.simulate_phases(at.craft, at.q, at.v, phases, t0=START, **options)

    def __str__(self) -> str:
        return f"{self.mission}; '{self.grip.second}' in '{self.grip.first}'"


def random_docking(seed: int) -> Docking:
    rng = np.random.default_rng([seed, 2203])
    crafts = []
    for k, name in enumerate(("one", "two")):
        craft = random_spacecraft(seed + 9000 + 500 * k, links=int(rng.integers(1, 4)), kinds=KINDS, base="free")
        craft = bending(craft, rng) if rng.random() < 0.35 else craft
        crafts.append(replace(missions._dressed(craft, rng), name=name))
    both = gs.together("pair", crafts)
    mission = Mission(seed, both, *random_state(both, seed + 1, speed=0.4))
    first = [*both.member("one").bodies, *(f.name for f in both.frames if f.body in both.member("one").bodies)]
    first = [name for name in first if not both.joint(both.locate(name)[0]).motion.spins]
    ends = [str(rng.choice(first)), both.member("two").membership.base]
    grip = constraints.weld(*(ends if rng.random() < 0.7 else ends[::-1]), name="grip")
    makers = [*(m for m in missions.MAKERS if m.__name__ not in LEFT_OUT), missions._place]
    return Docking(missions.told(mission, rng, makers, 4), grip)
