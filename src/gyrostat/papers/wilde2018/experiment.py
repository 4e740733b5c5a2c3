"""The two studies of Wilde, Kwok Choon, Grompone, Romano (2018), Front. Robot. AI 5:41: figures 5 to 8.

A planar four-link arm (tables 3, 4) and a spatial six-link one (tables 5, 6) on a floating base, at rest, joints at
zero. One joint at a time goes out at 0.1 rad/s for 10 s, rests 2 s, goes back for 20 s, rests 2 s, and returns, under
computed torque control (112)-(115) with K_P = K_D = 1 and a perfect model.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...algebra import Array
from ...control import RateProfile, computed_torque, one_joint_at_a_time
from ...formulations.generalized_jacobian import base_velocity_from_momentum, reduced_forward_dynamics
from ...kinematics import configuration_rate, neutral
from ...model import Spacecraft
from .crafts import TABLES

if TYPE_CHECKING:
    from ...simulation import Trajectory

SETTLE = 20.0  # seconds after the last joint's cycle


def manoeuvre(case: str, period: float = 44.0) -> tuple[Spacecraft, RateProfile, float]:
    """Craft, reference, and duration in s."""
    if case not in TABLES:
        raise ValueError(f"case is '{case}'; expected one of {', '.join(map(repr, TABLES))}.")
    craft = TABLES[case]().craft
    n = craft.nv - 6
    return craft, one_joint_at_a_time(n, period=period), n * period + SETTLE


def run(
    case: str, *, period: float = 44.0, formulation: str = "recursive", craft: Spacecraft | None = None
) -> Trajectory:
    """The full model (N + 6 degrees of freedom) under computed torque control, saved every half second.

    `craft`: another one of the same joints, to see what an assumption matters.
    """
    from ...simulation import simulate

    own, profile, duration = manoeuvre(case, period)
    return simulate(
        own if craft is None else craft,
        t_span=(0.0, duration),
        control=computed_torque(profile),
        breakpoints=profile.breakpoints,
        formulation=formulation,
        rtol=1e-13,
        atol=1e-15,
        save_at=np.linspace(0.0, duration, round(2 * duration) + 1),
        progress=False,
    )


def run_reduced(case: str, *, period: float = 44.0) -> tuple[Array, Array]:
    """q and joint rates at the times of `run`, by the reduced equations (50) and (109), N degrees of freedom."""
    craft, profile, duration = manoeuvre(case, period)
    control = computed_torque(profile)

    def rhs(craft: Spacecraft, t: Any, y: Array) -> Array:
        q, qdot = y[: craft.nq], y[craft.nq :]
        v = np.concatenate([base_velocity_from_momentum(craft, q, qdot), qdot])
        qddot = reduced_forward_dynamics(craft, q, qdot, control(craft, t, q, v)[6:])
        return np.concatenate([configuration_rate(craft, q, v), qddot])

    start = np.concatenate([neutral(craft), np.zeros(craft.nv - 6)])
    y = _integrated(rhs, craft, start, profile, duration)
    return y[:, : craft.nq], y[:, craft.nq :]


def run_kinematic(case: str, *, period: float = 44.0) -> Array:
    """Base pose (times, 7) at the times of `run`, by integrating (109) along the joints' closed
    form: no dynamics at all.
    """
    craft, profile, duration = manoeuvre(case, period)

    def rhs(craft: Spacecraft, t: Any, y: Array) -> Array:
        angles, rates = closed_form(profile, t)
        q = np.concatenate([y, angles])
        return configuration_rate(craft, q, np.concatenate([base_velocity_from_momentum(craft, q, rates), rates]))[:7]

    return _integrated(rhs, craft, neutral(craft)[:7], profile, duration)


def closed_form(profile: RateProfile, t: Any) -> tuple[Array, Array]:
    """Joint angles and rates of the loop e'' + e' + e = 0 from rest: a sum over the jumps dr of the reference rate.

    q = sum dr (x - exp(-x/2) sin(w x) / w),  x = t - t_jump > 0,  w = sqrt(3) / 2: no property of the craft enters.
    """
    from ...algebra import cos, exp, maximum, sin

    w = 0.75**0.5
    q: Array = np.zeros(profile.n)
    qdot: Array = np.zeros(profile.n)
    for time, jump in zip(profile.times, profile.jumps, strict=True):
        x = maximum(t - time, 0.0)
        decay, s, c = exp(-0.5 * x), sin(w * x), cos(w * x)
        q = q + jump * (x - decay * s / w)
        qdot = qdot + jump * (1.0 - decay * (c - s / (2.0 * w)))
    return q, qdot


def _integrated(
    rhs: Callable[..., Array], craft: Spacecraft, start: Array, profile: RateProfile, duration: float
) -> Array:
    """States at the times of `run`, by SciPy's DOP853 from jump to jump on the compiled function:
    an integrator of its own.
    """
    from scipy.integrate import solve_ivp

    from ...tracing import compile

    kernel = compile(rhs, craft, inputs={"y": start.shape})
    times = np.linspace(0.0, duration, round(2 * duration) + 1)
    edges = np.unique([0.0, *profile.breakpoints, duration])
    rows, y = [start[None]], start
    for begin, end in pairwise(edges):
        inside = times[(times > begin) & (times <= end)]
        before = np.nextafter(end, begin)  # at `end` itself the reference has jumped
        at = inside if len(inside) and inside[-1] == end else np.append(inside, end)
        solution = solve_ivp(
            lambda t, y, before=before: kernel(min(t, before), y), (begin, end), y, "DOP853", at, rtol=1e-13, atol=1e-15
        )
        y = solution.y[:, -1]
        rows.append(solution.y.T[: len(inside)])
    return np.concatenate(rows)
