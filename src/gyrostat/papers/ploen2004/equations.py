"""Every form and every choice of C on random bodies: what holds, and what the printed equations miss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...algebra import Array, skew
from ...formulations import recursive, spatial_forms
from ...formulations.spatial_forms.coriolis import CHOICES, SKEW, coriolis, dissipation, passivity_matrix
from ...formulations.spatial_forms.paper.rigid_body import FORMS
from ...formulations.spatial_forms.transport import spatial_dyadic_rate, turning
from ...kinematics import neutral, step_configuration
from ...models import servicer
from ..checks import Check, at_most, holds

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


def checks() -> list[Check]:
    """The statements of the paper, corrected where they must be; then the printed ones, which fail."""
    rows = cases()
    found = [
        at_most("four forms, one acceleration: (18), (29)", max(map(_forms_apart, rows)), 1e-12),
        at_most("C V is the same for every choice: (17), (23), (35), (41)", max(map(_products_apart, rows)), 1e-13),
        at_most("M' - 2C skew: (52'), (54'), (55'), (58), all forms", max(_skewness(c, SKEW) for c in rows), 1e-13),
        at_most("V^T (M' - 2C) V = 0 for every choice (footnote 6)", max(map(_dissipated, rows)), 1e-13),
        *_multibody(),
    ]
    found += [
        _printed("Proposition 2 as printed: skew C, inertial rates", min(_inertial_skewness(c) for c in rows)),
        _printed("(52) as printed: C1 = M', inertial rates", min(_skewness(c, ("momentum",), (1,)) for c in rows)),
        _printed("(54) as printed: w^ J - J w^", min(_corner(c, 2) for c in rows)),
        _printed("(55) as printed: w^ J_o - J_o w^", min(_corner(c, 4) for c in rows)),
        _printed("(46) as printed: C4 = -Omega_V M_o, product", min(_sign(c) for c in rows)),
    ]
    return found


def _printed(name: str, value: float) -> Check:
    return holds(
        name, value > 1e-2, f"off by {value:.0e} at least", "fails", "wrong as printed; docs/errata/ploen2004.md"
    )


def _forms_apart(case: Case) -> float:
    A = {k: spatial_forms.acceleration(k, case.m, case.J_c, case.r, case.V[k], case.F[k]) for k in FORMS}
    Omega, T = turning(case.V[4][:3]), spatial_forms.shift(case.r)
    T_N = spatial_dyadic_rate(T, case.V[4][:3])
    apart = [
        A[1] - A[2] - Omega @ case.V[2],
        A[3] - A[4] - Omega @ case.V[4],
        A[1] - T @ A[3] - T_N @ case.V[3],
    ]
    return float(np.abs(apart).max() / max(np.abs(a).max() for a in A.values()))


def _products_apart(case: Case) -> float:
    worst = 0.0
    for k, which in FORMS.items():
        true = spatial_forms.velocity_product(k, case.m, case.J_c, case.r, case.V[k])
        for choice in CHOICES:
            C = coriolis(case.M[k], case.V[k], choice, inertial_rates=which.inertial_rates)
            worst = max(
                worst, float(np.abs(C @ case.V[k] - true).max() / (np.abs(case.M[k]).max() * (case.V[k] @ case.V[k])))
            )
    return worst


def _skewness(case: Case, choices: tuple[str, ...], forms: tuple[int, ...] = (1, 2, 3, 4)) -> float:
    worst = 0.0
    for k in forms:
        inertial = FORMS[k].inertial_rates
        for choice in choices:
            C = coriolis(case.M[k], case.V[k], choice, inertial_rates=inertial)
            N = passivity_matrix(case.M[k], C, case.V[k][:3], inertial_rates=inertial)
            worst = max(worst, _asymmetry(N))
    return worst


def _asymmetry(N: Array) -> float:
    return float(np.abs(N + N.T).max() / np.abs(N).max())


def _inertial_skewness(case: Case) -> float:
    C = coriolis(case.M[4], case.V[4], "skew")
    return _asymmetry(passivity_matrix(case.M[4], C, case.V[4][:3], inertial_rates=True))


def _corner(case: Case, k: int) -> float:
    W, J = skew(case.V[k][:3]), case.M[k][:3, :3]
    return _asymmetry(W @ J - J @ W)


def _sign(case: Case) -> float:
    true = spatial_forms.velocity_product(4, case.m, case.J_c, case.r, case.V[4])
    return float(np.abs(-coriolis(case.M[4], case.V[4], "lie") @ case.V[4] - true).max() / np.abs(true).max())


def _dissipated(case: Case) -> float:
    worst = 0.0
    for k, which in FORMS.items():
        for choice in CHOICES:
            C = coriolis(case.M[k], case.V[k], choice, inertial_rates=which.inertial_rates)
            lost = abs(float(dissipation(case.M[k], C, case.V[k], inertial_rates=which.inertial_rates)))
            worst = max(worst, lost / (np.abs(case.M[k]).max() * np.linalg.norm(case.V[k]) ** 3))
    return worst


def _multibody() -> list[Check]:
    """A servicer with its arm, and a formation of three as a virtual tree: inherited equations against articulated bodies."""
    rng = np.random.default_rng(7)
    craft = servicer()
    members = {"chief": craft, "left": craft, "right": craft}
    tree = spatial_forms.virtual_tree(members, "chief")
    found = []
    for name, system in (
        ("a craft with an arm, V_i = J_i u", craft),
        ("three of them, led by one (virtual tree)", tree),
    ):
        q = step_configuration(system, neutral(system), rng.normal(size=system.nv))
        v, tau = rng.normal(size=system.nv), rng.normal(size=system.nv)
        a, b = (f(system, q, v, tau) for f in (spatial_forms.forward_dynamics, recursive.forward_dynamics))
        found.append(at_most(f"{name}: accelerations", float(np.abs(a - b).max() / np.abs(b).max()), 1e-10))
        C = spatial_forms.coriolis_matrix(system, q, v)
        # d/dt M by the torsion-free choice, for which Mdot = C + C^T
        other = recursive.coriolis_matrix(system, q, v)
        N = other + other.T - 2.0 * C
        found.append(at_most(f"{name}: M' - 2C skew", _asymmetry(N), 1e-12))
    return found
