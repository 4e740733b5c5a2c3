"""What acts at one instant, and what it changes: momentum by the external wrench, kinetic energy by the power."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, Pose, inverse, solve_spd, wrench_to_parent
from ...constraints import ConstraintLoads
from ...formulations.recursive import mass_matrix
from ...formulations.recursive.newton_euler import joint_wrenches
from ...kinematics import body_twists, inertial_poses, joint_poses
from ...model import Spacecraft


class Signals(NamedTuple):
    """Everything that acts at one instant, in gyrostat's conventions."""

    q: Array
    v: Array
    command: Array  # (nv,) what the controller asks for
    tau: Array  # (nv,) what acts in the joints: actuators, springs, friction, holding loads
    wrenches: Array  # (nbodies, 6) of the environment and of constraints
    vdot: Array  # (nv,)
    held: ConstraintLoads | None = None  # what constraints exert, if there are any


def external_wrench(craft: Spacecraft, s: Signals) -> Array:
    """Wrench of everything outside the craft, about the inertial origin, in N: what the momentum changes by, (6,)."""
    X_NB = inertial_poses(craft, s.q)
    base = craft.joint(craft.base)
    if base.motion.unbound:
        on_base = s.tau[base.v_at]
    else:
        on_base = joint_wrenches(craft, s.q, s.v, s.vdot, s.wrenches)[craft.base]
    total = wrench_to_parent(X_NB[craft.base], on_base)
    for (B, _), wrench in zip(craft.base_to_tip, s.wrenches, strict=True):
        if any(not (isinstance(w, float) and w == 0.0) for w in wrench):
            total = total + wrench_to_parent(X_NB[B], wrench)
    return total


def environment_power(craft: Spacecraft, s: Signals) -> Any:
    """Power of the environment's and the constraints' wrenches in W."""
    V = body_twists(craft, s.q, s.v, joint_poses(craft, s.q))
    return sum(wrench @ V[B] for (B, _), wrench in zip(craft.base_to_tip, s.wrenches, strict=True))


def base_from_momentum(craft: Spacecraft, q: Array, joint_rates: Array, momentum_N: Array) -> Array:
    """v (nv,) with those joint rates and the momentum [angular; linear] about the inertial origin, for a free base.

    In the base's frame: h = M_bb v_b + M_bj v_j.
    """
    X_NB = Pose(*craft.joint(craft.base).pose(q))
    M = mass_matrix(craft, q)
    h = wrench_to_parent(inverse(X_NB), momentum_N) - M[:6, 6:] @ joint_rates
    return np.concatenate([solve_spd(M[:6, :6], h), joint_rates])
