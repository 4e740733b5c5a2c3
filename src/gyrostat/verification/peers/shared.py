"""What both peers need to hold a gyrostat spacecraft."""

from __future__ import annotations

import numpy as np

from ...algebra import Array
from ...model import Spacecraft


def own_inertia(craft: Spacecraft, name: str) -> tuple[float, Array, Array]:
    """Mass, centre of mass and inertia about it of one body;
    the spin inertia of wheels that it includes is taken out.
    """
    body = craft.body(name)
    inertia = np.array(body.inertia)
    for wheel in craft.wheels:
        if wheel.included and wheel.parent == name:
            R = wheel.joint.rotation
            inertia = inertia - R @ wheel.inertia @ R.T
    return body.mass, np.array(body.com), inertia


def plane_axes(axis: Array) -> Array:
    """R_JA whose z is `axis` and whose x is the planar joint's first direction:
    nearest to x, or to y if the normal is near x.
    """
    near = np.array([0.0, 1.0, 0.0]) if abs(axis[0]) > 0.9 else np.array([1.0, 0.0, 0.0])
    second = np.cross(axis, near)
    second /= np.linalg.norm(second)
    return np.column_stack([np.cross(second, axis), second, axis])


def depth_first(craft: Spacecraft) -> list[str]:
    """Body names, each branch finished before the next begins, wheels included."""
    children: dict[str, list[str]] = {}
    for body in craft.bodies[1:]:
        children.setdefault(str(body.parent), []).append(body.name)
    order, stack = [], [craft.base]
    while stack:
        order.append(stack.pop())
        stack += reversed(children.get(order[-1], []))
    return order


def swapped(x: Array) -> Array:
    """[angular; linear] from [linear; angular], and back; rows of a matrix likewise."""
    return np.concatenate([x[3:], x[:3]])
