"""Joints as constraints on the relative twist of a body and its parent, for formulations whose unknowns are the joints'
loads.

The joint of body B lets a relative twist H rate pass and holds the directions N that H leaves out, rows in B about Bo,
by the wrench N^T L on B. A geared rotor loads its joint by s = -armature vdot: one more row per rate, with compliance 1
/ armature, so that

    N (relative acceleration less what is known of it) + E L = 0,   E = diag(0, 1 / armature)                   (1)

A prescribed joint holds all six directions, and N^T L then holds its actuation too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...algebra import Array, is_zero
from ...model import Joint
from .joint_maps import joint_map
from .solution import JointMotion


class Held(NamedTuple):
    """What a joint holds and what it drives."""

    N: Array  # (r, 6): rotor rows last
    drive: Array  # (nv, 6): rates from the relative twist; none if the joint is prescribed
    E: Array  # (r, r)


def held(joint: Joint, q: Array, follows: Array | None) -> Held:
    """The joint's rows of (1) at the configuration q; `follows` is its acceleration where that is prescribed."""
    if follows is not None:
        return Held(np.eye(6), np.zeros((0, 6)), np.zeros((6, 6)))
    maps = joint_map(joint, q)
    R_iB = maps.R_Bi.T
    N, L = (np.hstack([rows[:, 1:4] @ R_iB, rows[:, 5:] @ R_iB]) for rows in (maps.Lambda, maps.L))
    r, n = len(N), joint.nv
    if not n or is_zero(joint.armature):
        return Held(N, L, np.zeros((r, r)))
    E = np.block([[np.zeros((r, r)), np.zeros((r, n))], [np.zeros((n, r)), np.eye(n) / joint.armature]])
    return Held(np.vstack([N, L]), L, E)


def joint_motion(
    joint: Joint, q: Array, rows: Held, load: Array, relative: Array, tau: Array, follows: Array | None
) -> JointMotion:
    """From the load L (r,) of (1) and the relative acceleration (6,) that the joint's own is to account for."""
    wrench = rows.N.T @ load
    if follows is not None:
        return JointMotion(follows, joint.H(q).T @ wrench + joint.armature * follows, wrench)
    given = joint.rate(tau)
    return JointMotion(rows.drive @ relative, given, wrench + rows.drive.T @ given)
