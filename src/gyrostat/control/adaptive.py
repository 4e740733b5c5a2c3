"""Passivity-based adaptive tracking: the mass properties are learnt while the craft follows its reference. Slotine & Li (1987).

On the whole dynamics, which are linear in the inertial parameters (the reduced equations of a floating craft are not).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..algebra import (
    Array,
    RigidInertia,
    cross,
    inertia_matrix,
    mirror,
    quat_conjugate,
    quat_multiply,
    rigid_inertia_to_parent,
    rotation,
    sign,
    solve_spd,
)
from ..formulations.recursive import inertial_parameters
from ..kinematics import joint_poses
from ..model import Spacecraft
from .base_attitude import BaseReference
from .controller import Controller
from .rate_profile import Reference
from .tracking_regressor import tracking_regressor


class Tracking(NamedTuple):
    """What the whole craft is to do at one time."""

    base: BaseReference
    joints: Reference


class _Error(NamedTuple):
    """Velocity v_r = v_d + Lambda e that closes the error, its rate, and s = v - v_r; in v's own components."""

    v_r: Array
    vdot_r: Array
    s: Array


def adaptive_tracking(
    craft: Spacecraft,
    reference: Callable[[Any], Tracking],
    *,
    bandwidth: float,
    gain: Any,
    adaptation: float,
    estimate: Spacecraft | None = None,
) -> Controller:
    """Flying mode: base and joints (each with one coordinate; no wheels) follow their references with wrong mass properties.

        v_r = v_d + bandwidth e,   s = v - v_r                                                               (1)
        tau = Y(q, v, v_r, vdot_r) pi - K s                                                                  (2)
        pi' = -Gamma Y^T s                                                                                   (3)

    With V = 1/2 s^T M s + 1/2 (pi - pi_true)^T Gamma^-1 (pi - pi_true), V' = -s^T K s since Mdot - 2C is skew: s goes to zero, and
    with it the errors, whether or not pi goes to the true values. gain: K = diag(gain), N m s and N s. Gamma scales each
    parameter by its own size: adaptation * size^2 (sizes: of the estimate, per body and kind). adaptation=0: the same law, not adaptive.
    """
    guess = craft if estimate is None else estimate
    pi0 = np.asarray(inertial_parameters(guess), dtype=float)
    Gamma = adaptation * parameter_sizes(guess) ** 2
    K = np.broadcast_to(np.asarray(gain, dtype=float), (craft.nv,))

    def parts(craft: Spacecraft, t: Any, q: Array, v: Array) -> tuple[Array, Array]:
        error = _errors(reference(t), q, v, bandwidth)
        return tracking_regressor(craft, q, v, error.v_r, error.vdot_r), error.s

    def output(craft: Spacecraft, t: Any, q: Array, v: Array, pi: Array) -> Array:
        Y, s = parts(craft, t, q, v)
        return Y @ pi - K * s + _rotors(craft, reference, t, q, v, bandwidth)  # (2)

    def derivative(craft: Spacecraft, t: Any, q: Array, v: Array, pi: Array) -> Array:
        Y, s = parts(craft, t, q, v)
        return -Gamma * (Y.T @ s)  # (3)

    _demand_simple(craft)
    return Controller(output, pi0, derivative)


def adaptive_floating(
    craft: Spacecraft,
    reference: Callable[[Any], Reference],
    *,
    bandwidth: float,
    gain: Any,
    adaptation: float,
    estimate: Spacecraft | None = None,
) -> Controller:
    """Floating mode: the joints follow their reference, nothing acts on the base. The base's reference is chosen so that

        0 = Y_0(q, v, v_r, vdot_r) pi - K_0 s_0                                                              (4)

    holds: its velocity V_r joins the memory, with V_r' the solution of (4), linear with the base inertia that pi says. The rest, and the
    proof, are as in `adaptive_tracking`. memory: pi (10 nbodies), V_r (6), starting at the base's velocity zero.
    """
    guess = craft if estimate is None else estimate
    pi0 = np.asarray(inertial_parameters(guess), dtype=float)
    Gamma = adaptation * parameter_sizes(guess) ** 2
    K = np.broadcast_to(np.asarray(gain, dtype=float), (craft.nv,))
    count = len(pi0)

    def step(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array) -> tuple[Array, Array]:
        pi, V_r = z[:count], z[count:]
        wanted = reference(t)
        e, edot = wanted.q - q[7:], wanted.qdot - v[6:]
        v_r = np.concatenate([V_r, wanted.qdot + bandwidth * e])
        qddot_r = wanted.qddot + bandwidth * edot
        s = v - v_r
        still = tracking_regressor(craft, q, v, v_r, np.concatenate([np.zeros(6), qddot_r]))
        V_r_dot = solve_spd(base_inertia(craft, q, pi), K[:6] * s[:6] - still[:6] @ pi)  # (4)
        Y = tracking_regressor(craft, q, v, v_r, np.concatenate([V_r_dot, qddot_r]))
        rotors = np.array([j.armature for j in craft.joints[1:]]) * qddot_r
        tau = np.concatenate([np.zeros(6), Y[6:] @ pi - K[6:] * s[6:] + rotors])
        return tau, np.concatenate([-Gamma * (Y.T @ s), V_r_dot])

    def output(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array) -> Array:
        return step(craft, t, q, v, z)[0]

    def derivative(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array) -> Array:
        return step(craft, t, q, v, z)[1]

    _demand_simple(craft)
    return Controller(output, np.concatenate([pi0, np.zeros(6)]), derivative)


def parameter_sizes(craft: Spacecraft) -> Array:
    """What counts as large, per inertial parameter: mass, mass times size, mass times size squared of each body, (10 nbodies,)."""
    sizes = []
    for body in craft.bodies:
        m, _, I_o = craft.inertia(body.name)
        second = float(np.trace(np.asarray(I_o, dtype=float))) / 2
        length = np.sqrt(second / float(m)) if m > 0 else 0.0
        sizes.append([float(m), *[float(m) * length] * 3, *[second] * 6])
    return np.concatenate(sizes)


def base_inertia(craft: Spacecraft, q: Array, pi: Array) -> Array:
    """M_0 (6, 6), in base axes, of a craft with the inertial parameters pi."""
    X_PB = joint_poses(craft, q)
    M = {
        B: RigidInertia(pi[10 * k], pi[10 * k + 1 : 10 * k + 4], inertia_matrix(pi[10 * k + 4 : 10 * k + 10]))
        for k, (B, _) in enumerate(craft.base_to_tip)
    }
    for B, P in reversed(craft.base_to_tip):
        if P is not None:
            M[P] = M[P] + rigid_inertia_to_parent(X_PB[B], M[B])
    return mirror(M[craft.base].matrix)


def _errors(wanted: Tracking, q: Array, v: Array, bandwidth: float) -> _Error:
    """Errors in the base's own axes, with exact rates. With quat_BD = (s, u):

    attitude: e = 2 sgn(s) u,   u' = 1/2 (s (w_D - w) + u x (w_D + w))                                       (5)
    position: e = R_BN (p_D - p),   e' = R_BN v_D - v - w x e                                                (6)
    """
    base, joints = wanted
    quat_BD = quat_multiply(quat_conjugate(q[:4]), base.quat)
    R_BD, R_BN, w, vel = rotation(quat_BD), rotation(q[:4]).T, v[:3], v[3:6]
    w_d, v_d = R_BD @ base.w, R_BN @ base.v
    wdot_d, vdot_d = R_BD @ base.wdot - cross(w, w_d), R_BN @ base.a - cross(w, v_d)
    way = sign(quat_BD[0])
    u = way * quat_BD[1:]
    e_w = 2.0 * u
    e_w_dot = way * quat_BD[0] * (base.w - w) + cross(u, base.w + w)  # (5)
    e_p = R_BN @ (base.p - q[4:7])
    e_p_dot = v_d - vel - cross(w, e_p)  # (6)
    e_q, e_q_dot = joints.q - q[7:], joints.qdot - v[6:]
    v_r = np.concatenate([w_d + bandwidth * e_w, v_d + bandwidth * e_p, joints.qdot + bandwidth * e_q])
    vdot_r = np.concatenate(
        [wdot_d + bandwidth * e_w_dot, vdot_d + bandwidth * e_p_dot, joints.qddot + bandwidth * e_q_dot]
    )
    return _Error(v_r, vdot_r, v - v_r)


def _rotors(craft: Spacecraft, reference: Any, t: Any, q: Array, v: Array, bandwidth: float) -> Array:
    """Load of geared rotors, which are no part of pi and known."""
    vdot_r = _errors(reference(t), q, v, bandwidth).vdot_r
    return np.concatenate([j.armature * j.rate(vdot_r) for j in craft.joints])


def _demand_simple(craft: Spacecraft) -> None:
    other = [j.name for j in craft.joints[1:] if j.nq != 1 or j.nv != 1]
    if other or not craft.joint(craft.base).motion.unbound:
        raise ValueError(
            f"adaptive tracking needs a free base and joints with one coordinate; '{(other or [craft.joints[0].name])[0]}' is not. "
            "Lock or merge it."
        )
