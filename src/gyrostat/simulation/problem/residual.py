"""What accelerations and multipliers satisfy, with nothing solved for: short, and so are its derivatives.

    ID(q, v, a, wrenches + those of l) - tau = 0,    G V_12dot + gamma + stabilisation = 0                      (1)

A prescribed joint has the row a - given instead of its balance of loads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...algebra import Array
from ...constraints.loads import accelerations, body_wrenches, constrained, stabilised, stacked_columns
from ...formulations.recursive import inverse_dynamics
from ...kinematics import body_accelerations, body_twists, inertial_poses, joint_poses
from ...kinematics.relative_motion import Kinematics

if TYPE_CHECKING:
    from .equations import Equations


class Residual(NamedTuple):
    """balance: of loads, (nv,); errors: of the constraints' accelerations, (rows,)."""

    balance: Array
    errors: Array


def residual(equations: Equations, x: Array, a: Array, multipliers: Array) -> Residual:
    """(1) at x, for any accelerations and multipliers."""
    craft, t, q, v = equations.own_craft(x), equations.time(x), x[equations.layout["q"]], equations.velocity(x)
    acting = equations.acting(x)
    wrenches = acting.wrenches
    errors: list[Array] = []
    if equations.constraints:
        X_PB = joint_poses(craft, q)
        at = Kinematics(inertial_poses(craft, q), body_twists(craft, q, v, X_PB))
        held = [constrained(craft, at, constraint) for constraint in equations.constraints]
        columns, _ = stacked_columns(at, held)
        pull = body_wrenches(craft, columns, multipliers)
        wrenches = pull if wrenches is None else wrenches + pull
        errors = accelerations(t, at, held, body_accelerations(craft, q, v, a, X_PB, at.V))
        errors = stabilised(t, errors, held, equations.stabilisation)
    balance = np.array(inverse_dynamics(craft, q, v, a, wrenches=wrenches) - acting.tau, dtype=object)
    for name, given in acting.follows.items():
        rows = craft.joint_named(name).v_at
        balance[rows] = a[rows] - given
    return Residual(balance, np.concatenate([np.zeros(0), *errors]))
