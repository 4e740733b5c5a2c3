"""Configurations as points of a manifold: where it starts, how it is left, how two of them differ."""

from __future__ import annotations

import numpy as np

from ..algebra import Array
from ..model import Spacecraft
from .arguments import configuration, rates


def neutral(craft: Spacecraft) -> Array:
    """Configuration with all joint coordinates zero and the base at the inertial frame, (nq,)."""
    return np.concatenate([joint.motion.neutral() for joint in craft.joints])


def configuration_rate(craft: Spacecraft, q: Array, v: Array) -> Array:
    """d/dt q at velocity v, (nq,)."""
    q, v = configuration(craft, q), rates(craft, v)
    return np.concatenate([j.motion.qdot(q[j.q_at], v[j.v_at]) for j in craft.joints])


def step_configuration(craft: Spacecraft, q: Array, dv: Array) -> Array:
    """Where the craft is after one second at constant velocity dv: q + dv on the manifold, (nq,)."""
    q, dv = configuration(craft, q), rates(craft, dv, "dv")
    return np.concatenate([j.motion.step(q[j.q_at], dv[j.v_at]) for j in craft.joints])


def configuration_difference(craft: Spacecraft, q0: Array, q1: Array) -> Array:
    """dv with `step_configuration(craft, q0, dv) = q1`, shortest way round; zero for wheels, (nv,)."""
    q0, q1 = configuration(craft, q0, "q0"), configuration(craft, q1, "q1")
    return np.concatenate([j.motion.difference(q0[j.q_at], q1[j.q_at]) for j in craft.joints])
