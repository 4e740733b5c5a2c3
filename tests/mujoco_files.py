"""MuJoCo's own reading of an MJCF text, compared with ours: conversions by joint name."""

from __future__ import annotations

import mujoco
import numpy as np

import gyrostat as gs
from gyrostat.algebra import rotation


class Read:
    """MuJoCo's model of the file, without gravity; methods take and return gyrostat's conventions for `craft`."""

    def __init__(self, model: mujoco.MjModel, craft: gs.Spacecraft):
        self.m, self.craft = model, craft
        model.opt.gravity[:] = 0.0
        self.d = mujoco.MjData(model)

    def place(self, q: np.ndarray) -> np.ndarray:
        """Sets qpos; returns T with qvel = T v."""
        m, T = self.m, np.zeros((self.m.nv, self.craft.nv))
        for joint in self.craft.joints:
            if not joint.nv:
                continue
            j = self._id(joint)
            at_q, at_v, mine = m.jnt_qposadr[j], m.jnt_dofadr[j], q[joint.q_at]
            if joint.kind == "free":
                quat, p = mine[:4] / np.linalg.norm(mine[:4]), mine[4:]
                self.d.qpos[at_q : at_q + 7] = np.concatenate([p, quat])
                T[at_v : at_v + 3, joint.v_at.start + 3 : joint.v_at.start + 6] = rotation(quat)
                T[at_v + 3 : at_v + 6, joint.v_at.start : joint.v_at.start + 3] = np.eye(3)
                continue
            self.d.qpos[at_q : at_q + joint.nq] = mine
            T[at_v : at_v + joint.nv, joint.v_at] = np.eye(joint.nv)
        return T

    def _id(self, joint: gs.Joint) -> int:
        if joint.kind == "free":
            return int(np.flatnonzero(self.m.jnt_type == 0)[0])
        named = mujoco.mj_name2id(self.m, mujoco.mjtObj.mjOBJ_JOINT, joint.name)
        assert named >= 0, joint.name
        return named

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        T = self.place(q)
        mujoco.mj_forward(self.m, self.d)
        M = np.zeros((self.m.nv, self.m.nv))
        mujoco.mj_fullM(self.m, self.d, M)
        return T.T @ M @ T

    def bias_force(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """At zero vdot of ours: MuJoCo's qacc is then Tdot v, w x v of the base turned to the world."""
        T = self.place(q)
        self.d.qvel[:] = T @ v
        mujoco.mj_forward(self.m, self.d)
        qacc = np.zeros(self.m.nv)
        for joint in self.craft.joints:
            if joint.kind == "free":
                w, u = v[joint.v_at][:3], v[joint.v_at][3:]
                at = self.m.jnt_dofadr[self._id(joint)]
                qacc[at : at + 3] = rotation(q[joint.q_at][:4]) @ np.cross(w, u)
        M = np.zeros((self.m.nv, self.m.nv))
        mujoco.mj_fullM(self.m, self.d, M)
        return T.T @ (M @ qacc + self.d.qfrc_bias)

    def body_pose(self, q: np.ndarray, body: str) -> tuple[np.ndarray, np.ndarray]:
        self.place(q)
        mujoco.mj_forward(self.m, self.d)
        b = self.m.body(body).id
        return self.d.xmat[b].reshape(3, 3).copy(), self.d.xpos[b].copy()

    def site_pose(self, q: np.ndarray, site: str) -> tuple[np.ndarray, np.ndarray]:
        self.place(q)
        mujoco.mj_forward(self.m, self.d)
        s = self.m.site(site).id
        return self.d.site_xmat[s].reshape(3, 3).copy(), self.d.site_xpos[s].copy()


def relative(a, b) -> float:
    a, b = np.asarray(a), np.asarray(b)
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-300)) if a.size else 0.0


def assert_same_dynamics(craft: gs.Spacecraft, model: mujoco.MjModel, seed: int, tolerance: float = 1e-12) -> Read:
    """Mass, M and bias of our craft against MuJoCo's own model of the file."""
    from random_trees import random_state

    read = Read(model, craft)
    q, v = random_state(craft, seed)
    assert model.nv == craft.nv
    M = gs.mass_matrix(craft, q)
    assert relative(M, read.mass_matrix(q)) <= tolerance
    assert relative(gs.bias_force(craft, q, v), read.bias_force(q, v)) <= tolerance
    return read
