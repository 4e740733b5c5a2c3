"""Dual momentum and kinetic energy of the whole craft (30), (31)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import Array, dq_circle, dq_swap, dq_to_parent, dual_wrench, wrench_from_dual
from ...kinematics.arguments import configuration, rates
from ...model import Spacecraft
from .kinematics import Frames, Motion, frames, motion_of_rates, pose_of_bodies


def dual_momentum(craft: Spacecraft, q: Array, v: Array) -> Array:
    """H_S = sum q_{b/N} (M_b w_b^s) q*_{b/N}: linear + eps angular about the inertial origin, in N (30), (8,)."""
    q, v = configuration(craft, q), rates(craft, v)
    f = frames(craft, q, {})
    return total_momentum(craft, f, motion_of_rates(craft, f, v))


def total_momentum(craft: Spacecraft, f: Frames, m: Motion) -> Array:
    """(30) from frames and dual velocities, whatever those came from, (8,)."""
    X_Nb, total = pose_of_bodies(f), np.zeros(8)
    for B, _ in f.bodies:
        total = total + dq_to_parent(X_Nb[B], f.M[B] @ dq_swap(m.w[B]) + _spin(craft, f, m, B))
    return total


def momentum(craft: Spacecraft, q: Array, v: Array) -> Array:
    """[angular about the inertial origin; linear] in N, (6,)."""
    return wrench_from_dual(dual_momentum(craft, q, v))


def kinetic_energy(craft: Spacecraft, q: Array, v: Array) -> Any:
    """1/2 sum w_b^s o (M_b w_b^s) (31), with wheels and geared rotors, in J."""
    q, v = configuration(craft, q), rates(craft, v)
    f = frames(craft, q, {})
    m = motion_of_rates(craft, f, v)
    twice: Any = 0.0
    for B, _ in f.bodies:
        joint, w_s = craft.joint(B), dq_swap(m.w[B])
        twice = twice + dq_circle(w_s, f.M[B] @ w_s)
        if joint.nv:
            twice = twice + joint.armature * (joint.rate(v) @ joint.rate(v))
        for J, _, h in _wheels(craft, f, m, B):
            twice = twice + h * h / J
    return 0.5 * twice


def _spin(craft: Spacecraft, f: Frames, m: Motion, B: str) -> Array:
    """Momentum of the wheels along their axes, which M_b leaves out, in frame b, (8,)."""
    total = np.zeros(8)
    for _, a, h in _wheels(craft, f, m, B):
        total = total + dual_wrench(np.concatenate([a * h, np.zeros(3)]))
    return total


def _wheels(craft: Spacecraft, f: Frames, m: Motion, B: str) -> list[tuple[Any, Array, Any]]:
    """(J, axis in frame b, h = J (W + a.w)) of each wheel."""
    found = []
    for wheel in f.carrier[B].wheels:
        a = f.map[B].R_Bi.T @ wheel.a
        found.append((wheel.J, a, wheel.J * (craft.joint(wheel.name).rate(m.v)[0] + a @ m.w[B][1:4])))
    return found
