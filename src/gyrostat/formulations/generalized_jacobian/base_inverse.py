"""Equations (51)-(61): the inverse of H_0 by its Schur complement, the inertia about the system's centre of mass."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import Array, mirror, skew
from .links import Links, system_center, total_mass


def schur_complement(links: Links) -> Array:
    """S_U = H_S + m [r_0C]x [r_0C]x, as sum_i (I_i - m_i [r_i - r_C]x [r_i - r_C]x), (3, 3). (53)

    The inertia of the locked craft about the system's centre of mass: positive definite. Summed there, nothing cancels.
    """
    r_C = system_center(links)
    S_U: Array = np.zeros((3, 3))
    for m, I, r in zip(links.m, links.I, links.r, strict=True):
        S = skew(r - r_C)
        S_U = S_U + I - m * (S @ S)
    return mirror(S_U)


def schur_elements(links: Links) -> tuple[Any, Any, Any, Any, Any, Any]:
    """s11, s12, s13, s22, s23, s33 of S_U. (54), (55), (56), (57 corrected), (58), (59 corrected)

    I_xx.. are the elements of sum_i I_i in inertial axes, (x, y, z)_i = r_0i. Cancels when the arm is heavy: see (53).
    """
    I: Array = sum(links.I)  # type: ignore[assignment]
    m, c = total_mass(links), system_center(links)

    def product(u: int, v: int) -> Any:
        """sum_i m_i u_i v_i - m u_C v_C."""
        return sum(m_i * r[u] * r[v] for m_i, r in zip(links.m, links.r, strict=True)) - m * c[u] * c[v]

    x, y, z = 0, 1, 2
    return (
        I[x, x] + product(y, y) + product(z, z),  # (54)
        I[x, y] - product(x, y),  # (55)
        I[x, z] - product(x, z),  # (56)
        I[y, y] + product(x, x) + product(z, z),  # (57): printed with y, z
        I[y, z] - product(y, z),  # (58)
        I[z, z] + product(x, x) + product(y, y),  # (59): printed with y, z
    )


def determinant(s: tuple[Any, ...]) -> Any:
    """det S_U from s11, s12, s13, s22, s23, s33. (60)"""
    s11, s12, s13, s22, s23, s33 = s
    return -s13 * s13 * s22 + 2.0 * s12 * s13 * s23 - s11 * s23 * s23 - s12 * s12 * s33 + s11 * s22 * s33


def schur_inverse(s: tuple[Any, ...]) -> Array:
    """S_U^-1 by its adjugate, (3, 3). (61)"""
    s11, s12, s13, s22, s23, s33 = s
    a12, a13, a23 = s13 * s23 - s12 * s33, s12 * s23 - s13 * s22, s12 * s13 - s11 * s23
    adjugate = [[s22 * s33 - s23 * s23, a12, a13], [a12, s11 * s33 - s13 * s13, a23], [a13, a23, s11 * s22 - s12 * s12]]
    return np.array(adjugate) * (1.0 / determinant(s))


def base_inertia_inverse(links: Links) -> Array:
    """H_0^-1, (6, 6), with r = [r_0C]x and S = S_U. (51), (52 corrected: the minus sign below left)

    H_0^-1 = [[1/m - r S^-1 r, r S^-1], [-S^-1 r, S^-1]]
    """
    S_U = schur_complement(links)
    S_inverse = schur_inverse(tuple(S_U[i, j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))))
    r = skew(system_center(links))
    right = r @ S_inverse
    return np.block([[np.eye(3) / total_mass(links) - right @ r, right], [right.T, S_inverse]])
