"""What Pinocchio computes of a spacecraft, in gyrostat's conventions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pinocchio as pin  # type: ignore[import-untyped]

from ...algebra import Array
from ...model import Spacecraft
from .pinocchio_model import build, match
from .shared import swapped


class Pinocchio:
    """The craft as a Pinocchio model; methods take and return gyrostat's conventions.

    hold_fixed: fixed joints become revolutes that stand still, so that their loads, and the mass of a fixed base, are
    counted.
    points: a point (in B) of each body named, for Jacobians.
    model: Pinocchio's own reading of the craft's file, instead of one built here.
    """

    def __init__(
        self,
        craft: Spacecraft,
        *,
        hold_fixed: bool = False,
        points: Mapping[str, Array] | None = None,
        model: pin.Model | None = None,
    ) -> None:
        self.craft, self.hold_fixed = craft, hold_fixed
        made = build(craft, hold_fixed=hold_fixed) if model is None else match(craft, model)
        self.model, self.joint, self.first, self.X_AB, self.to = made
        self.frame = {}
        for name, point in (points or {}).items():
            X_AQ = self.X_AB[name] * pin.SE3(np.eye(3), np.asarray(point, dtype=float))
            self.frame[name] = self.model.addFrame(
                pin.Frame(f"{name}/point", self.joint[name], 0, X_AQ, pin.FrameType.OP_FRAME), False
            )
        self.data = self.model.createData()

    @cached_property
    def merged(self) -> Pinocchio:
        """The same craft with fixed joints merged."""
        return Pinocchio(self.craft) if self.hold_fixed else self

    # states and loads

    def q(self, q: Array) -> Array:
        out = pin.neutral(self.model)
        for body in self.craft.bodies:
            joint, mine = body.joint, q[body.joint.q_at]
            if not joint.nq:
                continue
            theirs = self.model.joints[self.first[body.name]]
            if joint.kind == "free":
                quat = mine[:4] / np.linalg.norm(mine[:4])
                mine = np.concatenate([mine[4:], quat[1:], quat[:1]])
            elif joint.kind == "spherical":
                quat = mine / np.linalg.norm(mine)
                mine = np.concatenate([quat[1:], quat[:1]])
            elif joint.kind == "planar":
                mine = np.array([mine[0], mine[1], np.cos(mine[2]), np.sin(mine[2])])
            elif joint.nq == 1 and theirs.nq == 2:  # read as continuous from a URDF
                mine = np.array([np.cos(mine[0]), np.sin(mine[0])])
            out[theirs.idx_q : theirs.idx_q + len(mine)] = mine
        return out

    def v(self, v: Array) -> Array:
        """Rates, accelerations and generalised forces alike."""
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

    # dynamics

    def mass_matrix(self, q: Array) -> Array:
        return self._symmetric(pin.crba(self.model, self.data, self.q(q)))

    def bias_force(self, q: Array, v: Array) -> Array:
        return pin.nonLinearEffects(self.model, self.data, self.q(q), self.v(v))[self.to]

    def inverse_dynamics(self, q: Array, v: Array, vdot: Array, wrenches: Array | None = None) -> Array:
        args = (self.q(q), self.v(v), self.v(vdot), self.wrenches(wrenches))
        return pin.rnea(self.model, self.data, *args)[self.to]

    def forward_dynamics(self, q: Array, v: Array, tau: Array, wrenches: Array | None = None) -> Array:
        """With fixed joints merged in any case: a revolute in their place would move."""
        peer = self.merged
        args = (peer.q(q), peer.v(v), peer.v(tau), peer.wrenches(wrenches))
        return pin.aba(peer.model, peer.data, *args)[peer.to]

    def forward_dynamics_derivatives(self, q: Array, v: Array, tau: Array) -> tuple[Array, Array, Array]:
        """Of vdot, by a step of the configuration, by v and by tau; fixed joints merged."""
        peer = self.merged
        pin.computeABADerivatives(peer.model, peer.data, peer.q(q), peer.v(v), peer.v(tau))
        by_q, by_v = (d[np.ix_(peer.to, peer.to)] for d in (peer.data.ddq_dq, peer.data.ddq_dv))
        return by_q, by_v, peer._symmetric(peer.data.Minv)

    def reaction_wrenches(self, q: Array, v: Array, vdot: Array, wrenches: Array | None = None) -> Array:
        """Rows of bodies whose fixed joint was merged are NaN: use hold_fixed."""
        self.inverse_dynamics(q, v, vdot, wrenches)
        rows = np.full((self.craft.nbodies, 6), np.nan)
        for k, body in enumerate(self.craft.bodies):
            if body.name in self.first:
                F = self.X_AB[body.name].actInv(self.data.f[self.joint[body.name]])
                rows[k] = np.concatenate([F.angular, F.linear])
        return rows

    def regressor(self, q: Array, v: Array, vdot: Array) -> Array:
        """(nv, 10 nbodies); columns of bodies without a joint frame of their own
        (merged, or turned as planar) are NaN.
        """
        Y = pin.computeJointTorqueRegressor(self.model, self.data, self.q(q), self.v(v), self.v(vdot))[self.to]
        ours = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # theirs: m, m c, xx, xy, yy, xz, yz, zz
        out = np.full((self.craft.nv, 10 * self.craft.nbodies), np.nan)
        for k, body in enumerate(self.craft.bodies):
            if body.name in self.first and self.X_AB[body.name].isIdentity(0.0):
                at = 10 * (self.joint[body.name] - 1)
                out[:, 10 * k : 10 * k + 10] = Y[:, at : at + 10][:, ours]
        return out

    def _symmetric(self, M: Array) -> Array:
        """Pinocchio fills the upper triangle."""
        upper = np.triu(M)
        return (upper + np.triu(upper, 1).T)[np.ix_(self.to, self.to)]

    # kinematics

    def poses(self, q: Array) -> tuple[Array, Array]:
        """R_NB (nbodies, 3, 3) and p_NB (nbodies, 3)."""
        pin.forwardKinematics(self.model, self.data, self.q(q))
        X = [self.data.oMi[self.joint[b.name]] * self.X_AB[b.name] for b in self.craft.bodies]
        return np.array([x.rotation for x in X]), np.array([x.translation for x in X])

    def jacobian(self, q: Array, body: str) -> Array:
        """Of the body's point given to the constructor."""
        return self.frame_jacobian(q, self.frame[body])

    def frame_jacobian(self, q: Array, frame: int) -> Array:
        """Of a frame of Pinocchio's model, by its number there."""
        J = pin.computeFrameJacobian(self.model, self.data, self.q(q), frame, pin.LOCAL_WORLD_ALIGNED)
        return swapped(J)[:, self.to]

    def jacobian_rate(self, q: Array, v: Array, body: str) -> Array:
        pin.computeJointJacobiansTimeVariation(self.model, self.data, self.q(q), self.v(v))
        pin.updateFramePlacements(self.model, self.data)
        J = pin.getFrameJacobianTimeVariation(self.model, self.data, self.frame[body], pin.LOCAL_WORLD_ALIGNED)
        return swapped(J)[:, self.to]

    # momentum and energy

    def center_of_mass(self, q: Array) -> Array:
        return pin.centerOfMass(self.model, self.data, self.q(q)).copy()

    def centroidal_momentum_matrix(self, q: Array) -> Array:
        return swapped(pin.computeCentroidalMap(self.model, self.data, self.q(q)))[:, self.to]

    def momentum(self, q: Array, v: Array) -> Array:
        """About N's origin."""
        h = swapped(pin.computeCentroidalMomentum(self.model, self.data, self.q(q), self.v(v)).vector)
        return np.concatenate([h[:3] + np.cross(self.center_of_mass(q), h[3:]), h[3:]])

    def kinetic_energy(self, q: Array, v: Array) -> float:
        """The rotors' energy is added here: Pinocchio (4.1) counts it for prismatic joints but
        not for revolute ones.
        """
        armature = self.model.armature.copy()
        self.model.armature[:] = 0.0
        links = pin.computeKineticEnergy(self.model, self.data, self.q(q), self.v(v))
        self.model.armature[:] = armature
        return links + 0.5 * armature @ self.v(v) ** 2
