"""MuJoCo's own reading of an MJCF text, compared with ours."""

from __future__ import annotations

import mujoco
import numpy as np

import gyrostat as gs
from gyrostat.verification.peers.mujoco import MuJoCo


def body_pose(peer: MuJoCo, q: np.ndarray, body: str) -> tuple[np.ndarray, np.ndarray]:
    peer.set_state(q)
    b = peer.data.body(body)
    return b.xmat.reshape(3, 3).copy(), b.xpos.copy()


def site_pose(peer: MuJoCo, q: np.ndarray, site: str) -> tuple[np.ndarray, np.ndarray]:
    peer.set_state(q)
    s = peer.data.site(site)
    return s.xmat.reshape(3, 3).copy(), s.xpos.copy()


def relative(a, b) -> float:
    a, b = np.asarray(a), np.asarray(b)
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-300)) if a.size else 0.0


def assert_same_dynamics(craft: gs.Spacecraft, model: mujoco.MjModel, seed: int, tolerance: float = 1e-12) -> MuJoCo:
    """Mass, M and bias of our craft against MuJoCo's own model of the file."""
    from random_trees import random_state

    read = MuJoCo(craft, model=model)
    q, v = random_state(craft, seed)
    assert model.nv == craft.nv
    M = gs.mass_matrix(craft, q)
    assert relative(M, read.mass_matrix(q)) <= tolerance
    assert relative(gs.bias_force(craft, q, v), read.bias_force(q, v)) <= tolerance
    return read
