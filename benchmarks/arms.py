"""Arms on a free base, of any length, and random states of them."""

from __future__ import annotations

import numpy as np

import gyrostat as gs

# Wilde et al. (2018), tables 5 and 6: mass, principal inertia, centre of mass; then placement on the parent (axis,
# angle, offset)
BASE = (1700.0, (1434.0, 1434.0, 1735.0), (0.0, 0.0, 0.0))
LINKS = (
    (5.0, (0.0292, 0.0292, 0.0063), (0.0, 0.0, 0.125), "y", 0.5, (1.75, 0.0, 0.0)),
    (50.0, (0.0625, 26.1, 26.1), (1.25, 0.0, 0.0), "x", 0.5, (0.0, 0.0, 0.25)),
    (50.0, (0.0625, 26.1, 26.1), (1.25, 0.0, 0.0), "x", 0.0, (2.5, 0.0, 0.0)),
    (10.0, (0.0125, 0.215, 0.215), (0.25, 0.0, 0.0), "x", 0.0, (2.5, 0.0, 0.0)),
    (5.0, (0.0063, 0.0292, 0.0292), (0.125, 0.0, 0.0), "x", -0.5, (0.5, 0.0, 0.0)),
    (5.0, (0.0063, 0.0292, 0.0292), (0.125, 0.0, 0.0), "x", 0.0, (0.25, 0.0, 0.0)),
)


def _turn(axis: str, half_turns: float) -> np.ndarray:
    c, s = np.cos(np.pi * half_turns), np.sin(np.pi * half_turns)
    return np.array({"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]]}[axis])


def arm(links: int) -> gs.Spacecraft:
    """The six-link arm of Wilde et al. (2018); longer ones repeat its links."""
    bodies = [gs.Body("base", BASE[0], BASE[2], np.diag(BASE[1]), gs.Joint("base_joint", "free"))]
    for k in range(links):
        mass, inertia, com, axis, angle, offset = LINKS[k % len(LINKS)]
        joint = gs.Joint(f"joint_{k + 1}", "revolute", bodies[-1].name, offset, _turn(axis, angle))
        bodies.append(gs.Body(f"link_{k + 1}", mass, com, np.diag(inertia), joint))
    return gs.Spacecraft.build(f"arm_{links}", bodies)


def states(craft: gs.Spacecraft, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q (count, nq), v and tau (count, nv), random."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(count, craft.nq))
    q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    return q, rng.normal(size=(count, craft.nv)), rng.normal(size=(count, craft.nv))


def random_arm(links: int, seed: int = 0) -> gs.Spacecraft:
    """An arm of revolute joints with general frames, axes and inertias on a free base, as one is read from a file."""
    rng = np.random.default_rng(seed)

    def inertia(mass: float) -> np.ndarray:
        points = rng.normal(scale=0.3, size=(6, 3))
        points -= points.mean(axis=0)
        return mass / 6 * sum((p @ p) * np.eye(3) - np.outer(p, p) for p in points)

    bodies = [gs.Body("base", 20.0, rng.normal(scale=0.2, size=3), inertia(20.0))]
    for k in range(links):
        R, axis = gs.algebra.rotation(rng.normal(size=4)), rng.normal(size=3)
        joint = gs.Joint(f"joint_{k}", "revolute", bodies[-1].name, rng.normal(scale=0.5, size=3), R, axis)
        bodies.append(gs.Body(f"link_{k}", 3.0, rng.normal(scale=0.3, size=3), inertia(3.0), joint))
    return gs.Spacecraft.build(f"random_arm_{links}", bodies)
