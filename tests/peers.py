"""gyrostat spacecraft as Pinocchio and as MuJoCo models, and every conversion of conventions. All of them live here.

What differs:

| | gyrostat | Pinocchio | MuJoCo |
|---|---|---|---|
| 6-vectors | [angular; linear] | [linear; angular] | [angular; linear]; `qvel` of a free joint is linear first |
| quaternions | scalar first | scalar last | scalar first |
| free joint | q = (quat, p), v = (w_B, v_B) | q = (p, quat), v = (v_B, w_B) | q = (p, quat), v = (pdot in the parent's axes, w_B) |
| planar joint | q = (x, y, theta), v = (theta rate, v_B) | plane z; q = (x, y, cos, sin), v = (v_B, theta rate) | two slides, a hinge |
| cylindrical, universal | one joint | two joints, a massless body between | two joints in one body |
| cartesian | one joint | translation joint | three slides |
| free joint on a moving body | one joint | one joint | three slides, a ball |
| fixed joint | a body of its own | merged, or a revolute held at rest (`hold_fixed`) | body without joint |
| wheel | no coordinate | revolute, angle zero | hinge, angle zero |
| wheel included in its carrier | inertia J a a^T, no mass | the same, the carrier reduced | as a disc with mass, the carrier reduced by it |
| order of bodies | branch by branch, wheels last | depth first (`crba` is wrong otherwise) | depth first |
| external wrenches | in B about Bo | in the joint's frame | in N about the centre of mass; here through Jacobians |
| reaction wrenches | in B about Bo | `data.f` after `rnea` | `cfrc_int`: in N about the tree's centre of mass |
| momentum | about N's origin | about the centre of mass | about the centre of mass |

Rates map linearly, `v_peer = T(q) v`. For Pinocchio T only permutes; for MuJoCo it turns linear velocities. So, for either,
M = T^T M_peer T, tau = T^T tau_peer, J = J_peer T, and vdot_peer = T vdot + Tdot v.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin

import gyrostat as gs

# ---- shared by both


def own_inertia(craft: gs.Spacecraft, name: str) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia about it of one body; the spin inertia of wheels that it includes is taken out."""
    body = craft.body(name)
    inertia = np.array(body.inertia)
    for wheel in craft.wheels:
        if wheel.included and wheel.parent == name:
            R = wheel.joint.rotation
            inertia = inertia - R @ wheel.inertia @ R.T
    return body.mass, np.array(body.com), inertia


def plane_axes(axis: np.ndarray) -> np.ndarray:
    """R_JA whose z is `axis` and whose x is the planar joint's first direction: nearest to x, or to y if the normal is near x."""
    near = np.array([0.0, 1.0, 0.0]) if abs(axis[0]) > 0.9 else np.array([1.0, 0.0, 0.0])
    second = np.cross(axis, near)
    second /= np.linalg.norm(second)
    return np.column_stack([np.cross(second, axis), second, axis])


def depth_first(craft: gs.Spacecraft) -> list[str]:
    """Body names, each branch finished before the next begins, wheels included."""
    children: dict[str, list[str]] = {}
    for body in craft.bodies[1:]:
        children.setdefault(body.parent, []).append(body.name)
    order, stack = [], [craft.base]
    while stack:
        order.append(stack.pop())
        stack += reversed(children.get(order[-1], []))
    return order


def swapped(x: np.ndarray) -> np.ndarray:
    """[angular; linear] from [linear; angular], and back; rows of a matrix likewise."""
    return np.concatenate([x[3:], x[:3]])


# ---- Pinocchio


class Pinocchio:
    """The craft as a Pinocchio model; methods take and return gyrostat's conventions.

    hold_fixed: fixed joints become revolutes that stand still, so that their loads, and the mass of a fixed base, are counted.
    points: a point (in B) of each body named, for Jacobians.
    """

    def __init__(self, craft: gs.Spacecraft, *, hold_fixed: bool = False, points: dict | None = None):
        self.craft, self.model = craft, pin.Model()
        self.joint: dict[str, int] = {}  # Pinocchio joint that moves each body (the last one, where there are several)
        self.X_AB: dict[str, pin.SE3] = {}  # from that joint's frame A to our body frame B
        self.first: dict[str, int] = {}
        to = np.zeros(craft.nv, dtype=int)
        rotors = []
        for name in depth_first(craft):
            joint, parent = craft.joint(name), craft.body(name).parent
            X_PJ = pin.SE3(np.array(joint.rotation), np.array(joint.position))
            X = X_PJ if parent is None else self.X_AB[parent] * X_PJ
            below = 0 if parent is None else self.joint[parent]
            chain, X_JA, order = self._chain(joint, hold_fixed)
            X = X * X_JA
            for k, motion in enumerate(chain):
                below = self.model.addJoint(below, motion, X, f"{joint.name}/{k}")
                if k == 0:
                    self.first[name] = below
                X = pin.SE3.Identity()
            self.joint[name], self.X_AB[name] = below, X_JA.inverse() if chain else X
            mass, com, inertia = own_inertia(craft, name)
            self.model.appendBodyToJoint(below, pin.Inertia(mass, com, inertia), self.X_AB[name])
            if joint.nv:
                at = self.model.joints[self.first[name]].idx_v + np.array(order)
                to[joint.v_at] = at
                rotors.append((at, joint.armature))
        self.to = to  # v_pin[to] = v
        for at, armature in rotors:
            self.model.armature[at] = armature
        self.frame = {}
        for name, point in (points or {}).items():
            X_AQ = self.X_AB[name] * pin.SE3(np.eye(3), np.asarray(point, dtype=float))
            self.frame[name] = self.model.addFrame(
                pin.Frame(f"{name}/point", self.joint[name], 0, X_AQ, pin.FrameType.OP_FRAME), False
            )
        self.data = self.model.createData()

    @staticmethod
    def _chain(joint: gs.Joint, hold_fixed: bool) -> tuple[list, pin.SE3, list[int]]:
        """Pinocchio joints, the turn R_JA before them, and the place of each of our rates among theirs."""
        a, b, same = np.array(joint.axis), np.array(joint.axis2), pin.SE3.Identity()
        if joint.kind in ("revolute", "wheel"):
            return [pin.JointModelRevoluteUnaligned(a)], same, [0]
        if joint.kind == "prismatic":
            return [pin.JointModelPrismaticUnaligned(a)], same, [0]
        if joint.kind == "cylindrical":
            return [pin.JointModelRevoluteUnaligned(a), pin.JointModelPrismaticUnaligned(a)], same, [0, 1]
        if joint.kind == "universal":
            return [pin.JointModelRevoluteUnaligned(a), pin.JointModelRevoluteUnaligned(b)], same, [0, 1]
        if joint.kind == "spherical":
            return [pin.JointModelSpherical()], same, [0, 1, 2]
        if joint.kind == "cartesian":
            return [pin.JointModelTranslation()], same, [0, 1, 2]
        if joint.kind == "planar":
            return [pin.JointModelPlanar()], pin.SE3(plane_axes(a), np.zeros(3)), [2, 0, 1]
        if joint.kind == "free":
            return [pin.JointModelFreeFlyer()], same, [3, 4, 5, 0, 1, 2]
        assert joint.kind == "fixed", joint.kind
        return ([pin.JointModelRZ()] if hold_fixed else []), same, []

    # states and loads

    def q(self, q: np.ndarray) -> np.ndarray:
        out = pin.neutral(self.model)
        for body in self.craft.bodies:
            joint, mine = body.joint, q[body.joint.q_at]
            if not joint.nq:
                continue
            at = self.model.joints[self.first[body.name]].idx_q
            if joint.kind == "free":
                quat = mine[:4] / np.linalg.norm(mine[:4])
                mine = np.concatenate([mine[4:], quat[1:], quat[:1]])
            elif joint.kind == "spherical":
                quat = mine / np.linalg.norm(mine)
                mine = np.concatenate([quat[1:], quat[:1]])
            elif joint.kind == "planar":
                mine = np.array([mine[0], mine[1], np.cos(mine[2]), np.sin(mine[2])])
            out[at : at + len(mine)] = mine
        return out

    def v(self, v: np.ndarray) -> np.ndarray:
        out = np.zeros(self.model.nv)
        out[self.to] = v
        return out

    def wrenches(self, wrenches: np.ndarray | None):
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for body, row in zip(
            self.craft.bodies, np.zeros((self.craft.nbodies, 6)) if wrenches is None else wrenches, strict=True
        ):
            forces[self.joint[body.name]] += self.X_AB[body.name].act(pin.Force(row[3:], row[:3]))
        return forces

    # results

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        upper = np.triu(pin.crba(self.model, self.data, self.q(q)))
        M = upper + np.triu(upper, 1).T
        return M[np.ix_(self.to, self.to)]

    def bias_force(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return pin.nonLinearEffects(self._weightless(), self.data, self.q(q), self.v(v))[self.to]

    def inverse_dynamics(self, q, v, vdot, wrenches=None) -> np.ndarray:
        args = (self.q(q), self.v(v), self.v(vdot), self.wrenches(wrenches))
        return pin.rnea(self._weightless(), self.data, *args)[self.to]

    def forward_dynamics(self, q, v, tau, wrenches=None) -> np.ndarray:
        args = (self.q(q), self.v(v), self.v(tau), self.wrenches(wrenches))
        return pin.aba(self._weightless(), self.data, *args)[self.to]

    def reaction_wrenches(self, q, v, vdot, wrenches=None) -> np.ndarray:
        """Rows of bodies whose fixed joint was merged are NaN: use hold_fixed."""
        self.inverse_dynamics(q, v, vdot, wrenches)
        rows = np.full((self.craft.nbodies, 6), np.nan)
        for k, body in enumerate(self.craft.bodies):
            if body.name in self.first:
                F = self.X_AB[body.name].actInv(self.data.f[self.joint[body.name]])
                rows[k] = np.concatenate([F.angular, F.linear])
        return rows

    def poses(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pin.forwardKinematics(self.model, self.data, self.q(q))
        X = [self.data.oMi[self.joint[b.name]] * self.X_AB[b.name] for b in self.craft.bodies]
        return np.array([x.rotation for x in X]), np.array([x.translation for x in X])

    def jacobian(self, q: np.ndarray, body: str) -> np.ndarray:
        """Of the body's point given to the constructor."""
        J = pin.computeFrameJacobian(self.model, self.data, self.q(q), self.frame[body], pin.LOCAL_WORLD_ALIGNED)
        return swapped(J)[:, self.to]

    def jacobian_rate(self, q: np.ndarray, v: np.ndarray, body: str) -> np.ndarray:
        pin.computeJointJacobiansTimeVariation(self.model, self.data, self.q(q), self.v(v))
        pin.updateFramePlacements(self.model, self.data)
        J = pin.getFrameJacobianTimeVariation(self.model, self.data, self.frame[body], pin.LOCAL_WORLD_ALIGNED)
        return swapped(J)[:, self.to]

    def center_of_mass(self, q: np.ndarray) -> np.ndarray:
        return pin.centerOfMass(self.model, self.data, self.q(q)).copy()

    def centroidal_momentum_matrix(self, q: np.ndarray) -> np.ndarray:
        return swapped(pin.computeCentroidalMap(self.model, self.data, self.q(q)))[:, self.to]

    def momentum(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """About N's origin."""
        h = pin.computeCentroidalMomentum(self.model, self.data, self.q(q), self.v(v)).vector
        h = swapped(h)
        return np.concatenate([h[:3] + np.cross(self.center_of_mass(q), h[3:]), h[3:]])

    def kinetic_energy(self, q: np.ndarray, v: np.ndarray) -> float:
        """The rotors' energy is added here: Pinocchio (4.1) counts it for prismatic joints but not for revolute ones."""
        armature = self.model.armature.copy()
        self.model.armature[:] = 0.0
        links = pin.computeKineticEnergy(self.model, self.data, self.q(q), self.v(v))
        self.model.armature[:] = armature
        return links + 0.5 * armature @ self.v(v) ** 2

    def regressor(self, q, v, vdot) -> np.ndarray:
        """(nv, 10 nbodies); columns of bodies without a joint frame of their own (merged, or turned as planar) are NaN."""
        Y = pin.computeJointTorqueRegressor(self._weightless(), self.data, self.q(q), self.v(v), self.v(vdot))[self.to]
        ours = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # theirs: m, m c, xx, xy, yy, xz, yz, zz
        out = np.full((self.craft.nv, 10 * self.craft.nbodies), np.nan)
        for k, body in enumerate(self.craft.bodies):
            if body.name in self.first and self.X_AB[body.name].isIdentity(0.0):
                at = 10 * (self.joint[body.name] - 1)
                out[:, 10 * k : 10 * k + 10] = Y[:, at : at + 10][:, ours]
        return out

    def _weightless(self) -> pin.Model:
        self.model.gravity.setZero()
        return self.model


# ---- MuJoCo


class MuJoCo:
    """The craft as a MuJoCo model, without gravity and contacts; methods take and return gyrostat's conventions."""

    @staticmethod
    def lacks(craft: gs.Spacecraft) -> str | None:
        """Why MuJoCo cannot hold this craft, or None."""
        for body in craft.bodies:
            if body.mass <= 0 and not (body.included and body.joint.kind == "wheel") and body.joint.kind != "fixed":
                return f"moving body '{body.name}' has no mass"
            if body.joint.armature and body.joint.kind in ("planar", "free"):
                return f"joint '{body.joint.name}' has a rotor on rates that turn with the body"
        return None

    def __init__(self, craft: gs.Spacecraft):
        self.craft = craft
        spec = mujoco.MjSpec()
        spec.option.gravity = np.zeros(3)
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        made = {None: spec.worldbody}
        for name in depth_first(craft):
            body = craft.body(name)
            joint = body.joint
            part = made[body.parent].add_body(name=f"body:{name}", pos=joint.position, quat=_quat(joint.rotation))
            mass, com, inertia = self._inertia(name)
            moments, axes = np.linalg.eigh(inertia)
            if np.linalg.det(axes) < 0:
                axes[:, 0] = -axes[:, 0]
            part.explicitinertial = True
            part.mass, part.ipos, part.iquat, part.inertia = mass, com, _quat(axes), np.maximum(moments, 0.0)
            for k, (kind, axis) in enumerate(self._joints(joint)):
                part.add_joint(name=f"{joint.name}/{k}", type=kind, axis=axis, armature=joint.armature)
            made[name] = part
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    @staticmethod
    def _joints(joint: gs.Joint) -> list[tuple]:
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

    def _inertia(self, name: str) -> tuple[float, np.ndarray, np.ndarray]:
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
        return 1e-6 * self.craft.body(self.craft.body(wheel).parent).mass

    # states

    def _joint_at(self, joint: gs.Joint) -> tuple[int, int]:
        first = self.model.joint(f"{joint.name}/0").id
        return self.model.jnt_qposadr[first], self.model.jnt_dofadr[first]

    def T(self, q: np.ndarray) -> np.ndarray:
        """v_mujoco = T v."""
        T = np.zeros((self.craft.nv, self.craft.nv))
        for joint in self.craft.joints:
            if not joint.nv:
                continue
            block = np.eye(joint.nv)
            if joint.kind == "free":
                R = gs.algebra.rotation(q[joint.q_at][:4])
                block = np.block([[np.zeros((3, 3)), R], [np.eye(3), np.zeros((3, 3))]])
            elif joint.kind == "planar":
                c, s = np.cos(q[joint.q_at][2]), np.sin(q[joint.q_at][2])
                block = np.array([[0, c, -s], [0, s, c], [1, 0, 0]])
            at = self._joint_at(joint)[1]
            T[at : at + joint.nv, joint.v_at] = block
        return T

    def Tdot_v(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        out = np.zeros(self.craft.nv)
        for joint in self.craft.joints:
            mine = v[joint.v_at]
            if joint.kind == "free":
                at = self._joint_at(joint)[1]
                out[at : at + 3] = gs.algebra.rotation(q[joint.q_at][:4]) @ np.cross(mine[:3], mine[3:])
            elif joint.kind == "planar":
                at = self._joint_at(joint)[1]
                c, s = np.cos(q[joint.q_at][2]), np.sin(q[joint.q_at][2])
                out[at : at + 2] = mine[0] * np.array([[-s, -c], [c, -s]]) @ mine[1:]
        return out

    def set_state(self, q: np.ndarray, v: np.ndarray, vdot: np.ndarray | None = None) -> np.ndarray:
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

    # results

    def _full_M(self) -> np.ndarray:
        M = np.zeros((self.model.nv, self.model.nv))
        for column, unit in zip(M.T, np.eye(self.model.nv), strict=True):
            product = np.zeros(self.model.nv)
            mujoco.mj_mulM(self.model, self.data, product, unit)
            column[:] = product
        return M

    def _applied(self, wrenches: np.ndarray | None) -> np.ndarray:
        """Generalised force of wrenches given in B about Bo; MuJoCo's rates."""
        total = np.zeros(self.model.nv)
        for body, row in zip(self.craft.bodies, [] if wrenches is None else wrenches, strict=wrenches is not None):
            k = self._id(body.name)
            R, p = self._body_pose(body.name)
            mujoco.mj_applyFT(self.model, self.data, R @ row[3:], R @ row[:3], p, k, total)
        return total

    def _id(self, name: str) -> int:
        return self.model.body(f"body:{name}").id  # prefixed: MuJoCo keeps "world" for itself

    def _body_pose(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        k = self._id(name)
        return self.data.xmat[k].reshape(3, 3), self.data.xpos[k]

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        T = self.set_state(q, np.zeros(self.craft.nv))
        return T.T @ self._full_M() @ T

    def bias_force(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        T = self.set_state(q, v)
        return T.T @ (self.data.qfrc_bias + self._full_M() @ self.Tdot_v(q, v))

    def inverse_dynamics(self, q, v, vdot, wrenches=None) -> np.ndarray:
        T = self.set_state(q, v, vdot)
        mujoco.mj_inverse(self.model, self.data)
        return T.T @ (self.data.qfrc_inverse - self._applied(wrenches))

    def forward_dynamics(self, q, v, tau, wrenches=None) -> np.ndarray:
        T = self.set_state(q, v)
        self.data.qfrc_applied[:] = np.linalg.solve(T.T, tau) + self._applied(wrenches)
        mujoco.mj_forward(self.model, self.data)
        vdot = np.linalg.solve(T, self.data.qacc - self.Tdot_v(q, v))
        self.data.qfrc_applied[:] = 0.0
        return vdot

    def reaction_wrenches(self, q, v, vdot, wrenches=None) -> np.ndarray:
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

    def poses(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.set_state(q, np.zeros(self.craft.nv))
        X = [self._body_pose(body.name) for body in self.craft.bodies]
        return np.array([x[0] for x in X]), np.array([x[1] for x in X])

    def jacobian(self, q: np.ndarray, body: str, point: np.ndarray) -> np.ndarray:
        T = self.set_state(q, np.zeros(self.craft.nv))
        return self._point_jacobian(mujoco.mj_jac, body, point) @ T

    def jacobian_rate(self, q: np.ndarray, v: np.ndarray, body: str, point: np.ndarray) -> np.ndarray:
        """d/dt (J_mujoco T), applied to v alone: MuJoCo's mj_jacDot gives Jdot of its own rates; T contributes Tdot v."""
        T = self.set_state(q, v)
        J, Jdot = (self._point_jacobian(f, body, point) for f in (mujoco.mj_jac, mujoco.mj_jacDot))
        return Jdot @ (T @ v) + J @ self.Tdot_v(q, v)

    def _point_jacobian(self, function, body: str, point: np.ndarray) -> np.ndarray:
        k = self._id(body)
        R, p = self._body_pose(body)
        linear, angular = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        function(self.model, self.data, linear, angular, p + R @ point, k)
        return np.vstack([angular, linear])

    def center_of_mass(self, q: np.ndarray) -> np.ndarray:
        self.set_state(q, np.zeros(self.craft.nv))
        return self.data.subtree_com[0].copy()

    def momentum(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """About N's origin."""
        self.set_state(q, v)
        mujoco.mj_subtreeVel(self.model, self.data)
        linear = self.model.body_subtreemass[0] * self.data.subtree_linvel[0]
        return np.concatenate([self.data.subtree_angmom[0] + np.cross(self.data.subtree_com[0], linear), linear])

    def kinetic_energy(self, q: np.ndarray, v: np.ndarray) -> float:
        self.set_state(q, v)
        mujoco.mj_energyVel(self.model, self.data)
        return float(self.data.energy[1])


def _point(mass: float, p: np.ndarray) -> np.ndarray:
    """Inertia about the origin of a point mass at p."""
    return mass * (p @ p * np.eye(3) - np.outer(p, p))


def _quat(R: np.ndarray) -> np.ndarray:
    """Scalar first, by Pinocchio: not by the code under test."""
    quat = pin.Quaternion(np.array(R))
    quat.normalize()
    return np.array([quat.w, quat.x, quat.y, quat.z])
