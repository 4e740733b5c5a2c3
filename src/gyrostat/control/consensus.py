"""Attitude synchronisation by consensus: each member turns towards the neighbours it sees, until all point the same
way.

    torque_i = k sum_j a_ij e_ij - d sum_j a_ij (w_i - R_ij w_j) - damping w_i

with e_ij the attitude error of i from j (`attitude_error`). Neighbours see each other: the torques then come from a
potential of the relative attitudes, and die out where they agree. No leader, and no common reference, is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import Array, cross, is_symbolic, rotation
from ..model import Spacecraft
from .demands import demand_free_base
from .detumble import angular_momentum_in_base
from .errors import attitude_error


def attitude_consensus(stiffness: float, damping: float, *, own_damping: float = 0.0) -> Callable[..., Array]:
    """A law for a `Coupling` that sees several members as "near": torques on the base in N m/rad and N m s/rad.

    The gyroscopic torque w x h is compensated, h the angular momentum of the whole craft, arms and wheels included,
    about its centre of mass: h in base axes then changes by the consensus alone.

    Torques are N m, (nv,). Raises ValueError where the base is turned in its joint, as quaternions in q are
    compared.
    """

    def law(craft: Spacecraft, t: Any, q: Array, v: Array, q_near: Array, v_near: Array, weight_near: Array) -> Array:
        base = demand_free_base(craft, "attitude_consensus")
        if is_symbolic(base.rotation) or not np.array_equal(base.rotation, np.eye(3)):
            raise ValueError(
                f"attitude_consensus compares quaternions in q; the base of {craft.name} is turned in its joint "
                f"'{base.name}'. Leave its rotation out, and start from another attitude instead."
            )
        w, R = v[:3], rotation(q[:4])
        torque = cross(w, angular_momentum_in_base(craft, q, v)) - own_damping * w
        for k in range(len(weight_near)):
            R_ij = R.T @ rotation(q_near[k][:4])
            pull = stiffness * attitude_error(q[:4], q_near[k][:4]) - damping * (w - R_ij @ v_near[k][:3])
            torque = torque + weight_near[k] * pull
        return np.concatenate([torque, np.zeros(craft.nv - 3)])

    return law
