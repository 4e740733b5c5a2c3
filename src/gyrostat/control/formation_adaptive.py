"""Adaptive six-degree-of-freedom tracking: mass, centre of mass and inertia unknown, learnt on the way.

The skew Coriolis choice (55') is linear in the ten parameters a = (m, m c, I_o), as M is, so

    M vdot_r + C(w) v_r = Y a                                                                                  (1)
    tau = Y a^ - K s,     a^' = -Gamma Y^T s                                                                  (2)

makes 1/2 s^T M s + 1/2 (a^ - a)^T Gamma^-1 (a^ - a) fall as -s^T K s. The error goes to zero; the parameters need not become true.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import Array, RigidInertia, inertia_components, inertia_matrix, rigid_inertia, rotation
from ..formulations.spatial_forms import coriolis
from ..model import Spacecraft
from .controller import Controller
from .formation_reference import Target
from .formation_tracking import reference_motion


def parameters_of(mass: Any, com: Any, inertia: Any) -> Array:
    """a (10,): mass, first moment, and (xx, xy, xz, yy, yz, zz) of the inertia about the base's origin."""
    M = rigid_inertia(mass, np.asarray(com), np.asarray(inertia))
    return np.concatenate([[M.m], M.h, inertia_components(M.I_o)])


def rigid_regressor(V: Array, V_r: Array, Vdot_r: Array) -> Array:
    """Y (6, 10) of (1)."""
    columns = []
    for unit in np.eye(10):
        M = RigidInertia(unit[0], unit[1:4], inertia_matrix(unit[4:])).matrix
        columns.append(M @ Vdot_r + coriolis(M, V, "skew") @ V_r)
    return np.stack(columns, axis=1)


def adaptive_law(
    target: Callable[..., Target],
    guess: Any,
    *,
    bandwidth: float = 0.1,
    damping: float = 1.0,
    adaptation: Any = 1.0,
    gravity: Callable[[Any, Array], Array] | None = None,
) -> Controller:
    """A Controller with memory a^ (10,) that brings a rigid craft to target(craft, t) without knowing its mass properties (2).

    guess: a^ to begin with, by `parameters_of`. damping: K in N m s and N s/m. adaptation: Gamma, a number or ten of them.
    gravity(t, p_N) -> (3,): a field that pulls in proportion to the mass, as differential gravity does; its pull is learnt with it.
    """
    gains = np.broadcast_to(np.asarray(adaptation, dtype=float), (10,))

    def motion(craft: Spacecraft, t: Any, q: Array, v: Array) -> tuple[Array, Array]:
        reference, s = reference_motion(craft, q, v, target(craft, t), bandwidth)
        vdot = reference.vdot
        if gravity is not None:
            vdot = vdot - np.concatenate([np.zeros(3), rotation(q[:4]).T @ gravity(t, q[4:7])])
        return rigid_regressor(v, reference.v, vdot), s

    def output(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array) -> Array:
        if craft.nv != 6:
            raise ValueError(f"the adaptive law flies rigid craft; {craft.name} has {craft.nv} degrees of freedom.")
        Y, s = motion(craft, t, q, v)
        return Y @ z - damping * s

    def derivative(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array) -> Array:
        Y, s = motion(craft, t, q, v)
        return -gains * (Y.T @ s)

    return Controller(output, np.asarray(guess, dtype=float), derivative=derivative)
