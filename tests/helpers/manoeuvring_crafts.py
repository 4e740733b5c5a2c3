"""A small craft with everything that the manoeuvring modes need, for tests:
two joints, four wheels, twelve thrusters.
"""

from __future__ import annotations

import numpy as np

import gyrostat as gs
from gyrostat.control.wheels import wheel_pyramid
from gyrostat.models import thrusters_in_pairs


def small_servicer(*, wheels: bool = True, max_torque: float = 20.0, max_speed: float = 600.0) -> gs.Spacecraft:
    """Oblique axes and offset centres of mass: nothing is zero by symmetry."""
    base = gs.Body("bus", 100.0, (0.05, -0.1, 0.02), (20.0, 0.5, -0.3, 25.0, 0.2, 30.0))
    upper = gs.Body(
        "upper", 10.0, (0.5, 0.1, 0.0), (0.1, 1, 1), gs.Joint("shoulder", parent="bus", position=(0.8, 0, 0.1))
    )
    lower = gs.Body(
        "lower",
        8.0,
        (0.4, 0.0, 0.05),
        (0.1, 1, 1),
        gs.Joint("elbow", parent="upper", position=(1, 0, 0), axis=(0.2, 1, 0)),
    )
    own = wheel_pyramid("bus", 0.05, max_torque=max_torque, max_speed=max_speed) if wheels else ()
    return gs.Spacecraft.build(
        "small servicer",
        [base, upper, lower, *own],
        frames=[gs.Frame("tool", "lower", (0.8, 0.0, 0.0))],
        thrusters=thrusters_in_pairs("bus"),
    )


def state(craft: gs.Spacecraft, seed: int, speed: float = 0.1, wheel_speed: float = 0.0):
    """Any configuration; all rates of the size of `speed`, those of wheels of `wheel_speed`."""
    rng = np.random.default_rng(seed)
    q = gs.step_configuration(craft, gs.neutral(craft), rng.normal(size=craft.nv))
    scale = np.full(craft.nv, speed)
    if craft.wheels:
        scale[-len(craft.wheels) :] = wheel_speed
    return q, scale * rng.normal(size=craft.nv)
