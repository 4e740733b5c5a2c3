"""Reaction null space: moving the arm without turning the base. Yoshida, Hashizume & Abiko (2001).

On a floating base, the driven joints turn it by w' = b_w - X_w q'' (`craft_response`). Joint motions in the null space
of X_w (3, n) leave it alone: n - 3 dimensions of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import Array, mirror, solve_spd
from ..formulations.generalized_jacobian.elimination import eliminate
from ..model import Role, Spacecraft
from .commanded import commanded_loads, craft_response
from .demands import base_quaternion, demand_free_base, driven_coordinates
from .errors import attitude_error

Law = Callable[[Spacecraft, Any, Array, Array], Array]
RIDGE = 1e-12


def base_rotation_map(craft: Spacecraft, q: Array) -> Array:
    """X_w (3, joints): at zero momentum the base turns at w_NB_B = -X_w qdot of the driven joints, all else held on its
    carrier.
    """
    base = demand_free_base(craft, "base_rotation_map")
    return eliminate(craft, q).X[:3, craft.at(Role.driven) - base.nv]


def without_reaction(X_w: Array, rates: Array) -> Array:
    """The part of joint rates that does not turn the base: (1 - X_w^# X_w) rates, (n,). For more than three joints."""
    return rates - X_w.T @ solve_spd(_gram(X_w), X_w @ rates)


def reactionless(
    wish: Callable[[Spacecraft, Any, Array, Array], Array],
    *,
    servo: float = 5.0,
    attitude: Any = None,
    kp: float = 4.0,
    kd: float = 4.0,
) -> Law:
    """The law tau(craft, t, q, v): the arm follows what it can of the wished joint rates while the base keeps its
    attitude.

        q'' = N servo (wish - qdot) + X_w^# (b_w - w'_d),   N = 1 - X_w^# X_w                                 (1)
        w'_d = kp e - kd w                                   held still, and at `attitude` (quat_NB) if given   (2)

    wish(craft, t, q, v): joint rates (joints,).
    """

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        base = demand_free_base(craft, "reactionless")
        G, g = craft_response(craft, q, v, "floating")
        X_w, b_w, qdot = -base.rate(G)[:3], base.rate(g)[:3], v[craft.at(Role.driven)]
        steady = -kd * base.rate(v)[:3]  # (2)
        if attitude is not None:
            steady = steady + kp * attitude_error(base_quaternion(craft, q), np.asarray(attitude))
        free = without_reaction(X_w, servo * (wish(craft, t, q, v) - qdot))
        joints = free + X_w.T @ solve_spd(_gram(X_w), b_w - steady)  # (1)
        return commanded_loads(craft, q, v, "floating", joints=joints).tau

    return control


def towards(joints: Any, rate: float, limit: float = float("inf")) -> Callable[[Spacecraft, Any, Array, Array], Array]:
    """A wish for joint rates: towards given coordinates of the driven joints, at `rate` in 1/s times the distance.

    With a limit, no faster than that, direction kept: rate d / sqrt(1 + |rate d|^2 / limit^2).

    The wish is (n,) for the driven joints, in rad/s or m/s.
    """
    from ..algebra import sqrt

    goal = np.asarray(joints, dtype=float)

    def wish(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        rates = rate * (goal - q[driven_coordinates(craft, "towards")])
        return rates if np.isinf(limit) else rates / sqrt(1.0 + (rates @ rates) / limit**2)

    return wish


def _gram(X_w: Array) -> Array:
    G = mirror(X_w @ X_w.T)
    return G + RIDGE * np.eye(3)
