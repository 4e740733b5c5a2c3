"""The loads that constraints exert on a spacecraft, and what their multipliers mean.

    G (V_12dot at vdot_free) + gamma + 2 z w (G V_12 - fdot) + w^2 psi = e                                           (1)
    A lambda = -e,    A = Pi M^-1 Pi^T                                                                               (2)

vdot_free: the accelerations without constraints. The terms with z, w are Baumgarte's: violations die out as those of an
oscillator of frequency w and damping ratio z; rows that are not holonomic have no psi. Redundant rows get multipliers
of least norm; the accelerations do not depend on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, Pose
from ..algebra.semidefinite import least_norm_solution
from ..formulations.recursive import forward_dynamics
from ..kinematics import body_accelerations, body_twists, inertial_poses, joint_poses
from ..kinematics.arguments import configuration, prescribed_rates, rates
from ..kinematics.relative_motion import (
    FrameMotion,
    Kinematics,
    frame_acceleration,
    frame_motion,
    load_columns,
    relative_acceleration,
    relative_pose,
    relative_twist,
)
from ..model import Spacecraft
from .kinds import AbstractConstraint
from .tree import articulated_inertias, free_response, inverse_inertia_at


class Stabilisation(NamedTuple):
    """Baumgarte's: violations die out like an oscillator of `frequency` (rad/s) and `damping` ratio. Zero: none."""

    frequency: float = 1.0
    damping: float = 1.0


NO_STABILISATION = Stabilisation(0.0, 0.0)  # errors of position stay and errors of velocity grow into them
USUAL = Stabilisation()  # errors die out within seconds, without swinging


class ConstraintLoads(NamedTuple):
    """What constraints exert at one instant."""

    multipliers: Array  # (rows,)
    wrenches: Array  # (nbodies, 6), about Bo in B: what all constraints together exert on each body
    on_second: Array  # (constraints, 6): [torque; force] of each on its second frame, about that frame's origin, in N


class Constrained(NamedTuple):
    """One constraint at one instant."""

    constraint: AbstractConstraint
    one: FrameMotion
    two: FrameMotion
    X_12: Pose
    V_12: Array
    G: Array


def constraint_loads(
    craft: Spacecraft,
    t: Any,
    q: Array,
    v: Array,
    tau: Array,
    constraints: Sequence[AbstractConstraint],
    *,
    wrenches: Any = None,
    prescribed: Mapping[str, Any] | None = None,
    stabilisation: Stabilisation = USUAL,
) -> ConstraintLoads:
    """Multipliers and wrenches of the constraints under tau and external wrenches, (1) and (2)."""
    q, v, tau = configuration(craft, q), rates(craft, v), rates(craft, tau, "tau")
    free = forward_dynamics(craft, q, v, tau, wrenches=wrenches, prescribed=prescribed)
    X_PB = joint_poses(craft, q)
    at = Kinematics(inertial_poses(craft, q), body_twists(craft, q, v, X_PB))
    now = [constrained(craft, at, constraint) for constraint in constraints]
    errors = accelerations(t, at, now, body_accelerations(craft, q, v, free, X_PB, at.V))
    errors = stabilised(t, errors, now, stabilisation)  # (1)
    follows = prescribed_rates(craft, prescribed)
    columns, rows = stacked_columns(at, now)
    if not rows:
        return ConstraintLoads(np.zeros(0), np.zeros((craft.nbodies, 6)), np.zeros((0, 6)))
    factors = articulated_inertias(craft, q, X_PB, follows)
    A, sizes = inverse_inertia_at(craft, q, X_PB, factors, columns, rows), free_response(craft, columns, rows)
    multipliers = least_norm_solution(A, -np.concatenate(errors), sizes=sizes)  # (2)
    return ConstraintLoads(
        multipliers, body_wrenches(craft, columns, multipliers), wrenches_on_second(now, multipliers)
    )


def constrained_forward_dynamics(
    craft: Spacecraft,
    t: Any,
    q: Array,
    v: Array,
    tau: Array,
    constraints: Sequence[AbstractConstraint],
    *,
    wrenches: Any = None,
    prescribed: Mapping[str, Any] | None = None,
    stabilisation: Stabilisation = USUAL,
    formulation: Any = forward_dynamics,
) -> Array:
    """vdot (nv,) with the constraints' loads acting, by the forward dynamics of any formulation."""
    loads = constraint_loads(
        craft, t, q, v, tau, constraints, wrenches=wrenches, prescribed=prescribed, stabilisation=stabilisation
    )
    total = loads.wrenches if wrenches is None else loads.wrenches + np.asarray(wrenches)
    return formulation(craft, q, v, tau, wrenches=total, prescribed=prescribed)


def accelerations(t: Any, at: Kinematics, now: Sequence[Constrained], A: Mapping[str, Array]) -> list[Array]:
    """G V_12dot + gamma of each constraint, zero if it goes on to hold; A: derivatives of the bodies' twists."""
    found = []
    for c, one, two, X_12, V_12, G in now:
        Vdot_12 = relative_acceleration(one, two, frame_acceleration(at, one, A), frame_acceleration(at, two, A))
        found.append(G @ Vdot_12 + c.G_rate(X_12, V_12) @ V_12 - c.acceleration(t))
    return found


def stabilised(
    t: Any, errors: Sequence[Array], now: Sequence[Constrained], stabilisation: Stabilisation
) -> list[Array]:
    """The errors of the accelerations, with Baumgarte's terms (1)."""
    frequency, damping = stabilisation
    if not frequency:
        return list(errors)
    return [
        e
        + 2.0 * damping * frequency * (c.G @ c.V_12 - c.constraint.speed(t))
        + frequency**2 * c.constraint.psi(c.X_12, t)
        for e, c in zip(errors, now, strict=True)
    ]


def constrained(craft: Spacecraft, at: Kinematics, constraint: AbstractConstraint) -> Constrained:
    """A constraint in the present motion of the bodies."""
    one = frame_motion(craft, at, constraint.first)
    two = frame_motion(craft, at, constraint.second)
    X_12 = relative_pose(one, two)
    return Constrained(constraint, one, two, X_12, relative_twist(one, two), constraint.G(X_12))


def stacked_columns(at: Kinematics, now: Sequence[Constrained]) -> tuple[dict[str, Array], int]:
    """Wrenches of all unit multipliers by body, (6, rows), and the number of rows."""
    rows = sum(c.constraint.size for c in now)
    columns: dict[str, Array] = {}
    place = 0
    for c in now:
        size = c.constraint.size
        for body, own in load_columns(at, c.one, c.two, c.G).items():
            full = np.hstack([np.zeros((6, place)), own, np.zeros((6, rows - place - size))])
            columns[body] = columns[body] + full if body in columns else full
        place += size
    return columns, rows


def body_wrenches(craft: Spacecraft, columns: Mapping[str, Array], multipliers: Array) -> Array:
    """(nbodies, 6)."""
    zero = np.zeros(6)
    return np.array([columns[B] @ multipliers if B in columns else zero for B, _ in craft.base_to_tip])


def wrenches_on_second(now: Sequence[Constrained], multipliers: Array) -> Array:
    """[torque; force] on frame 2 about its origin, in N, (constraints, 6)."""
    result, place = [], 0
    for c in now:
        load = c.G.T @ multipliers[place : place + c.constraint.size]
        R = c.one.X_NF.R
        result.append(np.concatenate([R @ load[:3], R @ load[3:]]))
        place += c.constraint.size
    return np.array(result)
