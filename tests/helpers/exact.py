"""Fifty digits and more: the same functions on mpmath numbers, and derivatives along a motion by differences that are
exact to thirty digits. So laws need no tolerance of their own, and float results get a true error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np

import gyrostat as gs
from gyrostat.algebra import quat_from_rotation, rotation

mp = mpmath.MPContext()  # its own context: no global precision is touched
mp.dps = 70
TINY = mp.mpf(10) ** -20  # step of differences: their error is some TINY^2 = 1e-40, their round-off 1e-50


def exact(x: Any) -> np.ndarray:
    """Numbers as mpmath numbers of the same value, in an array of the same shape."""
    x = np.asarray(x)
    out = np.empty(x.shape, dtype=object)
    for at in np.ndindex(x.shape):
        out[at] = x[at] if isinstance(x[at], mp.mpf) else mp.mpf(float(x[at]))
    return out


def exact_scalar(x: Any) -> Any:
    return exact(x)[()]


def floats(x: Any) -> np.ndarray:
    return np.asarray(x).astype(float)


def exact_rotation(R: np.ndarray) -> np.ndarray:
    """The rotation nearest to R as far as floats can say, orthogonal to all digits."""
    return rotation(exact(quat_from_rotation(np.array(R))))


def exact_axis(a: np.ndarray) -> np.ndarray:
    a = exact(a)
    return a / mp.sqrt(a @ a)


def exact_craft(craft: gs.Spacecraft) -> gs.Spacecraft:
    """The craft with mpmath numbers for mass properties and geometry,
    its axes and rotations normalised to all digits.
    """
    bodies = []
    for body in craft.bodies:
        joint = replace(
            body.joint,
            position=exact(body.joint.position),
            rotation=exact_rotation(body.joint.rotation),
            axis=exact_axis(body.joint.axis),
            axis2=exact_axis(body.joint.axis2),
            rotor_inertia=exact_scalar(body.joint.rotor_inertia),
            gear_ratio=exact_scalar(body.joint.gear_ratio),
        )
        a, inertia = joint.axis, exact(body.inertia)
        if joint.kind == "wheel":  # axisymmetric to all digits
            spin, across = a @ inertia @ a, (np.trace(inertia) - a @ inertia @ a) / 2
            inertia = across * (np.eye(3) - np.outer(a, a)) + spin * np.outer(a, a)
        inertia = (inertia + inertia.T) / 2
        bodies.append(replace(body, mass=exact_scalar(body.mass), com=exact(body.com), inertia=inertia, joint=joint))
    frames = [replace(f, position=exact(f.position), rotation=exact_rotation(f.rotation)) for f in craft.frames]
    return replace(craft, bodies=tuple(bodies), frames=tuple(frames))


def rate(function: Callable[[Any, Any], Any], craft: gs.Spacecraft, q: Any, v: Any, vdot: Any = None) -> Any:
    """d/dt function(q, v) along the motion with velocity v and acceleration vdot: all arguments exact."""
    qdot = gs.configuration_rate(craft, q, v)
    vdot = 0 * v if vdot is None else vdot
    later = function(q + TINY * qdot, v + TINY * vdot)
    return (later - function(q - TINY * qdot, v - TINY * vdot)) / (2 * TINY)


def size(x: Any) -> float:
    """Largest absolute entry."""
    return max((float(abs(e)) for e in np.asarray(x).ravel()), default=0.0)
