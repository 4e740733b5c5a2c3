"""Equations (11)-(16), (30), (33), (35): where the links' masses are and how joint rates move them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, cross
from .arm import Arm
from .direction_cosines import joint_axes, position_of, rotation_of


class Links(NamedTuple):
    """All that equations (26)-(36) need of links 0..N, in inertial components; the base is link 0.

    They hold for any tree and any joints: n is the number of joint rates, and column k of J_T, J_R belongs to rate k.
    """

    m: list[Any]
    I: list[Array]  # (3, 3) about the centre of mass (30)
    r: list[Array]  # (3,) r_0i, centre of mass from that of the base (11); zero for the base
    J_T: list[Array]  # (3, n) velocity of the centre of mass per joint rate (33); zero for the base
    J_R: list[Array]  # (3, n) angular velocity per joint rate (35); zero for the base
    rotors: Array  # (n,) inertia of geared rotors at the joints; zero in the paper


def arm_links(arm: Arm, T_J: list[Array], T_L: list[Array]) -> Links:
    """The paper's links, from `joint_transforms` and `link_transforms`."""
    k, p = joint_axes(T_J), [position_of(T) for T in T_J]
    r_0 = position_of(T_L[0])
    m, I, r, J_T, J_R = [], [], [], [], []
    for i in range(arm.n + 1):
        R, r_i = rotation_of(T_L[i]), position_of(T_L[i])
        m.append(arm.mass[i])
        I.append(R @ arm.inertia[i] @ R.T)  # (30)
        r.append(r_i - r_0 if i else np.zeros(3))  # (11)
        J_T.append(columns(arm.n, [cross(k[j], r_i - p[j]) for j in range(1, i + 1)]))  # (33)
        J_R.append(columns(arm.n, k[1 : i + 1]))  # (35)
    return Links(m, I, r, J_T, J_R, np.zeros(arm.n))


def columns(n: int, inner: list[Array]) -> Array:
    """[inner | 0], (3, n): what is outboard of a link does not move it."""
    return np.column_stack([*inner, *([np.zeros(3)] * (n - len(inner)))]) if n else np.zeros((3, 0))


def total_mass(links: Links) -> Any:
    """m_tot."""
    return sum(links.m)


def system_center(links: Links) -> Array:
    """r_0C = sum m_i r_0i / m_tot, the system's centre of mass from that of the base, (3,). (12), (13), (14)"""
    return sum(m * r for m, r in zip(links.m, links.r, strict=True)) / total_mass(links)


def link_velocity(links: Links, i: int, xdot_0: Array, qdot: Array) -> Array:
    """Velocity of the centre of mass of link i, (3,). (15)"""
    v_0, w_0 = xdot_0[:3], xdot_0[3:]
    return v_0 + cross(w_0, links.r[i]) + links.J_T[i] @ qdot


def link_rotation_rate(links: Links, i: int, xdot_0: Array, qdot: Array) -> Array:
    """Angular velocity of link i, (3,). (16)"""
    return xdot_0[3:] + links.J_R[i] @ qdot
