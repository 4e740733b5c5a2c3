"""The paper's links for any tree and any joint kind: the equations from (26) on then hold as they stand.

Link i is body i of `craft.bodies`, the base first; wheels are links too. Rates run over `v[6:]`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, Pose, cross, skew
from ...kinematics import body_twists, inertial_poses, joint_poses, path_from_base
from ...model import Spacecraft
from .link_rates import LinkRates
from .links import Links


class _Screw(NamedTuple):
    """A joint's motion map in N, about the joint's origin p: columns w, v (3, nv)."""

    p: Array
    w: Array
    v: Array


def craft_links(craft: Spacecraft, q: Array) -> Links:
    """Links of the craft at q. J_T and J_R: `R_NA H_v + (R_NA H_w) x (r - p_A)` and `R_NA H_w` of each joint A
    inboard.
    """
    X_NB = inertial_poses(craft, q)
    screws = {A: _screw(craft, q, A, X_NB[A]) for A, P in craft.base_to_tip if P is not None}
    r_0 = _center(craft, craft.base, X_NB)
    m, I, r, J_T, J_R = [], [], [], [], []
    for B, _ in craft.base_to_tip:
        R, r_B = X_NB[B].R, _center(craft, B, X_NB)
        m.append(craft.body(B).mass)
        I.append(R @ central_inertia(craft, B) @ R.T)
        r.append(r_B - r_0)
        inner = path_from_base(craft, B)[1:]
        J_T.append(_placed(craft, {A: screws[A].v - cross(r_B - screws[A].p, screws[A].w) for A in inner}))
        J_R.append(_placed(craft, {A: screws[A].w for A in inner}))
    return Links(m, I, r, J_T, J_R, rotor_inertias(craft))


def craft_link_rates(craft: Spacecraft, q: Array, v: Array) -> LinkRates:
    """d/dt of `craft_links` at velocity v. With the base at rest and one unit rate: the derivative along that joint."""
    X_NB, V = inertial_poses(craft, q), body_twists(craft, q, v, joint_poses(craft, q))
    screws: dict[str, _Screw] = {}
    rates: dict[str, _Screw] = {}
    for A, P in craft.base_to_tip:
        if P is not None:
            screws[A] = _screw(craft, q, A, X_NB[A])
            rates[A] = _screw_rate(craft, q, v, A, X_NB[A], V[A], screws[A])
    rdot_0 = _center_rate(craft, craft.base, X_NB, V)
    I, r, J_T, J_R = [], [], [], []
    for B, _ in craft.base_to_tip:
        R, r_B, rdot_B = X_NB[B].R, _center(craft, B, X_NB), _center_rate(craft, B, X_NB, V)
        half = skew(R @ V[B][:3]) @ R @ central_inertia(craft, B) @ R.T
        I.append(half + half.T)
        r.append(rdot_B - rdot_0)
        dJ_T, dJ_R = {}, {}
        for A in path_from_base(craft, B)[1:]:
            s, ds = screws[A], rates[A]
            dJ_T[A] = ds.v - cross(r_B - s.p, ds.w) - cross(rdot_B - ds.p, s.w)
            dJ_R[A] = ds.w
        J_T.append(_placed(craft, dJ_T))
        J_R.append(_placed(craft, dJ_R))
    return LinkRates(I, r, J_T, J_R)


def central_inertia(craft: Spacecraft, body: str) -> Array:
    """Inertia about the body's own centre of mass, in B, wheels that it includes taken out, (3, 3)."""
    C = skew(craft.body(body).com)
    return craft.inertia(body).I_o + craft.body(body).mass * (C @ C)


def rotor_inertias(craft: Spacecraft) -> Array:
    """Armature of each rate in v[6:], (n,)."""
    parts: list[Any] = [joint.armature for joint in craft.joints[1:] for _ in range(joint.nv)]
    return np.array(parts) if parts else np.zeros(0)


def _center(craft: Spacecraft, B: str, X_NB: dict[str, Pose]) -> Array:
    return X_NB[B].p + X_NB[B].R @ craft.body(B).com


def _center_rate(craft: Spacecraft, B: str, X_NB: dict[str, Pose], V: dict[str, Array]) -> Array:
    return X_NB[B].R @ (V[B][3:] + cross(V[B][:3], craft.body(B).com))


def _screw(craft: Spacecraft, q: Array, A: str, X_NA: Pose) -> _Screw:
    H = craft.joint(A).H(q)
    return _Screw(X_NA.p, X_NA.R @ H[:3], X_NA.R @ H[3:])


def _screw_rate(craft: Spacecraft, q: Array, v: Array, A: str, X_NA: Pose, V_NA: Array, s: _Screw) -> _Screw:
    """d/dt (R_NA H) = R_NA Hdot + w_NA x (R_NA H)."""
    Hdot, w_NA_N = craft.joint(A).map_rate(q, v), X_NA.R @ V_NA[:3]
    return _Screw(X_NA.R @ V_NA[3:], X_NA.R @ Hdot[:3] + cross(w_NA_N, s.w), X_NA.R @ Hdot[3:] + cross(w_NA_N, s.v))


def _placed(craft: Spacecraft, columns: dict[str, Array]) -> Array:
    """The columns of each joint at its place in v[6:], zeros elsewhere, (3, n)."""
    zeros = {A: np.zeros((3, craft.joint(A).nv)) for A, P in craft.base_to_tip if P is not None}
    parts = [columns.get(A, zeros[A]) for A in zeros]
    return np.hstack(parts) if parts else np.zeros((3, 0))
