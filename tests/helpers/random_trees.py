"""Random spacecraft for tests: branching at the base and mid-arm, any axes, every joint kind.

Seeds fixed by the caller.
"""

from __future__ import annotations

import numpy as np

import gyrostat as gs
from gyrostat.algebra import rotation

ALL_KINDS = (
    "revolute",
    "prismatic",
    "spherical",
    "cylindrical",
    "cartesian",
    "universal",
    "planar",
    "fixed",
    "free",
    "wheel",
)
BASES = ("free", "fixed", "spherical", "planar")


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    return rotation(rng.normal(size=4))


def random_axis(rng: np.random.Generator) -> np.ndarray:
    """Half of the time a coordinate axis, half of the time any."""
    if rng.random() < 0.5:
        return rng.choice([-1.0, 1.0]) * np.eye(3)[rng.integers(3)]
    a = rng.normal(size=3)
    return a / np.linalg.norm(a)


def random_inertia(rng: np.random.Generator, mass: float) -> np.ndarray:
    """Inertia about the centre of mass of a cloud of points: physical by construction."""
    points = rng.normal(scale=rng.uniform(0.2, 0.6), size=(6, 3))
    points -= points.mean(axis=0)
    return mass / 6 * sum((p @ p) * np.eye(3) - np.outer(p, p) for p in points)


def _spin_inertia(carrier: gs.Body) -> float:
    """Of a thin disc (half of it about its diameters) small enough for ten such to be part of the carrier."""
    I = carrier.inertia
    return 0.2 * float(np.linalg.eigvalsh(0.5 * np.trace(I) * np.eye(3) - I)[0])


def random_spacecraft(
    seed: int, *, links: int | None = None, kinds=ALL_KINDS, base: str | None = None, rotors: bool = True
) -> gs.Spacecraft:
    """A tree whose third body branches at the base and whose fourth branches mid-arm."""
    rng = np.random.default_rng(seed)
    links = int(rng.integers(3, 9)) if links is None else links
    base = str(rng.choice(BASES, p=[0.7, 0.1, 0.1, 0.1])) if base is None else base
    mass = rng.uniform(5, 50)
    bodies = [
        gs.Body(
            "base",
            mass,
            rng.normal(scale=0.2, size=3),
            random_inertia(rng, mass),
            gs.Joint("base_joint", base, axis=random_axis(rng)),
        )
    ]
    carriers = ["base"]
    for i in range(1, links + 1):
        kind = str(kinds[int(rng.integers(len(kinds)))])
        parent = {1: "base", 2: carriers[-1], 3: "base", 4: carriers[min(1, len(carriers) - 1)]}.get(
            i, carriers[int(rng.integers(len(carriers)))]
        )
        if kind == "wheel":
            included = bool(rng.random() < 0.5)
            own = {} if included else {"mass": rng.uniform(0.1, 1), "transverse_inertia": 0.02}
            spin = _spin_inertia(next(body for body in bodies if body.name == parent)) if included else 0.03
            bodies.append(
                gs.Wheel(
                    f"body_{i}", parent, random_axis(rng), spin, position=rng.normal(size=3), included=included, **own
                )
            )
            continue
        mass = rng.uniform(0.5, 10)
        joint = gs.Joint(
            f"joint_{i}",
            kind,
            parent,
            rng.normal(scale=0.7, size=3),
            random_rotation(rng) if rng.random() < 0.7 else np.eye(3),
            random_axis(rng),
            random_axis(rng) if kind == "universal" else (0, 1, 0),
            rotor_inertia=rng.uniform(0, 1e-3)
            if rotors and kind in ("revolute", "prismatic") and rng.random() < 0.5
            else 0.0,
            gear_ratio=20.0,
        )
        if kind == "universal" and abs(joint.axis @ joint.axis2) > 0.95:
            joint = gs.Joint(f"joint_{i}", kind, parent, joint.position, joint.rotation, (1, 0, 0), (0, 0.6, 0.8))
        bodies.append(gs.Body(f"body_{i}", mass, rng.normal(scale=0.4, size=3), random_inertia(rng, mass), joint))
        carriers.append(f"body_{i}")
    tip = carriers[-1]
    return gs.Spacecraft.build(
        f"tree_{seed}", bodies, frames=[gs.Frame("tool", tip, rng.normal(size=3), random_rotation(rng))]
    )


def random_state(craft: gs.Spacecraft, seed: int, speed: float = 1.0):
    """q on the manifold (quaternions of norm one) and v."""
    rng = np.random.default_rng(seed)
    q = gs.step_configuration(craft, gs.neutral(craft), rng.normal(size=craft.nv))
    return q, speed * rng.normal(size=craft.nv)
