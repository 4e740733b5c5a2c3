"""A spacecraft as a Pinocchio model: [linear; angular] 6-vectors, quaternions scalar last, position first in q."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin  # type: ignore[import-untyped]

from ...algebra import Array
from ...model import Joint, Spacecraft
from .shared import depth_first, own_inertia, plane_axes, swapped


class Pinocchio:
    """The craft as a Pinocchio model; methods take and return gyrostat's conventions.

    hold_fixed: fixed joints become revolutes that stand still, so that their loads, and the mass of a fixed base, are counted.
    """

    def __init__(self, craft: Spacecraft, *, hold_fixed: bool = False) -> None:
        self.craft, self.model, self.hold_fixed = craft, pin.Model(), hold_fixed
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
        self.data = self.model.createData()

    @staticmethod
    def _chain(joint: Joint, hold_fixed: bool) -> tuple[list, pin.SE3, list[int]]:
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

    def q(self, q: Array) -> Array:
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

    def v(self, v: Array) -> Array:
        out = np.zeros(self.model.nv)
        out[self.to] = v
        return out

    def wrenches(self, wrenches: Array | None) -> list[Any]:
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for body, row in zip(
            self.craft.bodies, np.zeros((self.craft.nbodies, 6)) if wrenches is None else wrenches, strict=True
        ):
            forces[self.joint[body.name]] += self.X_AB[body.name].act(pin.Force(row[3:], row[:3]))
        return forces

    def inverse_dynamics(self, q: Array, v: Array, vdot: Array, wrenches: Array | None = None) -> Array:
        args = (self.q(q), self.v(v), self.v(vdot), self.wrenches(wrenches))
        return pin.rnea(self._weightless(), self.data, *args)[self.to]

    def forward_dynamics(self, q: Array, v: Array, tau: Array, wrenches: Array | None = None) -> Array:
        """With fixed joints merged in any case: a revolute in their place would move."""
        if self.hold_fixed:
            return Pinocchio(self.craft).forward_dynamics(q, v, tau, wrenches)
        args = (self.q(q), self.v(v), self.v(tau), self.wrenches(wrenches))
        return pin.aba(self._weightless(), self.data, *args)[self.to]

    def reaction_wrenches(self, q: Array, v: Array, vdot: Array, wrenches: Array | None = None) -> Array:
        """Rows of bodies whose fixed joint was merged are NaN: use hold_fixed."""
        self.inverse_dynamics(q, v, vdot, wrenches)
        rows = np.full((self.craft.nbodies, 6), np.nan)
        for k, body in enumerate(self.craft.bodies):
            if body.name in self.first:
                F = self.X_AB[body.name].actInv(self.data.f[self.joint[body.name]])
                rows[k] = np.concatenate([F.angular, F.linear])
        return rows

    def momentum(self, q: Array, v: Array) -> Array:
        """About N's origin."""
        h = pin.computeCentroidalMomentum(self.model, self.data, self.q(q), self.v(v)).vector
        h, com = swapped(h), pin.centerOfMass(self.model, self.data, self.q(q))
        return np.concatenate([h[:3] + np.cross(com, h[3:]), h[3:]])

    def kinetic_energy(self, q: Array, v: Array) -> float:
        """The rotors' energy is added here: Pinocchio (4.1) counts it for prismatic joints but not for revolute ones."""
        armature = self.model.armature.copy()
        self.model.armature[:] = 0.0
        links = pin.computeKineticEnergy(self.model, self.data, self.q(q), self.v(v))
        self.model.armature[:] = armature
        return links + 0.5 * armature @ self.v(v) ** 2

    def _weightless(self) -> pin.Model:
        self.model.gravity.setZero()
        return self.model
