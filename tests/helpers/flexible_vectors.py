"""Spacecraft and states of `../shared/data/flexible_vectors.json`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat.algebra import exp_so3
from shared_files import shared


def vectors() -> Any:
    return json.loads(shared("data/flexible_vectors.json").read_text())


def craft_of(case: Any, **options: Any) -> gs.Spacecraft:
    """Nodes are named n0, n1, ...; a lump's own inertia counts as it is."""
    bodies: list[Any] = []
    for given in case["bodies"]:
        joint = given["joint"]
        place = {"position": joint.get("p", (0, 0, 0)), "rotation": exp_so3(np.array(joint.get("rotvec", (0.0, 0, 0))))}
        node = f"n{given['node']}" if "node" in given else ""
        own = gs.Joint(
            f"{given['name']}_joint",
            joint["kind"],
            given.get("parent"),
            axis=joint.get("axis", (0, 0, 1)),
            node=node,
            **place,
        )
        if "lumps" not in given:
            bodies.append(gs.Body(given["name"], given["mass"], given["com"], given["inertia"], own))
            continue
        lumps = given["lumps"]
        nodes = [gs.Node(f"n{k}", lump["r"], lump["m"], lump.get("J", (0.0, 0.0, 0.0))) for k, lump in enumerate(lumps)]
        G = [lump["G"] for lump in lumps] if "G" in lumps[0] else None
        Phi, Psi = [lump["Phi"] for lump in lumps], [lump["Psi"] for lump in lumps]
        bodies.append(
            gs.FlexibleBody(
                given["name"],
                nodes,
                Phi,
                Psi,
                G,
                given["K"],
                damping=given["D"],
                joint=own,
                **{"rotary": "exact", **options},
            )
        )
    return gs.Spacecraft.build(case["name"], bodies)
