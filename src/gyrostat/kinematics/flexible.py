"""Flexible bodies in a tree: what the shape of a body does to those on its nodes, and the inertia of a bent body.

For a child C on node i of a flexible body with modal rates ed, X_iC the pose of C on the node (about Co, in C):

    V_C = Ad_CP V_P + S ed + H v,   S = Ad_Ci B_i                                                            (1)
    A_C = Ad_CP A_P + S edd + H vdot + Ad_Ci Bdot_i ed + (V_C - H v) x (S ed) + Hdot v + V_C x (H v)         (2)

The inertia of a bent body and its velocity terms come from its invariants (`model/invariants.py`), z = z(e):

    c m = C z,  T_b = sum_a z_a W_ab,  W = sum_b z_b T_b,  I_o = tr(W) - W                                   (3)
    M_rf = [ax(T_b) Z; C Z],  M_ff = Z^T [tr W_ab] Z,  Z = dz/de                                             (4)
    h_v = m w x v + 2 w x C zd + w x (w x C z) + C zz,   zd = Z ed, zz = ed^T z'' ed                         (5)
    h_w = C z x (w x v) + 2 (tr(X) w - X w) + w x I_o w + sum_b ax(T_b) zz_b,   X = sum_a zd_a T_a^T
    h_f = Z^T y,  y_a = C_a.(w x v) - 2 w . sum_b ax(W_ab) zd_b + w^T T_a w - |w|^2 tr T_a + sum_b tr(W_ab) zz_b

and for each lump whose own inertia J is kept as it is, with Y = Jr Psi, Om = R^T w + Y ed:

    M += N^T J N,  h += N^T (J beta + Om x J Om),  N = [R^T, 0, Y],  beta = (R^T w) x (Y ed) + Jrdot Psi ed  (6)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, RigidInertia, cross, cross_motion, cross_motion_matrix, mirror, twist_to_child
from ..model import FlexibleBody, Joint, Spacecraft
from ..model.nodes import jacobian_rate

# ---- what sits on a node


def carried(joint: Joint, q: Array) -> Array:
    """S of (1), (6, n of the flexible parent)."""
    assert joint.mount is not None
    return twist_to_child(joint.own_pose(q), joint.mount.map(q))


def carried_rate(joint: Joint, q: Array, v: Array) -> Array:
    """Sdot (6, n), in C's components."""
    assert joint.mount is not None
    still = twist_to_child(joint.own_pose(q), joint.mount.map_rate(q, v))
    return still - cross_motion_matrix(joint.H(q) @ joint.rate(v)) @ carried(joint, q) if joint.nv else still


def carried_twist(joint: Joint, q: Array, v: Array) -> Array:
    """S ed of (1), (6,); S is linear in what comes from the right, so that it serves for accelerations, too."""
    assert joint.mount is not None
    return carried(joint, q) @ v[joint.mount.v_at]


def carried_bias(joint: Joint, q: Array, v: Array, V_NC: Array) -> Array:
    """Ad_Ci Bdot_i ed + (V_C - H v) x (S ed) of (2), (6,)."""
    assert joint.mount is not None
    ed = v[joint.mount.v_at]
    turning = V_NC - joint.H(q) @ joint.rate(v) if joint.nv else V_NC
    rate = twist_to_child(joint.own_pose(q), joint.mount.map_rate(q, v) @ ed)
    return rate + cross_motion(turning, carried(joint, q) @ ed)


# ---- fields that pull every lump


def modal_pull(body: FlexibleBody, q: Array, g_B: Array, G_B: Array | None = None) -> Array:
    """Loads (n,) on the modal coordinates of a field of accelerations, g_B at the centre of mass of the bent body and
    G_B (3, 3) what it changes a metre, along B's axes:

        Q = Z^T [C^T (g - G c) + y],  y_a = sum_b z_b tr(G W_ab^T),  + Y^T R^T sum_k (J~ e_k) x (G e_k)      (7)

    the last of each lump whose own inertia is kept, J~ = tr(J)/2 - J its second moments, turned with it.
    """
    own, e = body.invariants, q[body.q_at]
    z, Z, T, _ = _shape(body, e)
    if G_B is None:
        return np.asarray(Z.T @ (own.C.T @ g_B))
    c = own.C @ z / own.m
    y = np.array([np.sum(G_B * t.T) for t in T])  # T_b = sum_a z_a W_ab, W_ba = W_ab^T, G = G^T
    load = Z.T @ (own.C.T @ (g_B - G_B @ c) + y)
    for J, mount in own.rotary:
        turn = mount.turn(e)
        turned = turn.R @ J @ turn.R.T
        second = 0.5 * np.trace(turned) * np.eye(3) - turned
        torque = sum((cross(second[:, k], G_B[:, k]) for k in range(3)), start=np.zeros(3))
        load = load + (turn.Jr @ mount.rotation).T @ (turn.R.T @ torque)
    return np.asarray(load)


# ---- inertia


class BentInertia(NamedTuple):
    """M(e) = [[rr, rf], [rf^T, ff]] of one flexible body, about Bo in B."""

    rr: RigidInertia
    rf: Array  # (6, n)
    ff: Array  # (n, n)


class _Shape(NamedTuple):
    z: Array  # (N,)
    Z: Array  # (N, n)
    T: Array  # (N, 3, 3)
    ax_T: Array  # (N, 3)


def bent_inertia(body: FlexibleBody, q: Array) -> BentInertia:
    """(3), (4), (6)."""
    own, e = body.invariants, q[body.q_at]
    z, Z, T, ax_T = _shape(body, e)
    W = np.tensordot(z, T, axes=(0, 0))
    I_o = mirror(np.trace(W) * np.eye(3) - W)
    rf = np.concatenate([ax_T.T @ Z, own.C @ Z])
    ff = Z.T @ (own.trace @ Z)
    for J, mount in own.rotary:
        turn = mount.turn(e)
        Y = turn.Jr @ mount.rotation
        I_o = I_o + mirror(turn.R @ J @ turn.R.T)
        rf = rf + np.concatenate([turn.R @ (J @ Y), np.zeros((3, body.n))])
        ff = ff + Y.T @ (J @ Y)
    return BentInertia(RigidInertia(own.m, own.C @ z, I_o), rf, mirror(ff))


def bent_bias(body: FlexibleBody, q: Array, v: Array, V: Array) -> tuple[Array, Array]:
    """h_r (6,) and h_f (n,) of (5), (6) at the body's twist V: what M(e) [A; edd] lacks of the loads."""
    own, e, ed = body.invariants, q[body.q_at], v[body.v_at]
    z, Z, T, ax_T = _shape(body, e)
    w, u = V[:3], V[3:]
    zd, zz, moved = Z @ ed, _curved(body, ed), cross(w, u)
    c = own.C @ z
    W = np.tensordot(z, T, axes=(0, 0))
    X = np.tensordot(zd, T, axes=(0, 0)).T
    I_o = np.trace(W) * np.eye(3) - W
    h_v = own.m * moved + 2.0 * cross(w, own.C @ zd) + cross(w, cross(w, c)) + own.C @ zz
    h_w = cross(c, moved) + 2.0 * (np.trace(X) * w - X @ w) + cross(w, I_o @ w) + ax_T.T @ zz
    ax_W = np.array([own.axial[:, :, k] @ zd for k in range(3)])  # (3, N)
    centrifugal = np.array([w @ (t @ w) - (w @ w) * np.trace(t) for t in T])
    y = own.C.T @ moved - 2.0 * (w @ ax_W) + centrifugal + own.trace @ zz
    h_f = Z.T @ y
    for J, mount in own.rotary:
        turn, td = mount.turn(e), mount.rotation @ ed
        Y, own_w = turn.Jr @ mount.rotation, turn.R.T @ w
        spin = Y @ ed
        beta = cross(own_w, spin) + jacobian_rate(turn, td) @ td
        torque = J @ beta + cross(own_w + spin, J @ (own_w + spin))
        h_w, h_f = h_w + turn.R @ torque, h_f + Y.T @ torque
    return np.concatenate([h_w, h_v]), h_f


def inertia_at(craft: Spacecraft, q: Array, body: str) -> RigidInertia:
    """Inertia of a body about its origin, in its axes, as it is bent at q."""
    flexible = craft.flexible(body)
    return craft.inertia(body) if flexible is None else bent_inertia(flexible, q).rr


def mass_at(craft: Spacecraft, q: Array, body: str) -> tuple[Any, Array, Array]:
    """Mass, centre of mass in B, and inertia about it, of a body as it is bent at q.

    kg, (3,) in m, (3, 3) in kg m^2.
    """
    if craft.flexible(body) is None:
        own = craft.body(body)
        return own.mass, own.com, own.inertia
    m, h, I_o = inertia_at(craft, q, body)
    c = h / m
    return m, c, mirror(I_o - m * ((c @ c) * np.eye(3) - np.outer(c, c)))


def momentum_of(craft: Spacecraft, q: Array, v: Array, body: str, V: Array) -> Array:
    """[angular; linear] of one body at its twist V, about Bo in B, (6,)."""
    flexible = craft.flexible(body)
    if flexible is None:
        return craft.inertia(body) @ V
    M = bent_inertia(flexible, q)
    return M.rr @ V + M.rf @ v[flexible.v_at]


def kinetic_energy_of(craft: Spacecraft, q: Array, v: Array, body: str, V: Array) -> Any:
    """Of one body at its twist V, without the rotor of its joint, in J."""
    flexible = craft.flexible(body)
    if flexible is None:
        return 0.5 * (V @ (craft.inertia(body) @ V))
    M, ed = bent_inertia(flexible, q), v[flexible.v_at]
    return 0.5 * (V @ (M.rr @ V) + ed @ (M.ff @ ed)) + V @ (M.rf @ ed)


def _shape(body: FlexibleBody, e: Array) -> _Shape:
    own, n = body.invariants, body.n
    products = [0.5 * e[k] * e[k] if k == l else e[k] * e[l] for k, l in own.pairs]
    z = np.concatenate([[1.0], e, products])
    rows = []
    for k, l in own.pairs:
        row = [e[0] * 0.0] * n
        row[k], row[l] = e[l], e[k]
        rows.append(row)
    Z = np.array([[0.0] * n, *np.eye(n).tolist(), *rows])
    T = np.tensordot(z, own.W, axes=(0, 0))
    return _Shape(
        z, Z, T, np.stack([T[:, 1, 2] - T[:, 2, 1], T[:, 2, 0] - T[:, 0, 2], T[:, 0, 1] - T[:, 1, 0]], axis=-1)
    )


def _curved(body: FlexibleBody, ed: Array) -> Array:
    """zz = ed^T z'' ed, (N,)."""
    pairs = body.invariants.pairs
    return np.array([0.0] * (1 + body.n) + [ed[k] * ed[k] if k == l else 2.0 * ed[k] * ed[l] for k, l in pairs])
