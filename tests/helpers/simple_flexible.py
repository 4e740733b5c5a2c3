"""A boom of four lumps with two polynomial shapes, and a craft that carries it: quick to build, off-axis, with all
kinds of things on its nodes.
"""

from __future__ import annotations

import numpy as np

import gyrostat as gs


def boom(nodes: int = 4, name: str = "boom", **options):
    """Along x, two bending shapes x^2 and x^3 in y and z, with the shortening that they cause."""
    x = np.linspace(0.0, 1.5, nodes + 1)[1:]
    Phi, Psi, G = np.zeros((nodes, 3, 2)), np.zeros((nodes, 3, 2)), np.zeros((nodes, 3, 2, 2))
    Phi[:, 1, 0], Psi[:, 2, 0] = x**2, 2 * x
    Phi[:, 2, 1], Psi[:, 1, 1] = x**3, -3 * x**2
    G[:, 0, 0, 0], G[:, 0, 1, 1] = -4 * x**3 / 3, -9 * x**5 / 5
    lumps = [gs.Node(f"n{k}", (r, 0, 0), 1.0 + 0.1 * k, (0.01, 0.02, 0.025)) for k, r in enumerate(x)]
    return gs.FlexibleBody(name, lumps, Phi, Psi, G, [60.0, 45.0], **options)


def boom_craft(name: str = "c", base: str = "free", **options):
    hub = gs.Body("hub", 10.0, (0.1, 0.0, 0.0), (2.0, 3.0, 4.0), gs.Joint("base", base))
    own = boom(joint=gs.Joint("root", "revolute", "hub", (0.5, 0.0, 0.2), axis=(0, 0, 1)), **options)
    tool = gs.Body("tool", 2.0, (0.2, 0, 0.1), (0.1, 0.2, 0.25), gs.Joint("wrist", "revolute", "boom.n3", (0.1, 0, 0)))
    wheel = gs.Wheel("wheel", "boom.n1", (0.6, 0, 0.8), 0.05, mass=0.4, transverse_inertia=0.03, included=False)
    return gs.Spacecraft.build(name, [hub, own, tool, wheel], frames=[gs.Frame("eye", "boom.n2", (0, 0.1, 0))])
