"""What a formulation with joint loads as unknowns finds: per joint, then in gyrostat's order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...algebra import Array
from ...model import Spacecraft


class JointMotion(NamedTuple):
    """What the joint of a body does and carries."""

    vdot: Array  # (its nv,)
    tau: Array  # (its nv,): given where the joint is free, its holding load where it is prescribed
    wrench: Array  # (6,) through the joint on the body, about Bo in B


class Solution(NamedTuple):
    """Accelerations, joint wrenches and loads in gyrostat's order."""

    vdot: Array  # (nv,)
    reaction_wrenches: Array  # (nbodies, 6), as gs.reaction_wrenches
    tau: Array  # (nv,): given where a joint is free, its holding load where it is prescribed


def in_order(craft: Spacecraft, joints: Mapping[str, JointMotion]) -> Solution:
    """The joints of all bodies, by body name, in the order of the craft."""
    found = [joints[B] for B, _ in craft.base_to_tip]
    vdot, tau = np.concatenate([joint.vdot for joint in found]), np.concatenate([joint.tau for joint in found])
    return Solution(vdot, np.array([joint.wrench for joint in found]), tau)
