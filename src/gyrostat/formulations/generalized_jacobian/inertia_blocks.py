"""Equations (26)-(36), (42): kinetic energy, momentum, and the inertia matrix in blocks.

Order of the paper: xdot_0 = [v_0; w_0], velocity of the base's centre of mass and angular velocity, both in inertial
components; M = [P; L_0], the angular momentum about the moving centre of mass of the base.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, mirror, skew
from .links import Links, link_rotation_rate, link_velocity, system_center, total_mass


class Blocks(NamedTuple):
    """H = [[H_0, H_0m], [H_0m^T, H_m]] of the whole craft; also its derivative by time or by a joint angle."""

    H_0: Array  # (6, 6)
    H_0m: Array  # (6, n)
    H_m: Array  # (n, n)


def inertia_blocks(links: Links) -> Blocks:
    """H_0, H_0m and H_m."""
    return Blocks(base_inertia(links), coupling_inertia(links), manipulator_inertia(links))


def rotational_inertia(links: Links) -> Array:
    """H_S = I_0 + sum_i (I_i - m_i [r_0i]x [r_0i]x), about the base's centre of mass, (3, 3). (29)"""
    H_S = links.I[0]
    for m, I, r in zip(links.m[1:], links.I[1:], links.r[1:], strict=True):
        H_S = H_S + I - m * (skew(r) @ skew(r))
    return mirror(H_S)


def base_inertia(links: Links) -> Array:
    """H_0 = [[m 1, -m [r_0C]x], [m [r_0C]x, H_S]], (6, 6). (28)"""
    m, S = total_mass(links), skew(system_center(links))
    return np.block([[m * np.eye(3), -m * S], [m * S, rotational_inertia(links)]])


def coupling_inertia(links: Links) -> Array:
    """H_0m = [J_TS; H_Sq], (6, n). (31)"""
    J_TS: Array = np.zeros_like(links.J_T[0])
    H_Sq: Array = np.zeros_like(links.J_T[0])
    for m, I, r, J_T, J_R in _moving(links):
        J_TS = J_TS + m * J_T  # (32)
        H_Sq = H_Sq + I @ J_R + m * (skew(r) @ J_T)  # (34)
    return np.vstack([J_TS, H_Sq])


def manipulator_inertia(links: Links) -> Array:
    """H_m = sum_i (J_Ri^T I_i J_Ri + m_i J_Ti^T J_Ti), and the rotors, (n, n). (36)"""
    H_m: Array = np.diag(links.rotors)
    for m, I, _, J_T, J_R in _moving(links):
        H_m = H_m + J_R.T @ I @ J_R + m * (J_T.T @ J_T)
    return mirror(H_m)


def kinetic_energy_by_link(links: Links, xdot_0: Array, qdot: Array) -> Any:
    """1/2 sum_i (w_i^T I_i w_i + m_i v_i^T v_i), and the rotors. (26)"""
    twice: Any = qdot @ (links.rotors * qdot)
    for i, (m, I) in enumerate(zip(links.m, links.I, strict=True)):
        w, v = link_rotation_rate(links, i, xdot_0, qdot), link_velocity(links, i, xdot_0, qdot)
        twice = twice + w @ I @ w + m * (v @ v)
    return 0.5 * twice


def kinetic_energy(H: Blocks, xdot_0: Array, qdot: Array) -> Any:
    """1/2 xdot_0^T H_0 xdot_0 + 1/2 qdot^T H_m qdot + xdot_0^T H_0m qdot. (27)"""
    return 0.5 * (xdot_0 @ H.H_0 @ xdot_0 + qdot @ H.H_m @ qdot) + xdot_0 @ H.H_0m @ qdot


def momentum(H: Blocks, xdot_0: Array, qdot: Array) -> Array:
    """[P; L_0] = H_0 xdot_0 + H_0m qdot, (6,). (42)"""
    return H.H_0 @ xdot_0 + H.H_0m @ qdot


def _moving(links: Links) -> list[tuple[Any, Array, Array, Array, Array]]:
    return list(zip(links.m[1:], links.I[1:], links.r[1:], links.J_T[1:], links.J_R[1:], strict=True))
