"""Steering of control-moment gyros: gimbal rates for a wanted torque, past singularities and within rate limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import Array, absolute, cross, exp, maximum, minimum, mirror, sin, solve_spd, sqrt
from ..model import Role, Spacecraft
from .base_attitude import turn_command
from .commanded import commanded_loads
from .control_moment_gyros import gimbal_places, gyro_state, gyros
from .demands import demand_free_base
from .references import PosePath


def singularity_measure(A: Array) -> Any:
    """sqrt det(A A^T): zero where no gimbal rates make torque about some axis."""
    G = A @ A.T
    return sqrt(maximum(_det(G), 0.0))


def robust_rates(A: Array, hdot: Array, t: Any, *, size: Any, damping: float = 0.01, sharpness: float = 10.0) -> Array:
    """Gimbal rates (n,) for a wanted rate of change of the gyros' momentum: the generalised singularity-robust inverse.

        rates = A^T (A A^T + s E)^-1 hdot,   s = damping exp(-sharpness det(A A^T))                    (1)
        E = 1 + offdiagonal 0.01 sin(0.5 pi t + phase): even a singular direction is left                 (2)

    with A in units of `size`, the momentum of one wheel. Wie, Bailey & Heiberg, J. Guidance 24 (2001).
    """
    A = A / size
    e = [0.01 * sin(0.5 * np.pi * t + phase) for phase in (0.0, 0.5 * np.pi, np.pi)]
    E = np.array([[1.0, e[2], e[1]], [e[2], 1.0, e[0]], [e[1], e[0], 1.0]])  # (2)
    G = mirror(A @ A.T)
    s = damping * exp(-sharpness * _det(G))
    return A.T @ solve_spd(G + s * E, hdot / size)  # (1)


def within_rate_limits(craft: Spacecraft, rates: Array) -> Array:
    """Gimbal rates scaled down together, so that none is beyond its limit and the torque keeps its direction.

    (n,), rad/s.
    """
    factor: Any = 1.0
    for g, rate in zip(gyros(craft), rates, strict=True):
        limit = craft.joint_named(g.gimbal).limits.velocity
        if np.isfinite(limit):
            factor = minimum(factor, limit / maximum(absolute(rate), limit))
    return factor * rates


def gyro_attitude(
    reference: PosePath,
    *,
    size: float,
    kp: float = 0.04,
    kd: float = 0.4,
    servo: float = 10.0,
    arm: Callable[[Spacecraft, Any, Array, Array], Array] | None = None,
) -> Callable[[Spacecraft, Any, Array, Array], Array]:
    """The law tau(craft, t, q, v): gyros hold or turn the base while the arm moves, its reaction fed forward.

    For the base to turn at w', the gyros' momentum must change at what a couple on the base would have to make, with
    the gimbals at rest (N_C of `commanded_loads`):

        A rates = -N_C(w', q''),   w' = w'_d + kd (w_d - w) + kp e                                            (3)

    size: momentum of one wheel, in N m s. servo: of the gimbals' rate loops, in 1/s. arm(craft, t, q, v): accelerations
    of the joints that are no gimbals, in their order; at rest by default. The wheels spin on without torque.
    """

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        base = demand_free_base(craft, "gyro_attitude")
        gimbals, joints = gimbal_places(craft), craft.at(Role.driven).tolist()
        others = [k for k in joints if k not in gimbals]
        moves = -v[others] if arm is None else _of_others(craft, arm(craft, t, q, v), others)
        still = np.array([0.0 if k in gimbals else x for k, x in enumerate(v)])
        wish = dict.fromkeys(gimbals, 0.0) | dict(zip(others, moves, strict=True))
        turn = turn_command(craft, q, v, reference(t), kp, kd)
        moving = np.array([wish[k] for k in joints])
        couple = base.rate(commanded_loads(craft, q, still, "rotation-flying", joints=moving, turn=turn).tau)[:3]
        rates = robust_rates(gyro_state(craft, q, v).A, -couple, t, size=size)  # (3)
        rates = within_rate_limits(craft, rates)
        wish |= {k: servo * (rate - v[k]) for k, rate in zip(gimbals, rates, strict=True)}
        return commanded_loads(craft, q, v, "floating", joints=np.array([wish[k] for k in joints])).tau

    return control


def _det(G: Array) -> Any:
    return G[0] @ cross(G[1], G[2])


def _of_others(craft: Spacecraft, moves: Array, others: list[int]) -> Array:
    if len(moves) != len(others):
        names = [joint.name for joint in craft.joints if set(others) & set(range(*joint.v_at.indices(craft.nv)))]
        raise ValueError(
            f"arm= of gyro_attitude returned {len(moves)} accelerations; expected {len(others)}, for the driven joints "
            f"that are no gimbals: {', '.join(names) or 'there are none'}."
        )
    return moves
