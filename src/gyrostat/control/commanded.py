"""Loads that make a craft accelerate as commanded, in each manoeuvring mode: what the mode leaves free follows by
itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, cross, mirror, solve_spd, unboxed
from ..formulations.recursive import bias_force, inverse_dynamics, mass_matrix
from ..model import Role, Spacecraft
from .demands import Places, demand_free_base, placed, places
from .modes import independent_axes, mode_named
from .passive import has_passive_forces, passive_forces


class Commanded(NamedTuple):
    """The acceleration of the whole craft, and the loads that make it."""

    vdot: Array  # (nv,)
    tau: Array  # (nv,)


class Response(NamedTuple):
    """How every coordinate answers the joints: vdot = G @ joints + answer."""

    G: Array  # (nv, joints)
    answer: Array  # (nv,)


def joint_count(craft: Spacecraft) -> int:
    """Rates that motors of joints drive: no base's, no wheel's, none of a joint that is passive."""
    return len(craft.at(Role.driven))


def commanded_loads(
    craft: Spacecraft,
    q: Array,
    v: Array,
    mode: str,
    *,
    joints: Array,
    turn: Array | None = None,
    push: Array | None = None,
    null_motion: Array | None = None,
    wrenches: Array | None = None,
) -> Commanded:
    """Loads for commanded accelerations. The base's rows, about the craft's centre of mass c, and those of everything
    else:

        (M v')_angular - c x (M v')_linear + b_C = N_C                                                        (1)
        (M v')_linear + b_P = F                                                                               (2)
        (M v')_i + b_i = tau_i                        joints, wheels; zero where a joint is passive           (3)

    b holds velocity terms and known `wrenches`, and takes springs, dampers and friction of all joints into account.
    joints: accelerations of the driven joints, as v[craft.at(Role.driven)]. turn: w', the rate of change of w_NB_B.
    push: that of v_NB_B.

    | mode               | commanded     | solved for                                                   |
    |--------------------|---------------|--------------------------------------------------------------|
    | floating           | joints        | the base, with N_C = 0, F = 0, tau_w = 0; bases of any kind   |
    | rotation-floating  | joints, turn  | wheels' W' of (1) with N_C = 0, F = 0                         |
    | rotation-flying    | joints, turn  | N_C, with F = 0, tau_w = 0                                    |
    | translation-flying | joints, push  | F through c; w' with N_C = 0, tau_w = 0; or with turn: W'     |
    | flying             | all           | N_C, F, with tau_w = 0                                       |

    Passive joints go along as they must in every mode. More than three wheels share the work with the least sum of
    squared torques; null_motion: wheel accelerations (wheels,) of which the part that does not turn the base is added.
    """
    may, at = mode_named(mode), places(craft)
    joints = np.asarray(joints)
    if joints.shape != (len(at.joints),):
        raise ValueError(
            f"joints has shape {joints.shape}; expected ({len(at.joints)},): an acceleration for each driven joint of "
            f"{craft.name}."
        )
    M, b = _equations(craft, q, v, wrenches)
    vdot = _response(craft, M, b, at, mode, turn, push, joints, null_motion).answer
    tau = inverse_dynamics(craft, q, v, vdot, wrenches=wrenches) - _own_forces(craft, q, v)
    base = np.zeros(len(at.base))
    if may.force or may.couple:
        c = _center_of_mass(M)
        F = tau[at.base[3:]] if may.force else np.zeros(3)
        base = np.concatenate([tau[at.base[:3]] if may.couple else cross(c, F), F])
    turning = turn is not None and not may.couple
    wheels = tau[at.wheels] if turning else np.zeros(len(at.wheels))
    acting = np.concatenate([at.base, at.joints, at.wheels])
    return Commanded(vdot, placed(craft, acting, np.concatenate([base, tau[at.joints], wheels])))


def craft_response(
    craft: Spacecraft,
    q: Array,
    v: Array,
    mode: str,
    *,
    turn: Array | None = None,
    push: Array | None = None,
    wrenches: Array | None = None,
) -> Response:
    """How the craft accelerates in answer to its driven joints, with the rest as in `commanded_loads`.

    In floating mode the base's rows of G are -X of the generalised Jacobian (wheels, if any, spin on without torque):
    J* = J_m - J_0 X.
    """
    return _response(craft, *_equations(craft, q, v, wrenches), places(craft), mode, turn, push)


def following_loads(
    craft: Spacecraft, q: Array, v: Array, at: Array, accelerations: Array, *, wrenches: Array | None = None
) -> Commanded:
    """Loads at the places `at` of v, which make these accelerate so while nothing acts anywhere else. Springs and the
    like included.
    """
    M, b = _equations(craft, q, v, wrenches)
    free = _in_order(craft, np.array([k for k in range(craft.nv) if k not in set(at.tolist())], dtype=int))
    rest = -solve_spd(_block(M, free, free), M[free][:, at] @ accelerations + b[free]) if len(free) else np.zeros(0)
    vdot = placed(craft, np.concatenate([at, free]), np.concatenate([accelerations, rest]))
    tau = inverse_dynamics(craft, q, v, vdot, wrenches=wrenches) - _own_forces(craft, q, v)
    return Commanded(vdot, placed(craft, at, tau[at]))


def followed_inertia(craft: Spacecraft, q: Array, at: Array) -> Array:
    """Inertia at the places `at` of v where everything else is free to go along, (len(at), len(at))."""
    M = mass_matrix(craft, q)
    free = _in_order(craft, np.array([k for k in range(craft.nv) if k not in set(at.tolist())], dtype=int))
    own, coupling = _block(M, at, at), M[free][:, at]
    return mirror(own - coupling.T @ solve_spd(_block(M, free, free), coupling)) if len(free) else own


def _response(
    craft: Spacecraft,
    M: Array,
    b: Array,
    at: Places,
    mode: str,
    turn: Array | None,
    push: Array | None,
    joints: Array | None = None,
    null_motion: Array | None = None,
) -> Response:
    """Every acceleration as a row [coefficients of the joints, unless they are given | of what is not known yet |
    constant].

    What nothing loads follows from its own rows of (3); then (1) gives what is not known yet: wheels that turn the
    base, or how the base turns under a force that passes through c.
    """
    may = mode_named(mode)
    _demand(mode, may.turns_by_wheels or may.couple, may.wheels, turn, "turn")
    _demand(mode, may.force, may.force, push, "push")
    if turn is not None or push is not None:
        demand_free_base(craft, f"mode '{mode}'")
    by_wheels = turn is not None and not may.couple
    if null_motion is not None and not by_wheels:
        raise ValueError(f"mode '{mode}' does not turn the base by wheels: leave out null_motion=.")
    if by_wheels:
        _demand_axes(craft, mode)
    angular, linear = (at.base[:3], at.base[3:]) if len(at.base) == 6 else (at.base, at.base[:0])
    unknown = at.wheels if by_wheels else angular if push is not None and turn is None else at.base[:0]
    n = len(at.joints) if joints is None else 0
    width = n + len(unknown) + 1
    unit = np.eye(width)
    known: dict[int, Array] = {k: unit[i] for i, k in enumerate(at.joints[:n])}
    known |= {k: unit[n + i] for i, k in enumerate(unknown)}
    for rows, given in ((at.joints, joints), (angular, turn), (linear, push)):
        if given is not None:
            known |= {k: x * unit[-1] for k, x in zip(rows, given, strict=True)}
    free = _in_order(craft, np.array([k for k in range(craft.nv) if k not in known], dtype=int))
    kept = np.array(list(known), dtype=int)
    A = _stacked(list(known.values()), width)
    if len(free):
        load = M[free][:, kept] @ A + np.outer(b[free], unit[-1])
        known |= dict(zip(free, -solve_spd(_block(M, free, free), load), strict=True))  # (3)
    A = _stacked([known[k] for k in range(craft.nv)], width)
    if len(unknown):
        rows = M[angular] @ A + np.outer(b[angular], unit[-1])  # (1)
        if push is not None:
            rows = rows - cross(_center_of_mass(M), M[linear] @ A + np.outer(b[linear], unit[-1]))
        R, rest = rows[:, n:-1], np.column_stack([rows[:, :n], rows[:, -1]])
        spin = np.diag(M)[at.wheels]
        solved = _least_torque(R, spin, -rest, null_motion) if by_wheels else -_solve3(R, rest)
        A = np.column_stack([A[:, :n], A[:, -1]]) + A[:, n:-1] @ solved
    return Response(A[:, :n], A[:, n])


def _equations(craft: Spacecraft, q: Array, v: Array, wrenches: Array | None) -> tuple[Array, Array]:
    """M, and b of (1)-(3)."""
    return mass_matrix(craft, q), bias_force(craft, q, v, wrenches=wrenches) - _own_forces(craft, q, v)


def _own_forces(craft: Spacecraft, q: Array, v: Array) -> Array:
    return passive_forces(craft, q, v) if has_passive_forces(craft, None) else np.zeros(craft.nv)


def _in_order(craft: Spacecraft, at: Array) -> Array:
    """Places in the order in which they are best eliminated: wheels, which do not see each other; then, of a free base,
    the linear rows, which hold nothing but the mass.
    """
    wheels = set(craft.at(Role.wheel).tolist())
    linear = {
        k for root in craft.roots if root.joint.nv == 6 for k in range(root.joint.v_at.start + 3, root.joint.v_at.stop)
    }
    return np.array(sorted(at, key=lambda k: (k not in wheels, k not in linear, k)), dtype=int)


def _block(M: Array, rows: Array, columns: Array) -> Array:
    return M[np.ix_(rows, columns)]


def _stacked(rows: list[Array], width: int) -> Array:
    return unboxed(np.array(rows)) if rows else np.zeros((0, width))


def _center_of_mass(M: Array) -> Array:
    """From Bo, in B; of a craft whose base is free."""
    return np.array([M[2, 4], M[0, 5], M[1, 3]]) / M[3, 3]


def _least_torque(R: Array, spin: Array, wanted: Array, null_motion: Array | None) -> Array:
    """W' with R W' = wanted and the least sum of (J W')^2, plus the part of null_motion that R does not see. (wheels,
    columns)
    """
    axes = R / spin

    def least(wanted: Array) -> Array:
        return (axes.T @ solve_spd(mirror(axes @ axes.T), wanted)) / spin[:, None]

    if null_motion is None:
        return least(wanted)
    extra = np.column_stack([np.zeros((len(null_motion), wanted.shape[1] - 1)), null_motion])
    return least(wanted - R @ extra) + extra


def _solve3(R: Array, wanted: Array) -> Array:
    """R^-1 wanted for a (3, 3) matrix that need not be symmetric: passive joints feel a force at Bo, not at c."""
    x, y, z = R.T
    cofactors = np.array([cross(y, z), cross(z, x), cross(x, y)])
    return cofactors @ wanted / (x @ cofactors[0])


def _demand(mode: str, needed: bool, possible: bool, value: Any, name: str) -> None:
    if needed and value is None:
        raise ValueError(f"mode '{mode}' commands the base: give {name}=, its acceleration (3,).")
    if not possible and value is not None:
        raise ValueError(f"mode '{mode}' has nothing that could {name} the base: leave out {name}=.")


def _demand_axes(craft: Spacecraft, mode: str) -> None:
    if independent_axes(craft) < 3:
        raise ValueError(
            f"mode '{mode}': {craft.name} has wheels about {independent_axes(craft)} independent axes; three turn the "
            "base. Add gs.Wheel, or choose another mode."
        )
