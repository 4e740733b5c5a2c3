"""Frame i and mapping matrices of each joint (tables 3 to 6 of Valverde & Tsiotras 2018), from its motion map alone.

Frame i is fixed on the distal body with its origin at the joint; where a joint turns about, or slides along, one axis
only, that axis is z of frame i, as the paper has it. There the joint's twist is `w^i_{i/k} = H rate` with dual
quaternion columns, and

    rate = L w^i_{i/k}                      L = (H^T H)^-1 H^T                     table 6
    Lambda w^i_{i/k} = 0                    rows of Lambda: what H leaves out      table 4
    reaction wrench = V T                   V = X Lambda^T, forces first           table 4
    actuation wrench = V_act tau            V_act = X L^T                          table 5

with X the swap. For joints R, P, S, C, U these are the paper's matrices, for every other kind they follow from H alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...algebra import Array, cross, dual_twist, dual_wrench, frame_along, is_zero, norm, snapped, solve_spd
from ...model import Joint


class JointMap(NamedTuple):
    """Frame i of a joint with d rates, and its matrices in it; r = 6 - d."""

    R_Bi: Array  # (3, 3), constant
    H: Array  # (8, d)
    L: Array  # (d, 8)
    Lambda: Array  # (r, 8)
    V: Array  # (8, r)
    V_act: Array  # (8, d)
    Pi: Array  # (r, r), the permutation with Lambda = Pi V^T X


def joint_map(joint: Joint, q: Array) -> JointMap:
    """The matrices of a joint at the configuration q of the craft."""
    H_B = joint.H(q)
    turns = [column[:3] for column in H_B.T if _vanishes(column[3:])]
    slides = [column[3:] for column in H_B.T if _vanishes(column[:3])]
    one = turns if len(turns) == 1 else slides if len(slides) == 1 and not turns else None
    R_Bi = frame_along(one[0]) if one else np.eye(3)
    H = np.concatenate([snapped(R_Bi.T @ H_B[:3]), snapped(R_Bi.T @ H_B[3:])])
    no_turn = _complement([snapped(R_Bi.T @ a) for a in turns])
    no_slide = _complement([snapped(R_Bi.T @ a) for a in slides])
    L = solve_spd(H.T @ H, H.T) if joint.nv else np.zeros((0, 6))
    held_turns = np.concatenate([no_turn, np.zeros_like(no_turn)])
    held_slides = np.concatenate([np.zeros_like(no_slide), no_slide])
    return JointMap(
        R_Bi,
        dual_twist(H),
        dual_twist(L.T).T,
        dual_twist(np.hstack([held_turns, held_slides])).T,
        dual_wrench(np.hstack([held_slides, held_turns])),
        dual_wrench(L.T),
        _exchange(no_turn.shape[1], no_slide.shape[1]),
    )


def all_held(joint_map: JointMap) -> JointMap:
    """The same joint when its motion is prescribed: all six components react, V = E15^T and Lambda = E15."""
    E15 = np.delete(np.eye(8), (0, 4), axis=0)
    return joint_map._replace(Lambda=E15, V=E15.T, Pi=_exchange(3, 3))


def screw_joint(joint: Joint, q: Array) -> bool:
    """True if some rate both turns and slides: then turning and sliding constraints do not separate as the tables
    need.
    """
    return any(not _vanishes(column[:3]) and not _vanishes(column[3:]) for column in joint.H(q).T)


def _complement(axes: list[Array]) -> Array:
    """Orthonormal columns (3, 3 - n) that span what n directions leave out."""
    if len(axes) == 0:
        return np.eye(3)
    if len(axes) == 1:
        return frame_along(axes[0])[:, :2]
    if len(axes) == 2:
        normal = cross(axes[0], axes[1])
        return (normal / norm(normal))[:, None]
    return np.zeros((3, 0))


def _exchange(turns: int, slides: int) -> Array:
    """Takes components ordered slides, turns to the order turns, slides."""
    return np.block([[np.zeros((turns, slides)), np.eye(turns)], [np.eye(slides), np.zeros((slides, turns))]])


def _vanishes(x: Array) -> bool:
    return all(is_zero(e) for e in x)
