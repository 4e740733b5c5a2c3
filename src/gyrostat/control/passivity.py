"""Tracking by passivity, with mass properties known or learnt on the way: Slotine & Li (1987), on SE(3) and for craft
with arms.

    e = (rotation vector and displacement from where the base is to where it should be, in its own axes; q_D - q)
    v_r = v_D + bandwidth e,   s = v - v_r                                                                   (1)
    tau = M (vdot_r - damping s) + C(q, v) v_r - gain s - (springs, dampers, friction, known loads)           (2)

v_D is the reference's velocity in the base's axes: that of its own origin, not of the base's place in its frame, so
that a reference that turns does not swing a craft that is still far from it; position closes along a straight line in
N, e' = -bandwidth e where s = 0, and attitude apart from it, |e| as exp(-bandwidth t). C is the Christoffel matrix: of
the C with Mdot - 2C skew it is the one that is linear in the inertial parameters and symmetric in v and v_r, and costs
two recursions (`tracking_dynamics`). Then

    d/dt (1/2 s^T M s) = -damping s^T M s - s^T gain s                                                       (3)

exactly, at any speed: s dies out, and with it e. With a C that is not skew it need not.

**Learning.** (2) is linear in the inertial parameters pi of the bodies. With estimates in place of the true ones, and

    F''(P)[P'] = -adaptation B,   tr(P B) = s^T Y pi        for the pseudo-inertia P of each body             (4)

(`pseudo_inertia.descent`), the sum of 1/2 s^T M s and of D(true || P) / adaptation over the bodies changes at (3)
again. *Proved*: s goes to zero and with it the errors; the estimates stay bounded, and physical for ever (D is infinite
where they cease to be), so that the estimated inertia can always be inverted; the memory is log-Cholesky, so that no
step of an integrator can leave them either. *Assumed*: true bodies with volume, rigid, on joints that all have motors;
loads as the law knows them; loads that the motors can make; exact readings in continuous time. *Not claimed*: that
estimates become true (only a motion that excites them all does that).

**Floating.** Nothing acts on the base, so its reference velocity V_r is chosen such that the base's rows of (2) vanish:

    M_0 V_r' = gain_0 s_0 - (rest of the base's rows),  M_0 of the estimates                                  (5)

V_r is memory. (3) holds for the joints and the base together; what the base does is up to momentum.

**Wheels** spin on without torque. A wheel whose momentum h stays adds U x (a h) to its carrier's wrench, which is skew,
and takes its spin inertia out of the carrier's: (3) holds with the inertia that is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, RigidInertia, cross, mirror, rigid_inertia_to_parent, solve_spd
from ..environment import Environment
from ..kinematics import body_twists, inertial_poses
from ..model import Role, Spacecraft
from .controller import Controller
from .demands import base_pose, demand_free_base, demand_no_passive, driven_coordinates, placed
from .errors import pose_error, pose_error_rate
from .passive import has_passive_forces, passive_forces
from .pseudo_inertia import descent, estimate_of, first_factors
from .references import CraftReference, JointReference, PoseReference
from .tracking_dynamics import Motions, loads_of_wrenches, reference_motions, tracking_wrench, wrench_regressor

NAME = "passivity_tracking"


class Wanted(NamedTuple):
    """v_r and its rate (nv,), wheels at zero; s = v - v_r, likewise."""

    v_r: Array
    vdot_r: Array
    s: Array


def passivity_tracking(
    reference: Callable[[Any], CraftReference | PoseReference | JointReference],
    *,
    bandwidth: float,
    damping: float | None = None,
    gain: Any = 0.0,
    mode: str = "flying",
    adaptation: float = 0.0,
    estimate: Spacecraft | None = None,
    environment: Environment | None = None,
    gravity: Callable[[Any, Array], Array] | None = None,
    base_velocity: Any = None,
) -> Any:
    """The law tau(craft, t, q, v), or the Controller where it has memory: base and driven joints follow reference(t),
    by (1)-(5) above.

    mode: "flying" (a wrench acts on the base; reference(t) is a CraftReference, or a PoseReference where no joint is
    driven) or "floating" (nothing does; a JointReference). bandwidth, damping: in 1/s; damping is twice the bandwidth
    by default. gain: N m s and N s, one number or one for each of base and joints.
    adaptation: in 1/J; 0: nothing is learnt. estimate: the craft whose mass properties the law believes in, to begin
    with; needed in order to learn; by default the true ones. environment: loads on the bodies that the law knows of.
    gravity(t, p_N) -> (3,): a field that pulls every body at its origin in proportion to its mass, and is learnt with
    it. base_velocity: in floating mode, V_r to begin with, (6,), zero by default: the base's own velocity at the start
    saves a craft that tumbles a transient that it would learn from in vain.

    Raises ValueError for another mode, for gains of the wrong sign, and for what cannot go with adaptation, by
    name.
    """
    if mode not in ("flying", "floating"):
        raise ValueError(f"{NAME}: mode is '{mode}'; expected 'flying' or 'floating'.")
    if adaptation < 0 or not bandwidth > 0:
        raise ValueError(f"{NAME}: bandwidth {bandwidth} must be positive, adaptation {adaptation} not negative.")
    if adaptation and estimate is None:
        raise ValueError(f"{NAME}: to learn, it needs estimate=: the craft that it believes in to begin with.")
    if adaptation and environment is not None:
        raise ValueError(f"{NAME}: an environment's loads hold the true masses; with adaptation= give gravity=.")
    law = _Law(
        reference,
        float(bandwidth),
        2.0 * float(bandwidth) if damping is None else float(damping),
        np.asarray(gain, dtype=float),
        mode == "floating",
        float(adaptation),
        estimate,
        environment,
        gravity,
        first_factors(estimate) if adaptation and estimate is not None else {},
    )
    if base_velocity is not None and not law.floating:
        raise ValueError(
            f"{NAME}: base_velocity belongs to mode 'floating'; in '{mode}' the reference says what the base does."
        )
    V_r = np.zeros(6) if base_velocity is None else np.asarray(base_velocity, dtype=float)
    if V_r.shape != (6,):
        raise ValueError(f"{NAME}: base_velocity has shape {V_r.shape}; expected (6,), as v's first entries.")
    state0 = np.concatenate([np.zeros(10 * len(law.learnt)), V_r if law.floating else np.zeros(0)])
    return Controller(law.output, state0, law.derivative) if state0.size else law.plain


class _Law(NamedTuple):
    reference: Callable[[Any], Any]
    bandwidth: float
    damping: float
    gain: Array
    floating: bool
    adaptation: float
    estimate: Spacecraft | None
    environment: Environment | None
    gravity: Callable[[Any, Array], Array] | None
    learnt: Mapping[str, Array]  # L_0 of each body whose mass properties are learnt

    def plain(self, craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        return self.step(craft, t, q, v, np.zeros(0))[0]

    def output(self, craft: Spacecraft, t: Any, q: Array, v: Array, z: Array) -> Array:
        return self.step(craft, t, q, v, z)[0]

    def derivative(self, craft: Spacecraft, t: Any, q: Array, v: Array, z: Array) -> Array:
        return self.step(craft, t, q, v, z)[1]

    def step(self, craft: Spacecraft, t: Any, q: Array, v: Array, z: Array) -> tuple[Array, Array]:
        """tau, and the rate of the memory."""
        demand(craft)
        base, acting = craft.joints[0], craft.at(Role.base, Role.driven)
        memory = z[10 * len(self.learnt) :]
        thetas = {B: z[10 * k : 10 * k + 10] for k, B in enumerate(self.learnt)}
        inertias = self.inertias(craft, thetas)
        wanted = reference_velocity(
            craft, self.reference(t), t, q, v, self.bandwidth, memory if self.floating else None
        )
        s = wanted.s
        v_still = placed(craft, acting, v[acting])
        K = placed(craft, acting, np.broadcast_to(self.gain, (len(acting),)))
        known = passive_forces(craft, q, v) if has_passive_forces(craft, None) else np.zeros(craft.nv)

        def needed(vdot_r: Array) -> tuple[Motions, Array]:
            """What happens to the bodies, and (2)."""
            motions = self.motions(craft, t, q, v_still, wanted.v_r, vdot_r - self.damping * s)
            F = self.wrenches(craft, t, q, v, motions, inertias, known)
            rotors = np.concatenate([joint.armature * joint.rate(vdot_r - self.damping * s) for joint in craft.joints])
            return motions, loads_of_wrenches(craft, q, motions.X_PB, F) + rotors - known - K * s

        vdot_r = wanted.vdot_r
        rates: list[Array] = []
        if self.floating:
            rest = base.rate(needed(vdot_r)[1])
            V_r_dot = -solve_spd(base_inertia(craft, q, inertias), rest)  # (5)
            vdot_r = np.concatenate([V_r_dot, vdot_r[base.nv :]])
            rates = [V_r_dot]
        motions, tau = needed(vdot_r)
        if self.learnt:
            S = body_twists(craft, q, s, dict(motions.X_PB))
            slopes = {B: wrench_regressor(motions.V[B], motions.U[B], motions.A[B]).T @ S[B] for B in self.learnt}
            rates = [
                *(descent(L_0, thetas[B], slopes[B], self.adaptation) for B, L_0 in self.learnt.items()),
                *rates,
            ]  # (4)
        acts = craft.at(Role.driven) if self.floating else acting
        return placed(craft, acts, tau[acts]), np.concatenate(rates) if rates else np.zeros(0)

    def inertias(self, craft: Spacecraft, thetas: Mapping[str, Array]) -> dict[str, RigidInertia]:
        """Of each body as the law believes; wheels without their spin inertia."""
        found = {}
        for body in craft.bodies:
            M = (craft if self.estimate is None else self.estimate).inertia(body.name)
            if body.name in thetas:
                M = estimate_of(self.learnt[body.name], thetas[body.name])
            elif body.joint.motion.spins:
                a = body.joint.axis
                M = M._replace(I_o=M.I_o - (a @ M.I_o @ a) * np.outer(a, a))
            found[body.name] = M
        return found

    def motions(self, craft: Spacecraft, t: Any, q: Array, v: Array, v_r: Array, vdot_r: Array) -> Motions:
        """With gravity as an acceleration the other way."""
        motions = reference_motions(craft, q, v, v_r, vdot_r)
        if self.gravity is None:
            return motions
        X_NB = inertial_poses(craft, q)
        falling = {
            B: A - np.concatenate([np.zeros(3), X_NB[B].R.T @ self.gravity(t, X_NB[B].p)]) for B, A in motions.A.items()
        }
        return motions._replace(A=falling)

    def wrenches(
        self,
        craft: Spacecraft,
        t: Any,
        q: Array,
        v: Array,
        motions: Motions,
        inertias: Mapping[str, RigidInertia],
        known: Array,
    ) -> dict[str, Array]:
        """What must act on each body, less what does: known wrenches, and the momenta of wheels."""
        outside = None if self.environment is None else craft.wrenches(self.environment.wrenches(craft, t, q, v))
        found = {}
        for k, body in enumerate(craft.bodies):
            B, joint = body.name, body.joint
            F = tracking_wrench(inertias[B], motions.V[B], motions.U[B], motions.A[B])
            if joint.motion.spins:
                a = joint.axis
                J = a @ craft.inertia(B).I_o @ a
                h = J * (joint.rate(v)[0] + a @ motions.V[B][:3])
                F = F + np.concatenate([cross(motions.U[B][:3], h * a) + joint.rate(known)[0] * a, np.zeros(3)])
            found[B] = F if outside is None else F - outside[k]
        return found


def reference_velocity(
    craft: Spacecraft, wanted: Any, t: Any, q: Array, v: Array, bandwidth: float, V_r: Array | None = None
) -> Wanted:
    """(1), with exact rates. V_r: the base's reference velocity, where it is memory (its rate is then left at zero)."""
    base, joints = craft.joints[0], craft.at(Role.driven)
    if V_r is None:
        aim, of_joints = _base_and_joints(craft, wanted)
        X, V = base_pose(craft, q), base.rate(v)
        e = pose_error(X, aim.X)
        edot = pose_error_rate(e, X, V, aim)
        V_D, rate = (_in_axes(X.R, x) for x in (aim.twist, aim.rate))
        Vdot_D = rate - np.concatenate([cross(V[:3], V_D[:3]), cross(V[:3], V_D[3:])])
        V_r, Vdot_r = V_D + bandwidth * e, Vdot_D + bandwidth * edot
    else:
        if not isinstance(wanted, JointReference):
            raise TypeError(f"{NAME} in mode 'floating' follows a JointReference; reference({t}) is {wanted!r}.")
        of_joints, Vdot_r = wanted, np.zeros(6)
    e_q, rate_q = of_joints.q - q[driven_coordinates(craft, NAME)], v[joints]
    at = np.concatenate([np.arange(6), joints])
    v_r = np.concatenate([V_r, of_joints.qdot + bandwidth * e_q])
    vdot_r = np.concatenate([Vdot_r, of_joints.qddot + bandwidth * (of_joints.qdot - rate_q)])
    return Wanted(placed(craft, at, v_r), placed(craft, at, vdot_r), placed(craft, at, v[at] - v_r))


def base_inertia(craft: Spacecraft, q: Array, inertias: Mapping[str, RigidInertia]) -> Array:
    """M_0 (6, 6) of bodies with these inertias, all joints locked, in base axes; positive definite where all are
    physical.
    """
    total = dict(inertias)
    for B, P in reversed(craft.base_to_tip):
        if P is not None:
            total[P] = total[P] + rigid_inertia_to_parent(craft.joint(B).pose(q), total[B])
    return mirror(total[craft.base].matrix)


def demand(craft: Spacecraft) -> None:
    """A ValueError where (1)-(5) are not the craft's."""
    demand_free_base(craft, NAME)
    demand_no_passive(craft, NAME)
    driven_coordinates(craft, NAME)
    geared = [wheel.name for wheel in craft.wheels if isinstance(wheel.joint.armature, float) and wheel.joint.armature]
    if geared:
        raise ValueError(
            f"{NAME}: wheel '{geared[0]}' of {craft.name} has a geared rotor; expected its spin inertia alone."
        )


def _base_and_joints(craft: Spacecraft, wanted: Any) -> tuple[PoseReference, JointReference]:
    n = len(craft.at(Role.driven))
    if isinstance(wanted, PoseReference):
        if n:
            raise TypeError(
                f"{NAME}: the reference is a PoseReference and says nothing of the {n} driven joints of {craft.name}; "
                "give a CraftReference."
            )
        wanted = CraftReference(wanted, JointReference(np.zeros(0), np.zeros(0), np.zeros(0)))
    if not isinstance(wanted, CraftReference):
        raise TypeError(f"{NAME} in mode 'flying' follows a CraftReference; the reference is {wanted!r}.")
    return wanted.base, wanted.joints


def _in_axes(R_NB: Array, x: Array) -> Array:
    return np.concatenate([R_NB.T @ x[:3], R_NB.T @ x[3:]])
