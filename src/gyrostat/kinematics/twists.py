"""Twists of the bodies and their derivatives, base to tip."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..algebra import Array, Pose, cross_motion, twist_to_child
from ..model import Spacecraft

ZERO6 = np.zeros(6)  # no twist, no wrench


def body_twists(craft: Spacecraft, q: Array, v: Array, X_PB: dict[str, Pose]) -> dict[str, Array]:
    """V_NB = Ad_BP V_NP + H v_B of each body, about Bo in B."""
    V: dict[str, Array] = {}
    for B, P in craft.base_to_tip:
        joint = craft.joint(B)
        V[B] = joint.H(q) @ joint.rate(v) if joint.nv else ZERO6
        if P is not None:
            V[B] = twist_to_child(X_PB[B], V[P]) + V[B]
    return V


def joint_acceleration_bias(craft: Spacecraft, body: str, q: Array, v: Array, V_NB: Array) -> Array:
    """Hdot v + V_NB x (H v): what the joint adds to its body's acceleration besides H vdot, (6,)."""
    joint = craft.joint(body)
    if not joint.nv:
        return ZERO6
    return joint.bias(q, v) + cross_motion(V_NB, joint.H(q) @ joint.rate(v))


def body_accelerations(
    craft: Spacecraft, q: Array, v: Array, vdot: Array, X_PB: Mapping[str, Pose], V: Mapping[str, Array]
) -> dict[str, Array]:
    """A_NB = d/dt V_NB of each body, about Bo in B; V its twists."""
    A: dict[str, Array] = {}
    for B, P in craft.base_to_tip:
        joint = craft.joint(B)
        A[B] = joint.H(q) @ joint.rate(vdot) if joint.nv else ZERO6
        if P is not None:
            A[B] = twist_to_child(X_PB[B], A[P]) + A[B]
        A[B] = A[B] + joint_acceleration_bias(craft, B, q, v, V[B])
    return A
