"""Mass properties as MuJoCo takes them: every wheel has a mass of its own."""

from __future__ import annotations

import numpy as np

from ..algebra import Array
from ..model import Spacecraft

SMALLEST = 1e-15  # mass and moments of a moving body: MuJoCo's mjMINVAL


def separate_inertia(craft: Spacecraft, name: str) -> tuple[float, Array, Array]:
    """(mass, centre of mass, inertia about it) as given; a wheel that its carrier includes is cut out of it as a
    thin disc."""
    body = craft.body(name)
    mass, com, inertia = float(body.mass), np.array(body.com), np.array(body.inertia)
    if body.included:
        a, disc_mass = body.joint.axis, 1e-6 * float(craft.body(str(body.parent)).mass)
        return disc_mass, np.zeros(3), inertia + 0.51 * (a @ inertia @ a) * (np.eye(3) - np.outer(a, a))
    for wheel in craft.wheels:
        if wheel.included and wheel.parent == name:
            m, _, disc = separate_inertia(craft, wheel.name)
            R, p = wheel.joint.rotation, wheel.joint.position
            rest = (mass * com - m * p) / (mass - m)
            inertia = inertia + _point(mass, com) - _point(mass - m, rest) - _point(m, p) - R @ disc @ R.T
            mass, com = mass - m, rest
    return mass, com, inertia


def _point(mass: float, p: Array) -> Array:
    """Inertia about the origin of a point mass at p."""
    return mass * (p @ p * np.eye(3) - np.outer(p, p))


def unfit(craft: Spacecraft, name: str) -> str | None:
    """Why MuJoCo refuses the body's mass properties, or None."""
    body = craft.body(name)
    if body.joint.kind == "fixed":
        return None
    if body.mass <= 0 and not (body.included and body.joint.motion.spins):
        return f"moving body '{name}' has no mass"
    moments = np.linalg.eigvalsh(separate_inertia(craft, name)[2])
    if moments[0] < SMALLEST:
        return f"moving body '{name}' has no inertia about some axis, as a point or a thin rod"
    if moments[0] + moments[1] < moments[2] * (1.0 - 1e-12):
        return f"body '{name}' has a moment of inertia larger than the sum of the other two"
    if body.joint.armature and body.joint.kind in ("planar", "free"):
        return f"joint '{body.joint.name}' has a rotor on rates that turn with the body"
    return None
