"""The dynamically equivalent manipulator (35)-(44) and the free-floating craft, side by side for a minute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...algebra import Array, sin
from ...formulations.lie_lagrange.equivalent_manipulator import equivalent_manipulator, equivalent_state
from ...model import Spacecraft
from .crafts import craft, moving_state

if TYPE_CHECKING:
    from ...simulation import Trajectory

MINUTE = np.linspace(0.0, 60.0, 241)


def loads(t: Any, joints: Array, rates: Array) -> Array:
    """Base couple (3) and joint loads (4): waves, and springs and dampers that keep the arm within its reach."""
    couple = np.array([0.8 * sin(0.7 * t), 0.5 * sin(0.4 * t + 1.0), -0.6 * sin(0.5 * t + 2.0)])
    waves = np.array([6.0 * sin(0.6 * t), -5.0 * sin(0.5 * t + 0.5), 4.0 * sin(0.8 * t + 0.2), 0.05 * sin(0.9 * t)])
    springs = np.array([8.0, 8.0, 20.0, 0.1]) * joints + np.array([4.0, 4.0, 6.0, 0.05]) * rates
    return np.concatenate([couple, waves - springs])


def side_by_side() -> tuple[Trajectory, Trajectory]:
    """The craft in space and its equivalent manipulator, a minute under the same loads, at rtol 1e-13."""
    from ...simulation import simulate

    body = craft()
    manipulator = equivalent_manipulator(body)
    q, v = moving_state(0.3)
    start, scale = equivalent_state(body, q, v), equivalent_state(body, q, np.ones(body.nv)).v

    def in_space(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        load = loads(t, q[7:], v[6:])
        return np.concatenate([load[:3], np.zeros(3), load[3:]])

    def on_ground(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        return loads(t, q[4:] / scale[3:], v[3:] / scale[3:]) / scale

    settings: dict[str, Any] = {
        "t_span": (0.0, 60.0),
        "save_at": MINUTE,
        "rtol": 1e-13,
        "atol": 1e-14,
        "progress": False,
    }
    space = simulate(body, q, v, control=in_space, formulation="lie_lagrange", **settings)
    return space, simulate(manipulator, start.q, start.v, control=on_ground, **settings)
