"""Random craft that bend: a flexible body somewhere in a tree, with a body, a wheel and a frame on its nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import gyrostat as gs
from random_trees import random_axis, random_inertia, random_rotation

JOINTS = ("fixed", "revolute", "spherical", "prismatic", "universal")
NODES = 3


def random_flexible(name: str, joint: gs.Joint, rng: np.random.Generator) -> gs.FlexibleBody:
    """Lumps along a line that is bent, one or two shapes of any direction, mostly with their second order, half of the
    time with damping.
    """
    n = int(rng.integers(1, 3))
    along, line = np.linspace(0.0, 1.0, NODES + 1)[1:], random_axis(rng)
    lumps = []
    for k, s in enumerate(along):
        mass = rng.uniform(0.5, 2.0)
        place = 1.2 * s * line + rng.normal(scale=0.05, size=3)
        lumps.append(gs.Node(f"n{k}", place, mass, random_inertia(rng, mass)))
    bends, turns = rng.normal(scale=0.6, size=(2, 3, n))
    G = along[:, None, None, None] ** 3 * rng.normal(scale=0.1, size=(NODES, 3, n, n))
    A, B = rng.normal(size=(2, n, n))
    return gs.FlexibleBody(
        name,
        lumps,
        along[:, None, None] ** 2 * bends,
        along[:, None, None] * turns,
        G + np.swapaxes(G, 2, 3) if rng.random() < 0.8 else None,
        stiffness=40.0 * (np.eye(n) + 0.2 * A @ A.T),
        damping=0.3 * B @ B.T if rng.random() < 0.5 else np.zeros((n, n)),
        joint=joint,
        rotary=str(rng.choice(["points", "exact"])),
    )


def bending(craft: gs.Spacecraft, rng: np.random.Generator) -> gs.Spacecraft:
    """The craft with a flexible body "boom" on one of its bodies, which carries a body, a wheel and a frame; or on a
    base that bends itself.
    """
    if rng.random() < 0.25:
        return _on_a_base_that_bends(craft, rng)
    carrier = str(rng.choice([body.name for body in craft.bodies if not body.joint.motion.spins]))
    place = {"position": rng.normal(scale=0.5, size=3), "rotation": random_rotation(rng), "axis": random_axis(rng)}
    axis2 = {"axis": (1, 0, 0), "axis2": (0, 0.6, 0.8)}
    root = gs.Joint(
        "boom_root", kind := str(rng.choice(JOINTS)), carrier, **place | (axis2 if kind == "universal" else {})
    )
    bodies = [*craft.bodies, random_flexible("boom", root, rng)]
    if rng.random() < 0.6:
        grip = {"position": rng.normal(scale=0.2, size=3), "rotation": random_rotation(rng), "axis": random_axis(rng)}
        joint = gs.Joint("grip", str(rng.choice(("fixed", "revolute", "spherical"))), _node("boom", rng), **grip)
        bodies.append(gs.Body("load", 1.5, rng.normal(scale=0.2, size=3), random_inertia(rng, 1.5), joint))
    if rng.random() < 0.4:
        own = {"mass": 0.3, "transverse_inertia": 0.02, "included": False}
        bodies.append(gs.Wheel("spinner", _node("boom", rng), random_axis(rng), 0.03, **own))
    return gs.Spacecraft.build(
        craft.name, bodies, frames=[*craft.frames, gs.Frame("eye", _node("boom", rng), (0, 0.1, 0))]
    )


def _on_a_base_that_bends(craft: gs.Spacecraft, rng: np.random.Generator) -> gs.Spacecraft:
    """What sits on the base sits on its nodes; wheels that the base includes are left out."""
    base = craft.bodies[0]
    bodies = [random_flexible(base.name, base.joint, rng)]
    for body in craft.bodies[1:]:
        joint = body.joint
        if body.parent == base.name:
            joint = replace(joint, parent=_node(base.name, rng))
        if not (body.included and body.parent == base.name):
            bodies.append(replace(body, joint=joint))
    frames = [replace(f, body=f"{base.name}.n0") if f.body == base.name else f for f in craft.frames]
    return gs.Spacecraft.build(craft.name, bodies, frames=frames)


def _node(body: str, rng: np.random.Generator) -> str:
    return f"{body}.n{int(rng.integers(NODES))}"
