"""Nodes of a flexible body: where they are and how they move, as joints and frames that sit on them see it.

With eta the modal coordinates, theta = Psi eta, at a node with position r and shapes Phi, Psi, G:

    p = r + Phi eta + 1/2 eta^T G eta,   P = dp/deta = Phi + G eta,   R = exp(theta^)                        (1)
    twist of the node in B, about the node in its axes: B etadot,  B = [Jr(theta) Psi; R^T P]                (2)
    Bdot = [Jrdot Psi; -(Jr Psi etadot)^ R^T P + R^T (G etadot)]                                             (3)

    Jr = 1 - a t^ + b t^ t^,  a = c_2(s), b = c_3(s) (Stumpff), s = theta . theta
    Jrdot = -a' sd t^ - a td^ + b' sd t^ t^ + b (td^ t^ + t^ td^)                                            (4)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, Pose, RigidInertia, exp_so3, rigid_inertia, skew, stumpff
from .parts import _set, array, inertia_of, scalar


@dataclass(frozen=True, eq=False)
class Node:
    """A lump of a flexible body: its place in B where nothing is bent, mass, and inertia about itself in B's axes.

    Without mass and inertia it is a place to attach something to, or to look at.
    """

    name: str
    position: Any
    mass: Any = 0.0
    inertia: Any = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        what = f"node '{self.name}'"
        _set(self, "position", array(self.position, (3,), f"{what}: position"))
        _set(self, "mass", scalar(self.mass, f"{what}: mass"))
        _set(self, "inertia", inertia_of(self.inertia, f"{what}: inertia"))

    @property
    def rigid(self) -> RigidInertia:
        """Its inertia about Bo where nothing is bent."""
        return rigid_inertia(self.mass, self.position, self.inertia)


class Turn(NamedTuple):
    """Rotation of a node and its right Jacobian; theta, with theta . theta, for their rates."""

    R: Array
    Jr: Array
    theta: Array
    s: Any


@dataclass(frozen=True, eq=False)
class Mount:
    """A node as what sits on it sees it: position, shapes, and where the modal coordinates stand in q and v."""

    position: Array  # (3,)
    translation: Array  # Phi (3, n)
    rotation: Array  # Psi (3, n)
    second_order: Array | None  # G (3, n, n)
    q_at: slice = field(default_factory=lambda: slice(0, 0))
    v_at: slice = field(default_factory=lambda: slice(0, 0))

    @property
    def turns(self) -> bool:
        return bool(np.any(self.rotation))

    def place(self, e: Array) -> Array:
        """p of (1)."""
        p = self.position + self.translation @ e
        return p if self.second_order is None else p + 0.5 * (self.second_order @ e) @ e

    def slope(self, e: Array) -> Array:
        """P of (1), (3, n)."""
        return self.translation if self.second_order is None else self.translation + self.second_order @ e

    def turn(self, e: Array) -> Turn:
        theta = self.rotation @ e
        s, t = theta @ theta, skew(theta)
        return Turn(exp_so3(theta), np.eye(3) - stumpff(2, s) * t + stumpff(3, s) * (t @ t), theta, s)

    def pose(self, q: Array) -> Pose:
        """X_Pi at the craft's q."""
        e = q[self.q_at]
        return Pose(exp_so3(self.rotation @ e) if self.turns else np.eye(3), self.place(e))

    def map(self, q: Array) -> Array:
        """B of (2), (6, n)."""
        e = q[self.q_at]
        P = self.slope(e)
        if not self.turns:
            return np.concatenate([np.zeros(P.shape), P])
        turn = self.turn(e)
        return np.concatenate([turn.Jr @ self.rotation, turn.R.T @ P])

    def map_rate(self, q: Array, v: Array) -> Array:
        """Bdot of (3), (6, n)."""
        e, ed = q[self.q_at], v[self.v_at]
        P = self.slope(e)
        curved = np.zeros(P.shape) if self.second_order is None else self.second_order @ ed
        if not self.turns:
            return np.concatenate([np.zeros(P.shape), curved])
        turn = self.turn(e)
        spin = turn.Jr @ (self.rotation @ ed)
        angular = jacobian_rate(turn, self.rotation @ ed) @ self.rotation
        return np.concatenate([angular, turn.R.T @ curved - skew(spin) @ (turn.R.T @ P)])


def jacobian_rate(turn: Turn, td: Array) -> Array:
    """Jrdot of (4), (3, 3), where theta changes at td."""
    t, d, s = skew(turn.theta), skew(td), turn.s
    c = [stumpff(k, s) for k in (2, 3, 4, 5)]
    a, b = c[0], c[1]
    da, db = 0.5 * (2.0 * c[2] - c[1]), 0.5 * (3.0 * c[3] - c[2])  # c_k' = (k c_k+2 - c_k+1) / 2
    sd = 2.0 * (turn.theta @ td)
    return (db * sd) * (t @ t) + b * (d @ t + t @ d) - (da * sd) * t - a * d
