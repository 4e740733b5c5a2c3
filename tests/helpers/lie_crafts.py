"""Spacecraft for the tests of Lie-group Lagrange equations:
random trees of Lie subgroups, serial chains, and the paper's order.
"""

from __future__ import annotations

import numpy as np

import gyrostat as gs
from random_trees import ALL_KINDS, random_axis, random_inertia, random_rotation, random_spacecraft

SUBGROUPS = tuple(kind for kind in ALL_KINDS if kind != "universal")


def tree(seed: int, *, base: str | None = None, links: int | None = None) -> gs.Spacecraft:
    """Branching at the base and mid-arm, every kind that is a Lie subgroup."""
    return random_spacecraft(seed, kinds=SUBGROUPS, base=base, links=links)


def chain(
    seed: int, kinds: list[str], *, base_mass: float = 40.0, wheels: bool = False, rotors: bool = True
) -> gs.Spacecraft:
    """One open chain on a free base whose origin is not its centre of mass, with a tool; two wheels if asked for."""
    rng = np.random.default_rng(seed)
    bodies = [
        gs.Body(
            "base",
            base_mass,
            rng.normal(scale=0.2, size=3),
            random_inertia(rng, base_mass),
            gs.Joint("base_joint", "free"),
        )
    ]
    parent = "base"
    for i, kind in enumerate(kinds, start=1):
        mass = rng.uniform(1, 8)
        joint = gs.Joint(
            f"joint_{i}",
            kind,
            parent,
            rng.normal(scale=0.6, size=3),
            random_rotation(rng),
            random_axis(rng),
            (0.6, 0.8, 0.0),
            rotor_inertia=2e-4 if rotors and kind in ("revolute", "prismatic") else 0.0,
            gear_ratio=20.0,
        )
        bodies.append(gs.Body(f"link_{i}", mass, rng.normal(scale=0.3, size=3), random_inertia(rng, mass), joint))
        parent = f"link_{i}"
    if wheels:
        bodies.append(gs.Wheel("wheel_in", "base", (0, 0, 1), 0.03))
        heavy = {"mass": 0.7, "transverse_inertia": 0.02, "included": False}
        bodies.append(gs.Wheel("wheel_on", "link_1", (0, 0.6, 0.8), 0.03, position=(0.1, 0.2, 0.3), **heavy))
    return gs.Spacecraft.build(
        "chain", bodies, frames=[gs.Frame("tool", parent, (0.1, 0.2, 0.3), random_rotation(rng))]
    )


def reduced(v: np.ndarray) -> np.ndarray:
    """(w_NB_B, joint rates) of a craft on a free base."""
    return np.delete(v, [3, 4, 5])


def paper_ad(x: np.ndarray) -> np.ndarray:
    """The paper's ad of a twist that is linear first: [w^ v^; 0 w^]."""
    from gyrostat.algebra import skew

    v, w = x[:3], x[3:]
    return np.block([[skew(w), skew(v)], [np.zeros((3, 3)), skew(w)]])
