"""Arms of Wilde et al. (2018) for tests: random ones in the paper's own description and as spacecraft,
states, exact derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import gyrostat as gs
from exact import TINY, exact, floats, mp
from gyrostat.algebra import quat_from_rotation, skew
from gyrostat.formulations.generalized_jacobian.arm import Arm, arm_from_table
from gyrostat.formulations.generalized_jacobian.direction_cosines import homogeneous, joint_transforms, link_transforms
from gyrostat.formulations.generalized_jacobian.inertia_blocks import Blocks
from gyrostat.formulations.generalized_jacobian.links import Links, arm_links
from gyrostat.model import DHLink
from random_trees import random_inertia, random_rotation


class State(NamedTuple):
    """The paper's: base position and rotation, joint angles,
    base velocity [v_0; w_0] in inertial components, joint rates.
    """

    r_0: np.ndarray
    R_0: np.ndarray
    q: np.ndarray
    xdot_0: np.ndarray
    qdot: np.ndarray

    @property
    def T_J0(self) -> np.ndarray:
        return homogeneous(self.R_0, self.r_0)

    @property
    def w_0(self) -> np.ndarray:
        return self.xdot_0[3:]

    @property
    def nu(self) -> np.ndarray:
        return np.concatenate([self.xdot_0, self.qdot])


def random_arm(seed: int, n: int = 4) -> tuple[Arm, gs.Spacecraft]:
    """Every parameter at random, d and the offset of the centre of mass included; the same as a spacecraft."""
    rng = np.random.default_rng(seed)
    base = gs.Body("base", 20.0, inertia=random_inertia(rng, 20.0))
    links = [
        DHLink(
            d=rng.normal(scale=0.3),
            alpha=rng.uniform(-np.pi, np.pi),
            a=rng.uniform(0.1, 0.5),
            b=rng.uniform(0.1, 0.5),
            mass=(mass := rng.uniform(1, 8)),
            inertia=random_inertia(rng, mass),
            com=rng.normal(scale=0.1, size=3),
        )
        for _ in range(n)
    ]
    mount = {"mount_position": rng.normal(scale=0.5, size=3), "mount_rotation": random_rotation(rng)}
    return arm_from_table(base, links, **mount), gs.Spacecraft.from_dh(f"arm_{seed}", base, links, **mount)


def random_arm_state(arm: Arm, seed: int) -> State:
    rng = np.random.default_rng(seed)
    return State(
        rng.normal(size=3), random_rotation(rng), rng.uniform(-3, 3, arm.n), rng.normal(size=6), rng.normal(size=arm.n)
    )


def frames(arm: Arm, s: State) -> tuple[list[np.ndarray], list[np.ndarray]]:
    T_J = joint_transforms(arm, s.T_J0, s.q)
    return T_J, link_transforms(arm, T_J, s.q)


def links_at(arm: Arm, s: State) -> Links:
    return arm_links(arm, *frames(arm, s))


def whole(H: Blocks) -> np.ndarray:
    return np.block([[H.H_0, H.H_0m], [H.H_0m.T, H.H_m]])


# ---- the same state for the spacecraft


def to_craft(craft: gs.Spacecraft, s: State) -> tuple[np.ndarray, np.ndarray]:
    """q, v in gyrostat's order; the base's frame sits in its centre of mass."""
    q = np.concatenate([quat_from_rotation(s.R_0), s.r_0, s.q])
    return q, velocity_map(s) @ s.nu


def velocity_map(s: State) -> np.ndarray:
    """B with v = B nu."""
    n, R = len(s.q), s.R_0
    Z3 = np.zeros((3, 3))
    base = np.block([[Z3, R.T], [R.T, Z3]])
    return np.block([[base, np.zeros((6, n))], [np.zeros((n, 6)), np.eye(n)]])


def swapped(x: np.ndarray) -> np.ndarray:
    """[linear; angular] rows as [angular; linear] ones."""
    return np.concatenate([x[3:], x[:3]])


# ---- derivatives, exact to thirty digits


def exact_arm(arm: Arm) -> Arm:
    fields = ("mass", "inertia", "d", "a", "b", "b0", "R01", "offset")
    return replace(arm, **{name: exact(getattr(arm, name)) for name in fields})


def along(function: Callable[[State], Any], s: State) -> Any:
    """d/dt function(state) as the base moves with xdot_0 and the joints with qdot (those numbers constant)."""
    s = State(*(exact(x) for x in s))
    dR = skew(s.w_0) @ s.R_0

    def at(h: Any) -> Any:
        return function(State(s.r_0 + h * s.xdot_0[:3], s.R_0 + h * dR, s.q + h * s.qdot, s.xdot_0, s.qdot))

    return floats((at(TINY) - at(-TINY)) / (2 * TINY))


def by_joint(function: Callable[[State], Any], s: State, k: int) -> Any:
    """d/dq_k function(state), the paper's k, the base's pose held."""
    s = State(*(exact(x) for x in s))
    step = np.array([mp.mpf(0)] * len(s.q), dtype=object)
    step[k - 1] = TINY

    def at(sign: int) -> Any:
        return function(s._replace(q=s.q + sign * step))

    return floats((at(1) - at(-1)) / (2 * TINY))


def close(x: Any, y: Any, tolerance: float = 1e-12) -> None:
    """Equal, relative to the larger array's largest entry."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    assert x.shape == y.shape, f"shapes {x.shape} and {y.shape}"
    scale = max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0))
    error = np.abs(x - y).max(initial=0.0)
    assert error <= tolerance * scale, f"differ by {error:.3g} of {scale:.3g}"


def apart(x: Any, y: Any, by: float = 1e-3) -> None:
    """Differ by more than a fraction of the larger array: for printed equations that are wrong."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    scale = max(np.abs(x).max(), np.abs(y).max())
    assert np.abs(x - y).max() > by * scale
