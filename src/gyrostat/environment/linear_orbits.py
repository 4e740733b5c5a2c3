"""Linear relative motion in the Hill frame (x radial, y along-track, z normal), and its transition matrices.

State (x, y, z, xdot, ydot, zdot). Exact in the limit of small separations;
the relative error grows as separation over radius.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array, cos, norm, sin
from .hill import from_hill
from .orbit import Orbit


def relative_motion_matrix(orbit: Orbit, t: Any) -> Array:
    """A(t) (6, 6) of d/dt state = A state about any Kepler orbit; on a circular one it is Clohessy and Wiltshire's.

    xdd = (td^2 + 2k) x + tdd y + 2 td yd,  ydd = -tdd x + (td^2 - k) y - 2 td xd,  zdd = -k z
    k = mu/R^3, td = h/R^2, tdd = -2 td Rd/R
    """
    r, v = orbit.state(t)
    R = norm(r)
    k, td = orbit.planet.mu / (R * R * R), orbit.h / (R * R)
    tdd = -2.0 * td * (r @ v) / (R * R)
    return np.block(
        [
            [np.zeros((3, 3)), np.eye(3)],
            [
                np.array([[td * td + 2.0 * k, tdd, 0.0], [-tdd, td * td - k, 0.0], [0.0, 0.0, -k]]),
                np.array([[0.0, 2.0 * td, 0.0], [-2.0 * td, 0.0, 0.0], [0.0, 0.0, 0.0]]),
            ],
        ]
    )


def clohessy_wiltshire(n: float, t: Any) -> Array:
    """Transition matrix (6, 6) over time t on a circular orbit of mean motion n."""
    s, c = sin(n * t), cos(n * t)
    nt = n * t
    return np.array(
        [
            [4 - 3 * c, 0.0, 0.0, s / n, 2 * (1 - c) / n, 0.0],
            [6 * (s - nt), 1.0, 0.0, -2 * (1 - c) / n, (4 * s - 3 * nt) / n, 0.0],
            [0.0, 0.0, c, 0.0, 0.0, s / n],
            [3 * n * s, 0.0, 0.0, c, 2 * s, 0.0],
            [-6 * n * (1 - c), 0.0, 0.0, -2 * s, 4 * c - 3, 0.0],
            [0.0, 0.0, -n * s, 0.0, 0.0, c],
        ]
    )


def yamanaka_ankersen(orbit: Orbit, t0: float, t1: float) -> Array:
    """Transition matrix (6, 6) from t0 to t1 on an elliptic orbit: Tschauner and Hempel's equations,
    solved in closed form.

    In the true anomaly f, with X~ = rho X, rho = 1 + e cos(f): x~'' = 3 x~/rho + 2 y~', y~'' = -2 x~', z~'' = -z~, and

        Phi = T(f1)^-1 psi(f1, J) psi(f0, 0)^-1 T(f0),   J = k^2 (t1 - t0),  k^2 = h/p^2
    """
    f0, f1 = float(orbit.true_anomaly(t0)), float(orbit.true_anomaly(t1))
    p = orbit.h**2 / orbit.planet.mu
    k2 = orbit.h / p**2
    psi0, psi1 = _fundamental(orbit.e, f0, 0.0), _fundamental(orbit.e, f1, k2 * (t1 - t0))
    T0, T1 = _scaled(orbit.e, f0, k2), _scaled(orbit.e, f1, k2)
    return np.linalg.solve(T1, psi1 @ np.linalg.solve(psi0, T0))


def _scaled(e: float, f: float, k2: float) -> Array:
    """T (6, 6): from (X, Xdot) to (X~, X~'), with X~' = -e sin(f) X + Xdot/(k^2 rho)."""
    rho = 1.0 + e * np.cos(f)
    return np.block([[rho * np.eye(3), np.zeros((3, 3))], [-e * np.sin(f) * np.eye(3), np.eye(3) / (k2 * rho)]])


def _fundamental(e: float, f: float, J: float) -> Array:
    """psi (6, 6): six solutions as columns (x~, y~, z~, x~', y~', z~')."""
    rho = 1.0 + e * np.cos(f)
    s, c = rho * np.sin(f), rho * np.cos(f)
    sp, cp = np.cos(f) + e * np.cos(2 * f), -(np.sin(f) + e * np.sin(2 * f))
    psi = np.zeros((6, 6))
    psi[[0, 1, 3, 4], 0] = s, c * (1 + 1 / rho), sp, -2 * s
    psi[[0, 1, 3, 4], 1] = c, -s * (1 + 1 / rho), cp, e - 2 * c
    psi[[0, 1, 3, 4], 2] = 2 - 3 * e * s * J, -3 * rho**2 * J, -3 * e * (sp * J + s / rho**2), -3 * (1 - 2 * e * s * J)
    psi[1, 3] = 1.0
    psi[[2, 5], 4] = np.cos(f), -np.sin(f)
    psi[[2, 5], 5] = np.sin(f), np.cos(f)
    return psi


def bounded_velocity(orbit: Orbit, t: float, rho: Any, rhodot: Any = (0.0, 0.0, 0.0)) -> Array:
    """rhodot (3,) with its along-track part changed so that the member has the period of the orbit: no drift, exactly.

    Equal energy means equal semi-major axis; solved without linearising.

    Raises ValueError on a hyperbola.
    """
    rho, rhodot = np.asarray(rho, dtype=float), np.array(rhodot, dtype=float)
    if orbit.e > 1.0:
        raise ValueError(f"bounded_velocity: eccentricity {orbit.e:.6g}; on a hyperbola nothing comes back.")
    r, v = orbit.state(t)

    def excess(along: float) -> float:
        p, u = from_hill(orbit, t, rho, np.array([rhodot[0], along, rhodot[2]]))
        R2 = r @ r
        q = (2 * (r @ p) + p @ p) / R2
        potential = orbit.planet.mu / np.sqrt(R2) * q / (np.sqrt(1 + q) * (1 + np.sqrt(1 + q)))  # mu/R - mu/|r + p|
        return float(v @ u + u @ u / 2 + potential)

    along = -2.0 * orbit.n * rho[0]
    for _ in range(30):  # Newton, the slope being the orbital speed
        step = excess(along) / float(norm(v))
        along -= step
        if abs(step) < 1e-15 * max(1.0, abs(along)):
            break
    return np.array([rhodot[0], along, rhodot[2]])
