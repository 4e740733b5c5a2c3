"""Random rigid bodies, motions and pairs of bodies for the tests of Forbes (2019)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gyrostat.algebra import rotation
from gyrostat.attitude import PARAMETERISATIONS
from gyrostat.formulations.attitude_lagrange import RigidBody

NAMES = tuple(PARAMETERISATIONS)


class Cloud(NamedTuple):
    """Point masses fixed in B, from z: what a rigid body is made of."""

    masses: np.ndarray
    points: np.ndarray

    @property
    def body(self) -> RigidBody:
        m, r = self.masses, self.points
        J = sum(mi * ((ri @ ri) * np.eye(3) - np.outer(ri, ri)) for mi, ri in zip(m, r, strict=True))
        return RigidBody(m.sum(), m @ r, J)


class Motion(NamedTuple):
    C: np.ndarray
    q: np.ndarray
    qdot: np.ndarray
    v: np.ndarray
    w: np.ndarray

    @property
    def nu(self) -> np.ndarray:
        return np.concatenate([self.v, self.w])


def cloud(seed: int) -> Cloud:
    rng = np.random.default_rng(seed)
    return Cloud(rng.uniform(0.5, 3.0, size=7), rng.normal(size=(7, 3)) + 0.5)


def motion(p, seed: int) -> Motion:
    """At an attitude away from the singularity."""
    rng = np.random.default_rng(seed)
    while True:
        C = rotation(rng.normal(size=4))
        q = p.from_C(C)
        if abs(p.margin(q)) > 0.1:
            w = rng.normal(size=3)
            return Motion(C, q, p.Gamma(q) @ w, rng.normal(size=3), w)
