"""Mass properties that cannot become unphysical: the pseudo-inertia of a body by log-Cholesky parameters, and how they
are learnt.

    P = [[S, h], [h^T, m]],   S = 1/2 tr(I_o) 1 - I_o = integral of r r^T dm                                   (1)

is positive definite exactly where mass, centre of mass and inertia are those of some body with volume. With L_0 L_0^T
the one that is believed in to begin with, P = (L_0 L) (L_0 L)^T, L lower triangular, theta = (log of L's diagonal, L
below it): theta = 0 is the beginning, every theta in R^10 is a body, and every body with volume is one theta. Wensing,
Kim & Slotine (2017); Rucker & Wensing (2022).

Learning is steepest descent where distances are measured by the potential F, Q = L L^T being P in units of the first
guess:

    F = -log det Q + 1/2 tr(Q Q),     F''(Q)[Q'] = Q^-1 Q' Q^-1 + Q' = -gain B                                (2)

Its first part is infinite where bodies cease to be (Lee, Kwon & Park 2018); alone it lets them grow as exp(gain times
energy), which the second part bounds. Neither units nor the body's frame matter. For any slope . pi = tr(Q B), the
divergence

    D = F(true) - F(Q) - F'(Q)[true - Q] >= 0     changes at     -gain slope . (pi - pi_true)                 (3)

which is all that a proof of adaptation needs. Boffi & Slotine (2021).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array, RigidInertia, exp, inertia_components, mirror, solve_spd
from ..model import Spacecraft

BELOW = [(i, j) for i in range(4) for j in range(i)]  # places of L below its diagonal
UPPER = [(i, j) for i in range(4) for j in range(i, 4)]  # of a symmetric matrix
THINNEST = 1e-9  # smallest eigenvalue of P, with lengths in units of the body's size and masses in its own


def pseudo_inertia(M: RigidInertia) -> Array:
    """(1), (4, 4)."""
    S = 0.5 * np.trace(M.I_o) * np.eye(3) - M.I_o
    return np.block([[mirror(S), np.reshape(M.h, (3, 1))], [np.reshape(M.h, (1, 3)), np.reshape(M.m, (1, 1))]])


def first_factor(M: RigidInertia) -> Array:
    """L_0 (4, 4) of a body given by numbers. Raises a ValueError where it has no volume."""
    P = np.asarray(pseudo_inertia(M), dtype=float)
    m = P[3, 3]
    length = np.sqrt(np.trace(P[:3, :3]) / m) if m > 0 else 0.0
    scale = np.array([length, length, length, 1.0])
    if not length > 0 or np.linalg.eigvalsh(P / np.outer(scale, scale) / m)[0] < THINNEST:
        inertia = np.round(inertia_components(np.asarray(M.I_o, dtype=float)), 9).tolist()
        raise ValueError(f"mass {m:g} kg, inertia {inertia} about the origin")
    return np.linalg.cholesky(P)


def factor(theta: Array) -> Array:
    """L (4, 4)."""
    L = np.zeros((4, 4), dtype=object if theta.dtype == object else float)
    for k in range(4):
        L[k, k] = exp(theta[k])
    for x, (i, j) in zip(theta[4:], BELOW, strict=True):
        L[i, j] = x
    return L


def estimate_of(L_0: Array, theta: Array) -> RigidInertia:
    """The body that theta (10,) stands for."""
    whole = L_0 @ factor(theta)
    P = mirror(whole @ whole.T)
    S = P[:3, :3]
    return RigidInertia(P[3, 3], P[:3, 3], mirror(np.trace(S) * np.eye(3) - S))


def descent(L_0: Array, theta: Array, slope: Array, gain: Any) -> Array:
    """d/dt theta (10,) by (2), where slope (10,) is that of (m, h, I_xx, I_xy, I_xz, I_yy, I_yz, I_zz).

    With Q' = L S L^T and K = L^T L, (2) is S + K S K = -gain L^T B L, and L' = L lower(S), half of the diagonal.
    """
    L = factor(theta)
    whole, K = L_0 @ L, mirror(L.T @ L)
    G = mirror(whole.T @ _conjugate(slope) @ whole)
    # symmetric matrices by their ten entries, those off the diagonal times sqrt 2: S + K S K is then symmetric
    weight = np.array([1.0 if i == j else 2.0**0.5 for i, j in UPPER])
    both = np.array([[_between(K, *a, *b) for b in UPPER] for a in UPPER])
    x = solve_spd(mirror(both) + np.eye(10), weight * np.array([G[a] for a in UPPER])) / weight
    S = dict(zip(UPPER, x, strict=True))
    lower = np.array([[0.5 * S[i, i] if i == j else S[j, i] if i > j else 0.0 for j in range(4)] for i in range(4)])
    rate = L @ lower
    return -gain * np.array([*np.diag(lower), *(rate[i, j] for i, j in BELOW)])


def divergence(L_0: Array, theta: Array, true: RigidInertia) -> float:
    """D of (3), from the true body to the estimate; numbers."""
    L, inverse = factor(theta), np.linalg.inv(L_0)
    Q, Q_true = L @ L.T, inverse @ np.asarray(pseudo_inertia(true), dtype=float) @ inverse.T
    X = np.linalg.solve(Q, Q_true)
    return float(np.trace(X) - np.linalg.slogdet(X)[1] - 4.0 + 0.5 * ((Q - Q_true) ** 2).sum())


def _between(K: Array, i: int, j: int, k: int, l: int) -> Any:
    """Entry of S -> K S K between the unit matrices of (i, j) and (k, l)."""
    if i == j or k == l:
        return K[i, k] * K[j, l] * (1.0 if i == j and k == l else 2.0**0.5)
    return K[i, k] * K[j, l] + K[i, l] * K[j, k]


def _conjugate(slope: Array) -> Array:
    """B with tr(P B) = slope . (m, h, I_xx, I_xy, I_xz, I_yy, I_yz, I_zz), (4, 4). I = tr(S) 1 - S."""
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = slope
    return 0.5 * np.array(
        [
            [2 * (yy + zz), -xy, -xz, hx],
            [-xy, 2 * (xx + zz), -yz, hy],
            [-xz, -yz, 2 * (xx + yy), hz],
            [hx, hy, hz, 2 * m],
        ]
    )


def first_factors(estimate: Spacecraft) -> dict[str, Array]:
    """L_0 of each body that can be learnt: no wheels, and nothing without mass."""
    found = {}
    for body in estimate.bodies:
        if body.joint.motion.spins or not body.mass > 0:
            continue
        if estimate.flexible(body.name):
            raise ValueError(
                f"body '{body.name}' of {estimate.name} is flexible: it has no ten parameters to learn. Use a law that "
                "lets shapes go along, as control.computed_torque does."
            )
        try:
            found[body.name] = first_factor(estimate.inertia(body.name))
        except ValueError as reason:
            raise ValueError(
                f"body '{body.name}' of {estimate.name} has no volume: {reason}. Estimates stay strictly physical: "
                "give it some thickness."
            ) from None
    return found


def estimated_inertias(estimate: Spacecraft, memory: Array) -> dict[str, RigidInertia]:
    """What an adaptive law believes, by body, from its memory; estimate: what it believed to begin with."""
    return {
        name: estimate_of(L_0, np.asarray(memory)[10 * k : 10 * k + 10])
        for k, (name, L_0) in enumerate(first_factors(estimate).items())
    }
