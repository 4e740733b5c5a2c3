"""The motions that all integrators are given: a six-link arm on a free base,
its joints driven along references, or tumbling.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from arms import arm

import gyrostat as gs
from gyrostat.algebra import cos, sin

CRAFT = arm(6)
START = np.array([0.3, -0.5, 0.8, 0.2, 0.4, -0.1])  # rad
SWING = np.array([0.8, 0.6, -0.9, 0.7, -0.6, 1.0])  # rad
PHASE = 2.0 * np.pi / 200.0 * np.array([1.0, 2.0, 1.0, 3.0, 2.0, 4.0])  # rad/s
INERTIA = np.diag(gs.generalized_inertia(CRAFT, np.concatenate([gs.neutral(CRAFT)[:7], START])))
KP, KD = 0.09 * INERTIA, 0.42 * INERTIA  # 0.3 rad/s, damping 0.7, joint by joint
PUSH = np.concatenate([np.zeros(6), [0.1, 0.2, -0.1, 0.05, 0.02, 0.01]])  # N m


class Case(NamedTuple):
    """One motion: `law(craft, t, q, v)` from q0, v0 until T."""

    name: str
    law: Any
    q0: np.ndarray
    v0: np.ndarray
    T: float

    def states(self, runs: int) -> tuple[np.ndarray, np.ndarray]:
        """As many initial states near by."""
        rng = np.random.default_rng(0)
        q, v = np.repeat(self.q0[None], runs, 0), np.repeat(self.v0[None], runs, 0)
        v[:, 6:] += 1e-3 * rng.normal(size=(runs, 6))
        return q, v


def reference(t: Any) -> tuple[Any, Any]:
    """Joint angles and rates: there and back, along cosines."""
    q = np.array([a + 0.5 * s * (1.0 - cos(w * t)) for a, s, w in zip(START, SWING, PHASE, strict=True)])
    return q, np.array([0.5 * s * w * sin(w * t) for s, w in zip(SWING, PHASE, strict=True)])


def follow(craft: gs.Spacecraft, t: Any, q: Any, v: Any) -> Any:
    target, rate = reference(t)
    return np.concatenate([np.zeros(6), KP * (target - q[7:]) + KD * (rate - v[6:])])


def hold(craft: gs.Spacecraft, t: Any, q: Any, v: Any) -> Any:
    return np.concatenate([np.zeros(6), KP * (START + SWING - q[7:]) - KD * v[6:]])


def push(craft: gs.Spacecraft, t: Any, q: Any, v: Any) -> Any:
    return PUSH


def _state(base: Any, rates: Any) -> tuple[np.ndarray, np.ndarray]:
    q = gs.neutral(CRAFT)
    q[7:] = START
    return q, np.concatenate([base, rates])


MANOEUVRE = Case("manoeuvre, 200 s", follow, *_state([0.004, -0.003, 0.005, 0.02, -0.01, 0.015], np.zeros(6)), 200.0)
TUMBLE = Case("tumbling, 50 s", push, *_state(np.zeros(6), [0.1, -0.1, 0.2, 0.1, -0.2, 0.3]), 50.0)
HOLD = Case("joints held by PD", hold, *_state([0.01, -0.02, 0.015, 0.1, 0.0, 0.05], np.zeros(6)), 1.0)
