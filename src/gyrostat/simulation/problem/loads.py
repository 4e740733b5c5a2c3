"""What acts at one instant; and a base that follows from the momentum."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...algebra import Array, cross, solve_spd
from ...constraints import ConstraintLoads
from ...formulations.recursive import mass_matrix
from ...model import Spacecraft


class Signals(NamedTuple):
    """Everything that acts at one instant, in gyrostat's conventions."""

    q: Array
    v: Array
    command: Array  # (nv,) what the controller asks for
    tau: Array  # (nv,) what acts in the joints: actuators, springs, friction, holding loads
    wrenches: Array  # (nbodies, 6) of the environment and of constraints
    vdot: Array  # (nv,)
    applied: Array  # (nv,) what actuators make of the command
    passive: Array  # (nv,) of springs, dampers, friction and stops
    outer: Array | None = None  # (nbodies, 6) of the environment alone
    held: ConstraintLoads | None = None  # what constraints exert, if there are any
    zdot: Array | None = None  # of the law's memory
    modal: Array | None = None  # (nv,) of the environment on modal coordinates


def base_from_momentum(craft: Spacecraft, q: Array, joint_rates: Array, momentum_N: Array) -> Array:
    """v (nv,) with those joint rates and the momentum [angular about the centre of mass; linear], for a free base.

    In the base's frame, with the centre of mass at c: h = [l_c + c x p; p] = M_bb v_b + M_bj v_j.
    """
    R_BN = craft.joint(craft.base).pose(q)[0].T
    M = mass_matrix(craft, q)
    l_c, p = R_BN @ momentum_N[:3], R_BN @ momentum_N[3:]
    c = np.array([M[2, 4], M[0, 5], M[1, 3]]) / M[3, 3]  # M_bb holds m c^
    h = np.concatenate([l_c + cross(c, p), p]) - M[:6, 6:] @ joint_rates
    return np.concatenate([solve_spd(M[:6, :6], h), joint_rates])
