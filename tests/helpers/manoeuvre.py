"""A free-floating six-link manoeuvre of 200 s: the servicer's joints follow smooth references under
PD or computed torque.
"""

from __future__ import annotations

import numpy as np

import gyrostat as gs
from gyrostat.algebra import clip
from gyrostat.models import servicer

T = 200.0
START = np.array([0.3, -0.5, 0.8, 0.2, 0.4, -0.1])
# rad, one after the other, 100 s each
MOVES = np.array([[0.6, 0.5, -0.7, 0.4, -0.5, 0.8], [-0.9, 0.4, 0.5, -0.6, 0.7, -0.5]])
BREAKPOINTS = (100.0,)
KP = np.array([60.0, 90.0, 60.0, 3.0, 0.4, 0.1])  # N m/rad
KD = np.array([400.0, 600.0, 300.0, 12.0, 1.2, 0.2])  # N m s/rad


def reference(t):
    """Joint coordinates, rates and accelerations: polynomials of degree five."""
    q, rate, acceleration = START, np.zeros(6), np.zeros(6)
    for k, move in enumerate(MOVES):
        u = clip((t - 100.0 * k) / 100.0, 0.0, 1.0)
        q = q + move * (u * u * u * (10.0 + u * (6.0 * u - 15.0)))
        rate = rate + move / 100.0 * (30.0 * u * u * (1.0 - u) * (1.0 - u))
        acceleration = acceleration + move / 100.0**2 * (60.0 * u * (1.0 - u) * (1.0 - 2.0 * u))
    return q, rate, acceleration


def pd(craft, t, q, v):
    target, rate, _ = reference(t)
    return np.concatenate([np.zeros(6), KP * (target - q[7:]) + KD * (rate - v[6:])])


def computed_torque(craft, t, q, v):
    target, rate, acceleration = reference(t)
    u = acceleration + 0.4 * (rate - v[6:]) + 0.04 * (target - q[7:])
    joints = {body.joint.name: u[k] for k, body in enumerate(craft.bodies[1:])}
    load = gs.hybrid_dynamics(craft, q, v, np.zeros(craft.nv), prescribed=joints).tau
    return np.concatenate([np.zeros(6), load[6:]])


def start(craft=None):
    """The servicer, its joints where the reference starts, tumbling slowly and drifting."""
    craft = craft or servicer()
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    q[7:] = START
    v[:6] = [0.004, -0.003, 0.005, 0.02, -0.01, 0.015]
    return craft, q, v
