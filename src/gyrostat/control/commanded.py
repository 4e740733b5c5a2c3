"""Loads that make a craft accelerate as commanded, in each manoeuvring mode: what the mode leaves free follows by itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, cross, mirror, skew, solve_spd
from ..formulations.recursive import bias_force, inverse_dynamics, mass_matrix
from ..model import Spacecraft
from .modes import mode_named


class Commanded(NamedTuple):
    """The acceleration of the whole craft, and the loads that make it."""

    vdot: Array  # (nv,)
    tau: Array  # (nv,)


class Response(NamedTuple):
    """The base's acceleration is `answer - X @ joints`."""

    X: Array  # (6, joints)
    answer: Array  # (6,)


class Blocks(NamedTuple):
    """Of M and the bias force, base rows taken about the craft's centre of mass c: rates of base, joints, wheels."""

    m: Any
    c: Array  # (3,) from Bo, in B
    S: Array  # (3, 3) inertia about c, everything locked
    A_j: Array  # (3, joints) angular coupling
    A_w: Array  # (3, wheels)
    P_j: Array  # (3, joints) linear coupling
    J_w: Array  # (wheels,) spin inertias
    M_wj: Array  # (wheels, joints)
    b_C: Array  # (3,) bias, angular about c
    b_P: Array  # (3,) bias, linear
    b_w: Array  # (wheels,) bias of the wheels


def joint_count(craft: Spacecraft) -> int:
    """Rates of the joints between base and wheels."""
    return craft.nv - 6 - len(craft.wheels)


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
    """Loads for commanded accelerations. With S about the centre of mass c, and u = v' - c x w':

        S w' + A_j q'' + A_w W' + b_C = N_C       angular rows, about c          (1)
        m u + P_j q'' + b_P = F                   linear rows                    (2)
        J W' + A_w^T w' + M_wj q'' + b_w = tau_w  wheels                         (3)

    joints: accelerations of the joints, q'' (joints and no wheels). turn: w', the rate of change of w_NB_B. push: that of v_NB_B.

    | mode               | commanded     | solved for                                                   |
    |--------------------|---------------|--------------------------------------------------------------|
    | floating           | joints        | w', u with N_C = 0, F = 0, tau_w = 0                          |
    | rotation-floating  | joints, turn  | W' of (1) with N_C = 0, F = 0                                 |
    | rotation-flying    | joints, turn  | N_C, with F = 0, tau_w = 0                                    |
    | translation-flying | joints, push  | F through c; w' with N_C = 0, tau_w = 0; or with turn: W'     |
    | flying             | all           | N_C, F, with tau_w = 0                                       |

    More than three wheels share the work with the least sum of squared torques; null_motion: wheel accelerations (wheels,) of which
    the part that does not turn the base is added. wrenches: what acts on the bodies from outside, as far as it is known.
    """
    may = mode_named(mode)
    k = blocks(craft, q, v, wrenches)
    X, answer = _response(k, mode, turn, push)
    base = answer - X @ joints
    if wheels_turn := turn is not None and not may.couple:
        spin = _least_torque(k, -(k.S @ base[:3] + k.A_j @ joints + k.b_C), null_motion)
    else:
        spin = -(k.A_w.T @ base[:3] + k.M_wj @ joints + k.b_w) / k.J_w
    vdot = np.concatenate([base, joints, spin])
    tau = inverse_dynamics(craft, q, v, vdot, wrenches=wrenches)
    F = tau[3:6] if may.force else np.zeros(3)
    N = tau[:3] if may.couple else cross(k.c, F) if may.force else np.zeros(3)
    wheel_loads = tau[craft.nv - len(k.J_w) :] if wheels_turn else np.zeros(len(k.J_w))
    return Commanded(vdot, np.concatenate([N, F, tau[6 : 6 + len(joints)], wheel_loads]))


def base_response(
    craft: Spacecraft,
    q: Array,
    v: Array,
    mode: str,
    *,
    turn: Array | None = None,
    push: Array | None = None,
    wrenches: Array | None = None,
) -> Response:
    """How the base accelerates in answer to the joints, with the rest as in `commanded_loads`.

    In floating mode X is that of the generalised Jacobian (wheels, if any, spin on without torque): J* = J_m - J_0 X.
    """
    return _response(blocks(craft, q, v, wrenches), mode, turn, push)


def _response(k: Blocks, mode: str, turn: Array | None, push: Array | None) -> Response:
    may = mode_named(mode)
    _demand(mode, may.turns_by_wheels or may.couple, may.wheels, turn, "turn")
    _demand(mode, may.force, may.force, push, "push")
    n = k.A_j.shape[1]
    if turn is None:  # (1) with N_C = 0 and, by (3), wheels without torque
        free = k.A_w / k.J_w
        S = mirror(k.S - free @ k.A_w.T)
        both = solve_spd(S, np.column_stack([k.A_j - free @ k.M_wj, free @ k.b_w - k.b_C]))
        X_w, turn = both[:, :n], both[:, n]
    else:
        X_w = np.zeros((3, n))
    if push is None:  # (2) with F = 0
        X_v, push = k.P_j / k.m + cross(k.c, X_w), cross(k.c, turn) - k.b_P / k.m
    else:
        X_v = np.zeros((3, n))
    return Response(np.concatenate([X_w, X_v]), np.concatenate([turn, push]))


def blocks(craft: Spacecraft, q: Array, v: Array, wrenches: Array | None = None) -> Blocks:
    """Coefficients of (1)-(3) in `commanded_loads`."""
    M, b = mass_matrix(craft, q), bias_force(craft, q, v, wrenches=wrenches)
    n = 6 + joint_count(craft)
    m, mc = M[3, 3], np.array([M[2, 4], M[0, 5], M[1, 3]])
    c = mc / m
    A = M[:3, 6:] - cross(c, M[3:6, 6:]) if craft.nv > 6 else np.zeros((3, 0))
    return Blocks(
        m,
        c,
        mirror(M[:3, :3] + skew(mc) @ skew(c)),
        A[:, : n - 6],
        A[:, n - 6 :],
        M[3:6, 6:n],
        np.diag(M[n:, n:]),
        M[n:, 6:n],
        b[:3] - cross(c, b[3:6]),
        b[3:6],
        b[n:],
    )


def _least_torque(k: Blocks, rate: Array, null_motion: Array | None) -> Array:
    """W' with A_w W' = rate and the least sum of (J W')^2, plus the part of null_motion that A_w does not see."""
    axes = k.A_w / k.J_w
    if null_motion is not None:
        rate = rate - k.A_w @ null_motion
    spin = axes.T @ solve_spd(mirror(axes @ axes.T), rate) / k.J_w
    return spin if null_motion is None else spin + null_motion


def _demand(mode: str, needed: bool, possible: bool, value: Any, name: str) -> None:
    if needed and value is None:
        raise ValueError(f"mode '{mode}' commands the base: give {name}=, its acceleration (3,).")
    if not possible and value is not None:
        raise ValueError(f"mode '{mode}' has nothing that could {name} the base: leave out {name}=.")
