"""A craft tumbles past pitch = +90 and -90 degrees: Lagrange's equations on SE(3) do not notice,
roll-pitch-yaw rates (16), (17) do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...algebra import Array, quat_from_rotation, rotation, rotation_from_rpy, rpy_from_rotation
from ...formulations import lie_lagrange
from ...formulations.lie_lagrange.paper.ground_test_bed import rpy_rate
from ...kinematics import configuration_rate
from ...model import Spacecraft
from .crafts import craft, moving_state

PASS_AT, END = 5.0, 10.0  # s: when the singular attitude is passed, and the end of a tumble
MISS = 1e-6  # rad, by which it is missed
PATIENCE = 2000  # steps, after which the run with Euler angles is given up


class Steps(NamedTuple):
    """A run step by step: times reached, states, and whether it came to its end."""

    t: Array
    y: Array
    finished: bool

    @property
    def sizes(self) -> Array:
        return np.diff(self.t)


def start_of_tumble(pitch: float) -> tuple[Array, Array]:
    """State from which the free craft reaches `pitch` (rad), missed by MISS, at PASS_AT."""
    body = craft()
    q, v = moving_state()
    q[:4] = quat_from_rotation(rotation_from_rpy(np.array([0.3, pitch - np.sign(pitch) * MISS, -0.7])))
    back = stepped(_on_group(body, lie_lagrange.forward_dynamics), (PASS_AT, 0.0), np.concatenate([q, v]))
    return back.y[-1, : body.nq], back.y[-1, body.nq :]


def closest_approach(q: Array, v: Array) -> float:
    """Distance in rad from the singular attitude at PASS_AT: the cosine of the pitch."""
    body = craft()
    run = stepped(_on_group(body, lie_lagrange.forward_dynamics), (0.0, PASS_AT), np.concatenate([q, v]))
    R = rotation(run.y[-1, :4])
    return float(np.hypot(R[0, 0], R[1, 0]))


def tumble(q: Array, v: Array, forward_dynamics: Callable[..., Array] = lie_lagrange.forward_dynamics) -> Steps:
    """Free motion on SE(3) x R^n, step by step."""
    return stepped(_on_group(craft(), forward_dynamics), (0.0, END), np.concatenate([q, v]))


def tumble_in_rpy(q: Array, v: Array) -> Steps:
    """The same motion with roll, pitch and yaw for the attitude: y = (rpy, position, joints, v)."""
    body = craft()
    from ...tracing import compile

    forward = compile(lie_lagrange.forward_dynamics, body)

    def rhs(t: float, y: Array) -> Array:
        at, rates = np.concatenate([[1.0, 0.0, 0.0, 0.0], y[3:10]]), y[10:]
        R = rotation_from_rpy(y[:3])
        vdot = forward(at, rates, np.zeros(body.nv))
        return np.concatenate([rpy_rate(y[:3], rates[:3]), R @ rates[3:6], rates[6:], vdot])

    return stepped(rhs, (0.0, END), np.concatenate([rpy_from_rotation(rotation(q[:4])), q[4:], v]))


def stepped(rhs: Callable[[float, Array], Array], span: tuple[float, float], y: Array) -> Steps:
    """SciPy's DOP853 at rtol 1e-10, every step kept; given up after PATIENCE steps."""
    from scipy.integrate import DOP853

    solver = DOP853(rhs, span[0], y, span[1], rtol=1e-10, atol=1e-12)
    t, states = [span[0]], [y]
    while solver.status == "running" and len(t) <= PATIENCE:
        solver.step()
        t.append(float(solver.t))
        states.append(solver.y)
    return Steps(np.array(t), np.array(states), solver.status == "finished")


def _on_group(body: Spacecraft, forward_dynamics: Callable[..., Array]) -> Callable[[float, Array], Array]:
    from ...tracing import compile

    forward, rate = compile(forward_dynamics, body), compile(configuration_rate, body)
    no_load = np.zeros(body.nv)
    return lambda t, y: np.concatenate([rate(y[: body.nq], y[body.nq :]), forward(y[: body.nq], y[body.nq :], no_load)])
