"""Every form and every choice of C on random bodies: how far what should be equal is apart,
and how far the printed equations miss.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...algebra import Array, skew
from ...formulations import spatial_forms
from ...formulations.spatial_forms.coriolis_matrices import CHOICES, coriolis, dissipation, passivity_matrix
from ...formulations.spatial_forms.paper.rigid_body import FORMS
from ...formulations.spatial_forms.transport import spatial_dyadic_rate, turning

CASES = 50


class Case(NamedTuple):
    """A body, its velocity about o and c, and the forces on it, in one frame."""

    m: float
    J_c: Array
    r: Array
    V: dict[int, Array]  # by form
    F: dict[int, Array]
    M: dict[int, Array]


def cases() -> list[Case]:
    """Random bodies, as clouds of points, with velocities and forces of order one."""
    rng = np.random.default_rng(2004)
    found = []
    for _ in range(CASES):
        masses, points = rng.uniform(0.2, 5, size=8), rng.normal(size=(8, 3))
        points -= masses @ points / masses.sum()
        J = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
        m, r, V_o, F_c = float(masses.sum()), rng.normal(size=3), rng.normal(size=6), rng.normal(size=6)
        T = spatial_forms.shift(r)
        M_c, M_o = spatial_forms.spatial_inertia(m, J), spatial_forms.spatial_inertia(m, J, r)
        V_c, F_o = T @ V_o, T.T @ F_c
        found.append(
            Case(
                m,
                J,
                r,
                {1: V_c, 2: V_c, 3: V_o, 4: V_o},
                {1: F_c, 2: F_c, 3: F_o, 4: F_o},
                {1: M_c, 2: M_c, 3: M_o, 4: M_o},
            )
        )
    return found


def forms_apart(case: Case) -> float:
    """Accelerations of the four forms, brought to one another by (18) and (29); relative."""
    A = {k: spatial_forms.acceleration(k, case.m, case.J_c, case.r, case.V[k], case.F[k]) for k in FORMS}
    Omega, T = turning(case.V[4][:3]), spatial_forms.shift(case.r)
    T_N = spatial_dyadic_rate(T, case.V[4][:3])
    apart = [
        A[1] - A[2] - Omega @ case.V[2],
        A[3] - A[4] - Omega @ case.V[4],
        A[1] - T @ A[3] - T_N @ case.V[3],
    ]
    return float(np.abs(apart).max() / max(np.abs(a).max() for a in A.values()))


def products_apart(case: Case) -> float:
    """C V of every choice from the velocity product; relative."""
    worst = 0.0
    for k, which in FORMS.items():
        true = spatial_forms.velocity_product(k, case.m, case.J_c, case.r, case.V[k])
        for choice in CHOICES:
            C = coriolis(case.M[k], case.V[k], choice, inertial_rates=which.inertial_rates)
            worst = max(
                worst, float(np.abs(C @ case.V[k] - true).max() / (np.abs(case.M[k]).max() * (case.V[k] @ case.V[k])))
            )
    return worst


def skewness(case: Case, choices: tuple[str, ...], forms: tuple[int, ...] = (1, 2, 3, 4)) -> float:
    """Symmetric part of M' - 2C; relative."""
    worst = 0.0
    for k in forms:
        inertial = FORMS[k].inertial_rates
        for choice in choices:
            C = coriolis(case.M[k], case.V[k], choice, inertial_rates=inertial)
            N = passivity_matrix(case.M[k], C, case.V[k][:3], inertial_rates=inertial)
            worst = max(worst, asymmetry(N))
    return worst


def asymmetry(N: Array) -> float:
    """Largest element of N + N^T, of N's."""
    return float(np.abs(N + N.T).max() / np.abs(N).max())


def inertial_skewness(case: Case) -> float:
    """Proposition 2 as printed: a skew C with the inertial rate of M."""
    C = coriolis(case.M[4], case.V[4], "skew")
    return asymmetry(passivity_matrix(case.M[4], C, case.V[4][:3], inertial_rates=True))


def corner(case: Case, k: int) -> float:
    """(54), (55) as printed: w^ J - J w^ in the corner."""
    W, J = skew(case.V[k][:3]), case.M[k][:3, :3]
    return asymmetry(W @ J - J @ W)


def sign(case: Case) -> float:
    """(46) as printed: C4 = -Omega_V M_o."""
    true = spatial_forms.velocity_product(4, case.m, case.J_c, case.r, case.V[4])
    return float(np.abs(-coriolis(case.M[4], case.V[4], "lie") @ case.V[4] - true).max() / np.abs(true).max())


def dissipated(case: Case) -> float:
    """V^T (M' - 2C) V (footnote 6); relative."""
    worst = 0.0
    for k, which in FORMS.items():
        for choice in CHOICES:
            C = coriolis(case.M[k], case.V[k], choice, inertial_rates=which.inertial_rates)
            lost = abs(float(dissipation(case.M[k], C, case.V[k], inertial_rates=which.inertial_rates)))
            worst = max(worst, lost / (np.abs(case.M[k]).max() * np.linalg.norm(case.V[k]) ** 3))
    return worst
