"""Equations (66), (74)-(79) by time, (82), (95)-(101) by joint angle: the same product rules, written once."""

from __future__ import annotations

import numpy as np

from ....algebra import Array, skew
from ..inertia_blocks import Blocks
from ..link_rates import LinkRates
from ..links import Links


def block_rates(links: Links, rates: LinkRates) -> Blocks:
    """H_0', H_0m', H_m', where ' is the derivative that `rates` hold."""
    return Blocks(
        base_inertia_rate(links, rates), coupling_inertia_rate(links, rates), manipulator_inertia_rate(links, rates)
    )


def rotational_inertia_rate(links: Links, rates: LinkRates) -> Array:
    """H_S' = I_0' + sum_i (I_i' - m_i ([r_0i']x [r_0i]x + [r_0i]x [r_0i']x)), (3, 3). (76), (101)"""
    H_S = rates.I[0]
    for m, r, dI, dr in zip(links.m[1:], links.r[1:], rates.I[1:], rates.r[1:], strict=True):
        half = skew(dr) @ skew(r)
        H_S = H_S + dI - m * (half + half.T)
    return H_S


def system_moment_rate(links: Links, rates: LinkRates) -> Array:
    """m_tot r_0C' = sum_i m_i r_0i', (3,). (75), (100)"""
    return sum(m * dr for m, dr in zip(links.m, rates.r, strict=True))


def base_inertia_rate(links: Links, rates: LinkRates) -> Array:
    """H_0' = [[0, -m [r_0C']x], [m [r_0C']x, H_S']], (6, 6). (74), (99)"""
    S = skew(system_moment_rate(links, rates))
    return np.block([[np.zeros((3, 3)), -S], [S, rotational_inertia_rate(links, rates)]])


def coupling_inertia_rate(links: Links, rates: LinkRates) -> Array:
    """H_0m' = [J_TS'; H_Sq'], (6, n). (77), (95)"""
    J_TS: Array = np.zeros_like(links.J_T[0])
    H_Sq: Array = np.zeros_like(links.J_T[0])
    for i in range(1, len(links.m)):
        m, J_T, J_R, dJ_T, dJ_R = links.m[i], links.J_T[i], links.J_R[i], rates.J_T[i], rates.J_R[i]
        J_TS = J_TS + m * dJ_T  # (78), (96)
        H_Sq = H_Sq + rates.I[i] @ J_R + links.I[i] @ dJ_R  # (79), (97)
        H_Sq = H_Sq + m * (skew(rates.r[i]) @ J_T + skew(links.r[i]) @ dJ_T)
    return np.vstack([J_TS, H_Sq])


def manipulator_inertia_rate(links: Links, rates: LinkRates) -> Array:
    """H_m' = sum_i (J_Ri'^T I_i J_Ri + J_Ri^T I_i' J_Ri + J_Ri^T I_i J_Ri' + m_i (J_Ti'^T J_Ti + J_Ti^T J_Ti')). (66),
    (82)
    """
    n = len(links.rotors)
    H_m: Array = np.zeros((n, n))
    for i in range(1, len(links.m)):
        J_T, J_R, dJ_T, dJ_R = links.J_T[i], links.J_R[i], rates.J_T[i], rates.J_R[i]
        half = J_R.T @ links.I[i] @ dJ_R + links.m[i] * (J_T.T @ dJ_T)
        H_m = H_m + half + half.T + J_R.T @ rates.I[i] @ J_R
    return H_m
