"""What MuJoCo computes of a spacecraft, in gyrostat's conventions."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np

from ...algebra import Array
from ...model import Joint, Spacecraft
from . import mujoco_model
from .mujoco_model import rotation


class MuJoCo:
    """The craft as a MuJoCo model; methods take and return gyrostat's conventions.

    model: MuJoCo's own reading of the craft's file, instead of one built here; its gravity is set to zero.
    """

    lacks = staticmethod(mujoco_model.lacks)

    def __init__(self, craft: Spacecraft, *, model: mujoco.MjModel | None = None) -> None:
        self.craft, self.read = craft, model is not None
        if model is None:
            self.spec = mujoco_model.build(craft)  # for those who add to it and compile again
            model = self.spec.compile()
        self.model = model
        self.model.opt.gravity[:] = 0.0
        self.data = mujoco.MjData(self.model)

    # states

    def place(self, joint: Joint) -> tuple[int, int]:
        """Where the joint begins in qpos and in qvel. In files, only the free joint may lack a name."""
        name = joint.name if self.read else f"{joint.name}/0"
        first = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if first < 0 and joint.kind == "free":
            first = int(np.flatnonzero(self.model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)[0])
        return self.model.jnt_qposadr[first], self.model.jnt_dofadr[first]

    def qpos(self, q: Array) -> Array:
        out = np.zeros(self.model.nq)
        for joint in self.craft.joints:
            if not joint.nq:
                continue
            at, mine = self.place(joint)[0], q[joint.q_at]
            if joint.kind == "free":
                mine = np.concatenate([mine[4:], mine[:4] / np.linalg.norm(mine[:4])])
            elif joint.kind == "spherical":
                mine = mine / np.linalg.norm(mine)
            out[at : at + len(mine)] = mine
        return out

    def T(self, q: Array) -> Array:
        """v_mujoco = T v."""
        T = np.zeros((self.model.nv, self.craft.nv))
        for joint in self.craft.joints:
            if not joint.nv:
                continue
            block = np.eye(joint.nv)
            if joint.kind == "free":
                R = rotation(q[joint.q_at][:4])
                block = np.block([[np.zeros((3, 3)), R], [np.eye(3), np.zeros((3, 3))]])
            elif joint.kind == "planar":
                c, s = np.cos(q[joint.q_at][2]), np.sin(q[joint.q_at][2])
                block = np.array([[0, c, -s], [0, s, c], [1, 0, 0]])
            at = self.place(joint)[1]
            T[at : at + joint.nv, joint.v_at] = block
        return T

    def Tdot_v(self, q: Array, v: Array) -> Array:
        out = np.zeros(self.model.nv)
        for joint in self.craft.joints:
            mine = v[joint.v_at]
            if joint.kind == "free":
                at = self.place(joint)[1]
                out[at : at + 3] = rotation(q[joint.q_at][:4]) @ np.cross(mine[:3], mine[3:])
            elif joint.kind == "planar":
                at = self.place(joint)[1]
                c, s = np.cos(q[joint.q_at][2]), np.sin(q[joint.q_at][2])
                out[at : at + 2] = mine[0] * np.array([[-s, -c], [c, -s]]) @ mine[1:]
        return out

    def set_state(self, q: Array, v: Array | None = None, vdot: Array | None = None) -> Array:
        """Puts the state in place, computes what depends on position and velocity, returns T."""
        v, T = np.zeros(self.craft.nv) if v is None else v, self.T(q)
        self.data.qpos[:], self.data.qvel[:] = self.qpos(q), T @ v
        self.data.qfrc_applied[:] = 0.0
        mujoco.mj_fwdPosition(self.model, self.data)
        mujoco.mj_fwdVelocity(self.model, self.data)
        if vdot is not None:
            self.data.qacc[:] = T @ vdot + self.Tdot_v(q, v)
        return T

    def _id(self, name: str) -> int:
        return self.model.body(name if self.read else f"body:{name}").id

    def _pose(self, name: str) -> tuple[Array, Array]:
        k = self._id(name)
        return self.data.xmat[k].reshape(3, 3), self.data.xpos[k]

    # dynamics

    def _full_M(self) -> Array:
        M = np.zeros((self.model.nv, self.model.nv))
        for column, unit in zip(M.T, np.eye(self.model.nv), strict=True):
            product = np.zeros(self.model.nv)
            mujoco.mj_mulM(self.model, self.data, product, unit)
            column[:] = product
        return M

    def _in_N(self, wrenches: Array | None) -> list[tuple[int, Array, Array, Array]]:
        """(body, force, torque about Bo, p_NB) in N, of each wrench given in B about Bo."""
        found = []
        for body, row in zip(self.craft.bodies, [] if wrenches is None else wrenches, strict=wrenches is not None):
            R, p = self._pose(body.name)
            found.append((self._id(body.name), R @ row[3:], R @ row[:3], p))
        return found

    def _applied(self, wrenches: Array | None) -> Array:
        """Generalised force of the wrenches; MuJoCo's rates."""
        total = np.zeros(self.model.nv)
        for k, force, torque, p in self._in_N(wrenches):
            mujoco.mj_applyFT(self.model, self.data, force, torque, p, k, total)
        return total

    def mass_matrix(self, q: Array) -> Array:
        T = self.set_state(q)
        return T.T @ self._full_M() @ T

    def bias_force(self, q: Array, v: Array) -> Array:
        T = self.set_state(q, v)
        return T.T @ (self.data.qfrc_bias + self._full_M() @ self.Tdot_v(q, v))

    def inverse_dynamics(self, q: Array, v: Array, vdot: Array, wrenches: Array | None = None) -> Array:
        T = self.set_state(q, v, vdot)
        mujoco.mj_inverse(self.model, self.data)
        return T.T @ (self.data.qfrc_inverse - self._applied(wrenches))

    def forward_dynamics(self, q: Array, v: Array, tau: Array, wrenches: Array | None = None) -> Array:
        T = self.set_state(q, v)
        self.data.qfrc_applied[:] = np.linalg.solve(T.T, tau) + self._applied(wrenches)
        mujoco.mj_forward(self.model, self.data)
        vdot = np.linalg.solve(T, self.data.qacc - self.Tdot_v(q, v))
        self.data.qfrc_applied[:] = 0.0
        return vdot

    def reaction_wrenches(self, q: Array, v: Array, vdot: Array, wrenches: Array | None = None) -> Array:
        """Rows of wheels that their carriers include are NaN: here they are discs with mass."""
        self.set_state(q, v, vdot)
        for k, force, torque, p in self._in_N(wrenches):
            self.data.xfrc_applied[k] = np.concatenate([force, torque + np.cross(p - self.data.xipos[k], force)])
        mujoco.mj_rnePostConstraint(self.model, self.data)
        self.data.xfrc_applied[:] = 0.0
        rows = np.full((self.craft.nbodies, 6), np.nan)
        for i, body in enumerate(self.craft.bodies):
            if not body.included:
                k = self._id(body.name)
                R, p = self._pose(body.name)
                torque, force = self.data.cfrc_int[k][:3], self.data.cfrc_int[k][3:]
                center = self.data.subtree_com[self.model.body_rootid[k]]
                rows[i] = np.concatenate([R.T @ (torque + np.cross(center - p, force)), R.T @ force])
        return rows

    # kinematics

    def poses(self, q: Array) -> tuple[Array, Array]:
        """R_NB (nbodies, 3, 3) and p_NB (nbodies, 3)."""
        self.set_state(q)
        X = [self._pose(body.name) for body in self.craft.bodies]
        return np.array([x[0] for x in X]), np.array([x[1] for x in X])

    def jacobian(self, q: Array, body: str, point: Array) -> Array:
        T = self.set_state(q)
        return self._point_jacobian(mujoco.mj_jac, body, point) @ T

    def jacobian_rate(self, q: Array, v: Array, body: str, point: Array) -> Array:
        """d/dt (J_mujoco T), applied to v alone: MuJoCo's mj_jacDot gives Jdot of its own
        rates; T contributes Tdot v.
        """
        T = self.set_state(q, v)
        J, Jdot = (self._point_jacobian(f, body, point) for f in (mujoco.mj_jac, mujoco.mj_jacDot))
        return Jdot @ (T @ v) + J @ self.Tdot_v(q, v)

    def _point_jacobian(self, function: Callable[..., None], body: str, point: Array) -> Array:
        R, p = self._pose(body)
        linear, angular = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        function(self.model, self.data, linear, angular, p + R @ point, self._id(body))
        return np.vstack([angular, linear])

    # momentum and energy

    def center_of_mass(self, q: Array) -> Array:
        self.set_state(q)
        return self.data.subtree_com[0].copy()

    def momentum(self, q: Array, v: Array) -> Array:
        """About N's origin."""
        self.set_state(q, v)
        mujoco.mj_subtreeVel(self.model, self.data)
        linear = self.model.body_subtreemass[0] * self.data.subtree_linvel[0]
        return np.concatenate([self.data.subtree_angmom[0] + np.cross(self.data.subtree_com[0], linear), linear])

    def kinetic_energy(self, q: Array, v: Array) -> float:
        self.set_state(q, v)
        mujoco.mj_energyVel(self.model, self.data)
        return float(self.data.energy[1])
