"""A spacecraft as a MuJoCo model without gravity and contacts. `qvel` of a free joint: velocity in N, then angular velocity in B."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from ...algebra import Array, quat_from_rotation, rotation
from ...model import Joint, Spacecraft
from .shared import depth_first, plane_axes


class MuJoCo:
    """The craft as a MuJoCo model, without gravity and contacts; methods take and return gyrostat's conventions."""

    @staticmethod
    def lacks(craft: Spacecraft) -> str | None:
        """Why MuJoCo cannot hold this craft, or None."""
        for body in craft.bodies:
            if body.mass <= 0 and not (body.included and body.joint.kind == "wheel") and body.joint.kind != "fixed":
                return f"moving body '{body.name}' has no mass"
            if body.joint.armature and body.joint.kind in ("planar", "free"):
                return f"joint '{body.joint.name}' has a rotor on rates that turn with the body"
        return None

    def __init__(self, craft: Spacecraft) -> None:
        self.craft = craft
        spec = mujoco.MjSpec()
        spec.option.gravity = np.zeros(3)
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        made: dict[str | None, Any] = {None: spec.worldbody}
        for name in depth_first(craft):
            body = craft.body(name)
            joint = body.joint
            part = made[body.parent].add_body(
                name=f"body:{name}", pos=joint.position, quat=quat_from_rotation(joint.rotation)
            )
            mass, com, inertia = self._inertia(name)
            moments, axes = np.linalg.eigh(inertia)
            if np.linalg.det(axes) < 0:
                axes[:, 0] = -axes[:, 0]
            part.explicitinertial = True
            part.mass, part.ipos, part.iquat, part.inertia = (
                mass,
                com,
                quat_from_rotation(axes),
                np.maximum(moments, 0.0),
            )
            for k, (kind, axis) in enumerate(self._joints(joint)):
                part.add_joint(name=f"{joint.name}/{k}", type=kind, axis=axis, armature=joint.armature)
            made[name] = part
        self.spec = spec  # for those who add to it and compile again
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    @staticmethod
    def _joints(joint: Joint) -> list[tuple]:
        hinge, slide, ball = (getattr(mujoco.mjtJoint, f"mjJNT_{k}") for k in ("HINGE", "SLIDE", "BALL"))
        x, y, z = np.eye(3)
        if joint.kind in ("revolute", "wheel"):
            return [(hinge, joint.axis)]
        if joint.kind == "planar":
            axes = plane_axes(joint.axis)
            return [(slide, axes[:, 0]), (slide, axes[:, 1]), (hinge, joint.axis)]
        if joint.kind == "free":
            if joint.parent is None and not joint.position.any() and (joint.rotation == np.eye(3)).all():
                return [(mujoco.mjtJoint.mjJNT_FREE, z)]
            return [(slide, x), (slide, y), (slide, z), (ball, z)]
        return {
            "prismatic": [(slide, joint.axis)],
            "cylindrical": [(hinge, joint.axis), (slide, joint.axis)],
            "universal": [(hinge, joint.axis), (hinge, joint.axis2)],
            "spherical": [(ball, z)],
            "cartesian": [(slide, x), (slide, y), (slide, z)],
            "fixed": [],
        }[joint.kind]

    def _inertia(self, name: str) -> tuple[float, Array, Array]:
        """As given; but MuJoCo wants a wheel with mass, so a wheel that its carrier includes is cut out of it as a thin disc."""
        body = self.craft.body(name)
        mass, com, inertia = body.mass, np.array(body.com), np.array(body.inertia)
        if body.included:
            J = body.joint.axis @ inertia @ body.joint.axis
            return (
                self._disc_mass(name),
                np.zeros(3),
                inertia + 0.51 * J * (np.eye(3) - np.outer(body.joint.axis, body.joint.axis)),
            )
        for wheel in self.craft.wheels:
            if wheel.included and wheel.parent == name:
                m, _, disc = self._inertia(wheel.name)
                R, p = wheel.joint.rotation, wheel.joint.position
                rest = (mass * com - m * p) / (mass - m)
                inertia = inertia + _point(mass, com) - _point(mass - m, rest) - _point(m, p) - R @ disc @ R.T
                mass, com = mass - m, rest
        return mass, com, inertia

    def _disc_mass(self, wheel: str) -> float:
        return 1e-6 * self.craft.body(str(self.craft.body(wheel).parent)).mass

    # states

    def _joint_at(self, joint: Joint) -> tuple[int, int]:
        first = self.model.joint(f"{joint.name}/0").id
        return self.model.jnt_qposadr[first], self.model.jnt_dofadr[first]

    def T(self, q: Array) -> Array:
        """v_mujoco = T v."""
        T = np.zeros((self.craft.nv, self.craft.nv))
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
            at = self._joint_at(joint)[1]
            T[at : at + joint.nv, joint.v_at] = block
        return T

    def Tdot_v(self, q: Array, v: Array) -> Array:
        out = np.zeros(self.craft.nv)
        for joint in self.craft.joints:
            mine = v[joint.v_at]
            if joint.kind == "free":
                at = self._joint_at(joint)[1]
                out[at : at + 3] = rotation(q[joint.q_at][:4]) @ np.cross(mine[:3], mine[3:])
            elif joint.kind == "planar":
                at = self._joint_at(joint)[1]
                c, s = np.cos(q[joint.q_at][2]), np.sin(q[joint.q_at][2])
                out[at : at + 2] = mine[0] * np.array([[-s, -c], [c, -s]]) @ mine[1:]
        return out

    def set_state(self, q: Array, v: Array, vdot: Array | None = None) -> Array:
        """Puts the state in place, computes what depends on position and velocity, returns T."""
        for joint in self.craft.joints:
            if not joint.nq:
                continue
            at, mine = self._joint_at(joint)[0], q[joint.q_at]
            if joint.kind == "free":
                mine = np.concatenate([mine[4:], mine[:4] / np.linalg.norm(mine[:4])])
            elif joint.kind == "spherical":
                mine = mine / np.linalg.norm(mine)
            self.data.qpos[at : at + len(mine)] = mine
        T = self.T(q)
        self.data.qvel[:] = T @ v
        self.data.qfrc_applied[:] = 0.0
        mujoco.mj_fwdPosition(self.model, self.data)
        mujoco.mj_fwdVelocity(self.model, self.data)
        if vdot is not None:
            self.data.qacc[:] = T @ vdot + self.Tdot_v(q, v)
        return T

    def _applied(self, wrenches: Array | None) -> Array:
        """Generalised force of wrenches given in B about Bo; MuJoCo's rates."""
        total = np.zeros(self.model.nv)
        for body, row in zip(self.craft.bodies, [] if wrenches is None else wrenches, strict=wrenches is not None):
            k = self._id(body.name)
            R, p = self._body_pose(body.name)
            mujoco.mj_applyFT(self.model, self.data, R @ row[3:], R @ row[:3], p, k, total)
        return total

    def _id(self, name: str) -> int:
        return self.model.body(f"body:{name}").id  # prefixed: MuJoCo keeps "world" for itself

    def _body_pose(self, name: str) -> tuple[Array, Array]:
        k = self._id(name)
        return self.data.xmat[k].reshape(3, 3), self.data.xpos[k]

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
        for body, row in zip(self.craft.bodies, [] if wrenches is None else wrenches, strict=wrenches is not None):
            k = self._id(body.name)
            R, p = self._body_pose(body.name)
            force, torque = R @ row[3:], R @ row[:3]
            self.data.xfrc_applied[k] = np.concatenate([force, torque + np.cross(p - self.data.xipos[k], force)])
        mujoco.mj_rnePostConstraint(self.model, self.data)
        self.data.xfrc_applied[:] = 0.0
        rows = np.full((self.craft.nbodies, 6), np.nan)
        for i, body in enumerate(self.craft.bodies):
            if not body.included:
                k = self._id(body.name)
                R, p = self._body_pose(body.name)
                torque, force = self.data.cfrc_int[k][:3], self.data.cfrc_int[k][3:]
                center = self.data.subtree_com[self.model.body_rootid[k]]
                rows[i] = np.concatenate([R.T @ (torque + np.cross(center - p, force)), R.T @ force])
        return rows

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


def _point(mass: float, p: Array) -> Array:
    """Inertia about the origin of a point mass at p."""
    return mass * (p @ p * np.eye(3) - np.outer(p, p))
