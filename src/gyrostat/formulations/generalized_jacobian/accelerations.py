"""Forward dynamics with the signature of all formulations, by the paper's blocks for any tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, cross, rotation
from ...kinematics import inertial_poses
from ...kinematics.arguments import configuration, external, prescribed_rates, rates
from ...model import Spacecraft
from ..common.prescribed import by_place, solve_free
from .base_inverse import base_inertia_inverse
from .craft_links import craft_link_rates, craft_links
from .elimination import require
from .inertia_blocks import inertia_blocks
from .link_rates import LinkRates
from .links import Links, link_rotation_rate
from .reduced_equations import generalized_inertia


class _Load(NamedTuple):
    """Generalised force in the paper's order: [F; N_0] (6,) about the base's centre of mass, and tau (n,)."""

    base: Array
    joints: Array


def forward_dynamics(
    craft: Spacecraft,
    q: Array,
    v: Array,
    tau: Array,
    *,
    wrenches: Any = None,
    prescribed: Mapping[str, Any] | None = None,
) -> Array:
    """Acceleration vdot (nv,): the full equations (39), the base eliminated by H_0^-1, then recovered.

        H* qddot = tau - h_m - H_0m^T H_0^-1 (Q_0 - h_0),   xddot_0 = H_0^-1 (Q_0 - h_0 - H_0m qddot)

    `prescribed = {joint: vdot}`: those joints follow, whatever tau says of them; the base may be one.
    """
    require(craft)
    q, v, tau = configuration(craft, q), rates(craft, v), rates(craft, tau, "tau")
    follows = prescribed_rates(craft, prescribed)
    links = craft_links(craft, q)
    H, H_0_inverse = inertia_blocks(links), base_inertia_inverse(links)
    xdot_0, qdot = to_paper(craft, q, v), v[6:]
    h = bias(links, craft_link_rates(craft, q, v), xdot_0, qdot)
    Q = _loads(craft, q, tau, wrenches, links)
    base, joints = Q.base - h.base, Q.joints - h.joints
    given = {k - 6: value for k, value in by_place(craft, follows).items() if k >= 6}  # base apart
    if craft.base in follows:
        xddot_0 = acceleration_to_paper(craft, q, v, follows[craft.base])
        qddot = solve_free(H.H_m, joints - H.H_0m.T @ xddot_0, given)
    else:
        qddot = solve_free(generalized_inertia(H, H_0_inverse), joints - H.H_0m.T @ (H_0_inverse @ base), given)
        xddot_0 = H_0_inverse @ (base - H.H_0m @ qddot)
    return np.concatenate([acceleration_from_paper(craft, q, v, xddot_0), qddot])


def bias(links: Links, rates: LinkRates, xdot_0: Array, qdot: Array) -> _Load:
    """h = H' nu + c of (39), each link's inertial force at zero acceleration projected on the rates:

    a_i = w_0 x r_0i' + J_Ti' qdot,   n_i = I_i J_Ri' qdot + w_i x I_i w_i
    h_0 = sum [m_i a_i; r_0i x m_i a_i + n_i],   h_m = sum (J_Ti^T m_i a_i + J_Ri^T n_i)
    """
    n = len(links.rotors)
    force: Array = np.zeros(3)
    torque: Array = np.zeros(3)
    joints: Array = np.zeros(n)
    for i in range(len(links.m)):
        w = link_rotation_rate(links, i, xdot_0, qdot)
        f = links.m[i] * (cross(xdot_0[3:], rates.r[i]) + rates.J_T[i] @ qdot)
        t = links.I[i] @ (rates.J_R[i] @ qdot) + cross(w, links.I[i] @ w)
        force, torque = force + f, torque + cross(links.r[i], f) + t
        joints = joints + links.J_T[i].T @ f + links.J_R[i].T @ t
    return _Load(np.concatenate([force, torque]), joints)


# ---- the door: [w; v of Bo] in B, to and from [v of the base's centre of mass; w] in N


def to_paper(craft: Spacecraft, q: Array, v: Array) -> Array:
    """xdot_0 = [v_0; w_0], (6,)."""
    R, w, c = rotation(q[:4]), v[:3], craft.body(craft.base).com
    return np.concatenate([R @ (v[3:6] + cross(w, c)), R @ w])


def acceleration_to_paper(craft: Spacecraft, q: Array, v: Array, Vdot_0: Array) -> Array:
    """xddot_0: `R (v' + w x v + w' x c + w x (w x c))` and `R w'`, (6,)."""
    R, w, c = rotation(q[:4]), v[:3], craft.body(craft.base).com
    at_center = cross(w, v[3:6] + cross(w, c))
    return np.concatenate([R @ (Vdot_0[3:] + cross(Vdot_0[:3], c) + at_center), R @ Vdot_0[:3]])


def acceleration_from_paper(craft: Spacecraft, q: Array, v: Array, xddot_0: Array) -> Array:
    """The base's part of vdot, (6,): inverse of `acceleration_to_paper`."""
    R_BN, w, c = rotation(q[:4]).T, v[:3], craft.body(craft.base).com
    wdot = R_BN @ xddot_0[3:]
    return np.concatenate([wdot, R_BN @ xddot_0[:3] - cross(wdot, c) - cross(w, v[3:6] + cross(w, c))])


def _loads(craft: Spacecraft, q: Array, tau: Array, wrenches: Any, links: Links) -> _Load:
    """tau and the wrenches on all bodies, as forces and torques at their centres of mass in N."""
    X_NB, joints = inertial_poses(craft, q), tau[6:]
    F_ext = dict(external(craft, wrenches))
    base_load = tau[:6] + F_ext.pop(craft.base, np.zeros(6))
    force: Array = np.zeros(3)
    torque: Array = np.zeros(3)
    for i, (B, _) in enumerate(craft.base_to_tip):
        F = base_load if craft.base == B else F_ext.get(B)
        if F is None:
            continue
        f, t = X_NB[B].R @ F[3:], X_NB[B].R @ (F[:3] - cross(craft.body(B).com, F[3:]))
        force, torque = force + f, torque + cross(links.r[i], f) + t
        joints = joints + links.J_T[i].T @ f + links.J_R[i].T @ t
    return _Load(np.concatenate([force, torque]), joints)
