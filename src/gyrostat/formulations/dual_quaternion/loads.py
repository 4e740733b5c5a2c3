"""Known wrenches on each body about its centre of mass: the part of (55) that no joint carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...algebra import Array, dq_cross, dq_swap, dq_to_child, dq_to_parent, dual_wrench, wrench_from_dual
from ...kinematics.arguments import Acting
from ...model import Spacecraft
from ..common.carriers import load_on_carrier
from .kinematics import Frames, Motion


def known_wrench(craft: Spacecraft, f: Frames, m: Motion, B: str, acting: Acting) -> Array:
    """-w_b x (M w_b^s) + W_b, with W_b the external wrench and that of the wheels, in frame b, (8,)."""
    w, R_Bi = m.w[B], f.map[B].R_Bi
    F = load_on_carrier(craft, B, f.carrier[B], R_Bi @ w[1:4], m.v, acting)
    W = dual_wrench(np.concatenate([R_Bi.T @ F[:3], R_Bi.T @ F[3:]]))  # about the joint, in frame i
    return dq_to_child(f.X_ib[B], W) - dq_cross(w, f.M[B] @ dq_swap(w))  # (55), (18)


def end_effector_wrenches(craft: Spacecraft, at: Mapping[str, Any]) -> Array:
    """`wrenches` (nbodies, 6) of wrenches [torque; force] at named frames G, each about Go in G: q_{G/B} W q*_{G/B}
    (55), (19).
    """
    rows: dict[str, Array] = {B: np.zeros(6) for B, _ in craft.base_to_tip}
    for frame, F in at.items():
        body, X_BG = craft.locate(frame)
        F = np.asarray(F)
        if F.shape != (6,):
            raise ValueError(
                f"wrench at '{frame}' has shape {F.shape}; expected (6,): [torque; force] about the frame's origin."
            )
        rows[body] = rows[body] + wrench_from_dual(dq_to_parent(X_BG, dual_wrench(F)))
    return np.array([rows[B] for B, _ in craft.base_to_tip])
