"""States that satisfy their constraints: how far a state is off, the nearest one that is not, and the jump at a
capture.

Corrections are those of impulses in the constraints, so that momentum does not change:

    step on the manifold   dv = -M^-1 Pi^T A^+ psi,      velocities   v -= M^-1 Pi^T A^+ (Pi v - fdot)               (1)
    capture, restitution e:  A p = -(1 + e) Pi v^-,      v^+ = v^- + M^-1 Pi^T p                                     (2)

M^-1 Pi^T p is the acceleration that the wrenches of p give the craft at rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, cross, is_symbolic
from ..algebra.reals import reals
from ..algebra.semidefinite import least_norm_solution, semidefinite_ldl
from ..formulations.recursive import forward_dynamics, kinetic_energy, reaction_wrenches
from ..kinematics import body_twists, center_of_mass, inertial_poses, joint_poses, step_configuration
from ..kinematics.arguments import configuration, prescribed_rates, rates
from ..kinematics.relative_motion import Kinematics
from ..model import Spacecraft
from .kinds import AbstractConstraint
from .loads import Constrained, body_wrenches, constrained, stacked_columns, wrenches_on_second
from .tree import articulated_inertias, free_response, inverse_inertia_at


class Residuals(NamedTuple):
    """psi and G V_12 - fdot of all constraints, stacked; zero where they hold. Metres and radians, and their rates."""

    position: Array  # (rows,)
    velocity: Array  # (rows,)


class Capture(NamedTuple):
    """A velocity jump: v after it, the impulses (multipliers), the same as [torque; force] impulses on each second
    frame about its origin in N, and the kinetic energy lost.
    """

    v: Array  # (nv,)
    impulses: Array  # (rows,)
    on_second: Array  # (constraints, 6), N m s and N s
    energy_lost: Any  # J


def residuals(craft: Spacecraft, t: Any, q: Array, v: Array, constraints: Sequence[AbstractConstraint]) -> Residuals:
    """How far the state is from satisfying the constraints."""
    now = _now(craft, configuration(craft, q), rates(craft, v), constraints)[1]
    if not now:
        return Residuals(np.zeros(0), np.zeros(0))
    position = np.concatenate([c.constraint.psi(c.X_12, t) for c in now])
    return Residuals(position, np.concatenate([c.G @ c.V_12 - c.constraint.speed(t) for c in now]))


def project(
    craft: Spacecraft,
    t: float,
    q: Array,
    v: Array,
    constraints: Sequence[AbstractConstraint],
    *,
    tolerance: float = 1e-13,
    iterations: int = 50,
) -> tuple[Array, Array]:
    """The nearby state (q, v) that satisfies the constraints, by Newton's method in the metric of the mass matrix.

    Raises ValueError where there is none nearby, with the constraint that stays open.
    """
    q, v = configuration(craft, q), rates(craft, v)
    for _ in range(iterations):
        psi = residuals(craft, t, q, v, constraints).position
        if np.abs(psi).max(initial=0.0) <= tolerance:
            break
        q = step_configuration(craft, q, _response(craft, q, constraints, -psi)[0])
    else:
        raise ValueError(_open(craft, t, q, v, constraints, iterations))
    error = residuals(craft, t, q, v, constraints).velocity
    after = v + _response(craft, q, constraints, -error)[0]
    _demand_speeds(craft, t, q, after, constraints, np.zeros_like(error), error)
    return q, after


def capture(
    craft: Spacecraft,
    q: Array,
    v: Array,
    constraints: Sequence[AbstractConstraint],
    *,
    t: Any = 0.0,
    restitution: float | Sequence[float] = 0.0,
    locked: Sequence[str] = (),
) -> Capture:
    """The jump (2) at the instant at which the constraints begin to act. Momentum is conserved; restitution 0: they
    hold from then on.

    restitution: one for all constraints, or one for each. locked: joints whose rates do not jump, held by a brake or a
    prescribed motion.

    Raises ValueError for a restitution that is not within 0 and 1.
    """
    q, v = configuration(craft, q), rates(craft, v)
    e = restitutions(restitution, len(constraints))
    error = residuals(craft, t, q, v, constraints).velocity
    rows = np.repeat(e, [c.size for c in constraints])
    dv, impulses, now = _response(craft, q, constraints, -(1.0 + rows) * error, locked)
    after = v + dv
    _demand_speeds(craft, t, q, after, constraints, -rows * error, error)
    lost = kinetic_energy(craft, q, v) - kinetic_energy(craft, q, after)
    return Capture(after, impulses, wrenches_on_second(now, impulses), lost)


def restitutions(given: Any, count: int) -> Array:
    """One for each of so many constraints. Raises a ValueError for one that is not within 0 and 1."""
    found = reals(given, "restitution")
    if not ((found >= 0.0) & (found <= 1.0)).all():
        raise ValueError(f"restitution is {given}; expected 0 (held) to 1 (elastic).")
    return np.broadcast_to(found, count)


def support_impulses(
    craft: Spacecraft,
    q: Array,
    v: Array,
    constraints: Sequence[AbstractConstraint],
    jump: Capture,
    *,
    locked: Sequence[str] = (),
) -> Array | None:
    """What a capture from velocity v brings through the joints of bases that are not free, or locked: [angular about
    the centre of mass; linear], (6,); None where all bases fly.
    """
    held = [body for body in craft.roots if body.joint.name in locked or not body.joint.motion.unbound]
    if not held:
        return None
    at, now = _now(craft, q, np.zeros(craft.nv), constraints)
    columns, _ = stacked_columns(at, now)
    pushed = body_wrenches(craft, columns, jump.impulses)
    through = reaction_wrenches(craft, q, np.zeros(craft.nv), jump.v - v, wrenches=pushed)
    total, c_N = np.zeros(6), center_of_mass(craft, q)
    for body in held:
        wrench, joint, X_NB = through[craft.index(body.name)], body.joint, at.X_NB[body.name]
        if joint.nv and joint.name not in locked:  # along its motions nothing comes through
            H = joint.H(q)
            wrench = wrench - H @ np.linalg.solve(H.T @ H, H.T @ wrench)
        torque, force = X_NB.R @ wrench[:3], X_NB.R @ wrench[3:]
        total += np.concatenate([torque + cross(X_NB.p - c_N, force), force])
    return total


def rows_of_their_own(
    craft: Spacecraft, q: Array, constraints: Sequence[AbstractConstraint], following: Sequence[str] = ()
) -> list[int]:
    """By constraint: how many of its rows loads can satisfy, which neither joints nor constraints before it decide.

    following: joints that move as they are told.
    """
    at, now = _now(craft, q, np.zeros(craft.nv), constraints)
    columns, rows = stacked_columns(at, now)
    A = _inverse_inertia(craft, q, following, columns, rows)
    redundant = semidefinite_ldl(A, sizes=free_response(craft, columns, rows))[2]
    ends = np.cumsum([c.size for c in constraints])
    return [int(c.size - redundant[end - c.size : end].sum()) for c, end in zip(constraints, ends, strict=True)]


def _inverse_inertia(
    craft: Spacecraft, q: Array, following: Sequence[str], columns: Mapping[str, Array], rows: int
) -> Array:
    X_PB = joint_poses(craft, q)
    held = {name: np.zeros(craft.joint_named(name).nv) for name in following}
    factors = articulated_inertias(craft, q, X_PB, prescribed_rates(craft, held))
    return inverse_inertia_at(craft, q, X_PB, factors, columns, rows)


def _response(
    craft: Spacecraft, q: Array, constraints: Sequence[AbstractConstraint], wanted: Array, locked: Sequence[str] = ()
) -> tuple[Array, Array, list[Constrained]]:
    """dv = M^-1 Pi^T p with Pi dv as wanted, p itself, and the constraints at q. Locked joints have no dv."""
    still = np.zeros(craft.nv)
    at, now = _now(craft, q, still, constraints)
    columns, rows = stacked_columns(at, now)
    if not rows:
        return still, np.zeros(0), now
    A = _inverse_inertia(craft, q, locked, columns, rows)
    p = least_norm_solution(A, wanted, sizes=free_response(craft, columns, rows))
    held = {name: np.zeros(craft.joint_named(name).nv) for name in locked}
    dv = forward_dynamics(craft, q, still, still, wrenches=body_wrenches(craft, columns, p), prescribed=held or None)
    return dv, p, now


def _now(
    craft: Spacecraft, q: Array, v: Array, constraints: Sequence[AbstractConstraint]
) -> tuple[Kinematics, list[Constrained]]:
    at = Kinematics(inertial_poses(craft, q), body_twists(craft, q, v, joint_poses(craft, q)))
    return at, [constrained(craft, at, constraint) for constraint in constraints]


def _demand_speeds(
    craft: Spacecraft,
    t: Any,
    q: Array,
    v: Array,
    constraints: Sequence[AbstractConstraint],
    wanted: Array,
    before: Array,
) -> None:
    """That the impulses gave every row the velocity wanted: rows that bind the same motion may ask for different
    ones.
    """
    left = residuals(craft, t, q, v, constraints).velocity - wanted
    if is_symbolic(left) or np.abs(left).max(initial=0.0) <= 1e-4 * np.abs(before).max(initial=0.0) + 1e-9:
        return
    worst = int(np.argmax(np.abs(left)))
    title = [c.title for c in constraints for _ in range(c.size)][worst]
    raise ValueError(
        f"{craft.name}: no impulse gives the {title} the speed it asks for; {left[worst]:.3g} (m/s or rad/s) is left. "
        "Other constraints, or locked joints, bind the same motion: drive them alike, or leave one out."
    )


def _open(
    craft: Spacecraft, t: float, q: Array, v: Array, constraints: Sequence[AbstractConstraint], iterations: int
) -> str:
    sizes = [float(np.abs(residuals(craft, t, q, v, [c]).position).max(initial=0.0)) for c in constraints]
    worst = int(np.argmax(sizes))
    return (
        f"{craft.name}: after {iterations} corrections the {constraints[worst].title} is still open by "
        f"{sizes[worst]:.3g} (m or rad). Start from a configuration nearer to one that closes it, or check that one "
        "exists."
    )
