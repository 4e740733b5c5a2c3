"""Twists of the bodies and their derivatives, base to tip."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..algebra import Array, Pose, cross_motion, twist_to_child
from ..model import Spacecraft
from .flexible import carried_bias, carried_twist

ZERO6 = np.zeros(6)  # no twist, no wrench


def body_twists(craft: Spacecraft, q: Array, v: Array, X_PB: dict[str, Pose]) -> dict[str, Array]:
    """V_NB = Ad_BP V_NP + H v_B of each body, about Bo in B; on a node of a flexible body, with what its shape adds."""
    V: dict[str, Array] = {}
    for B, P in craft.base_to_tip:
        joint = craft.joint(B)
        V[B] = joint.H(q) @ joint.rate(v) if joint.nv else ZERO6
        if P is not None:
            V[B] = twist_to_child(X_PB[B], V[P]) + V[B]
        if joint.mount is not None:
            V[B] = V[B] + carried_twist(joint, q, v)
    return V


def joint_acceleration_bias(craft: Spacecraft, body: str, q: Array, v: Array, V_NB: Array) -> Array:
    """Hdot v + V_NB x (H v): what the joint adds to its body's acceleration besides H vdot, (6,); on a node of a
    flexible body, with what the node adds besides S edd.
    """
    joint = craft.joint(body)
    own = joint.bias(q, v) + cross_motion(V_NB, joint.H(q) @ joint.rate(v)) if joint.nv else ZERO6
    return own if joint.mount is None else own + carried_bias(joint, q, v, V_NB)


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
        if joint.mount is not None:
            A[B] = A[B] + carried_twist(joint, q, vdot)
        A[B] = A[B] + joint_acceleration_bias(craft, B, q, v, V[B])
    return A
