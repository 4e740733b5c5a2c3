"""Gravity fields that turn with the planet: spherical harmonics of any degree and order, by Cunningham's recursion."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array, sqrt
from .gravity import Environment
from .orbit import reference_of
from .point_forces import at_centers_of_mass


def harmonic_acceleration(mu: float, radius: float, C: Array, S: Array, r: Array) -> Array:
    """Acceleration (3,) in planet-fixed axes of the field with unnormalised coefficients C, S (degree + 1, degree + 1).

        V_00 = R_e/r, W_00 = 0;   V_mm = (2m - 1)(x' V_{m-1,m-1} - y' W_{m-1,m-1}),  W_mm likewise;
        V_nm = ((2n - 1) z' V_{n-1,m} - (n + m - 1) rho V_{n-2,m})/(n - m),  (x', y', z', rho) = (x, y, z, R_e) R_e/r^2

    Montenbruck & Gill, Satellite Orbits (2000), 3.2.4 and 3.2.5. Free of singularities at the poles.
    """
    degree = len(C) - 1
    r2 = r @ r
    rho = radius * radius / r2
    x, y, z = (radius * e / r2 for e in r)
    V: dict[tuple[int, int], Any] = {(0, 0): radius / sqrt(r2)}
    W: dict[tuple[int, int], Any] = {(0, 0): 0.0}
    for m in range(degree + 2):
        if m:
            a, b = V[m - 1, m - 1], W[m - 1, m - 1]
            V[m, m], W[m, m] = (2 * m - 1) * (x * a - y * b), (2 * m - 1) * (x * b + y * a)
        for n in range(m + 1, degree + 2):
            for T in (V, W):
                before = T[n - 2, m] if n >= m + 2 else 0.0
                T[n, m] = ((2 * n - 1) * z * T[n - 1, m] - (n + m - 1) * rho * before) / (n - m)
    ax, ay, az = 0.0, 0.0, 0.0
    for n in range(degree + 1):
        for m in range(n + 1):
            c, s = float(C[n, m]), float(S[n, m])
            if c == 0.0 and s == 0.0:
                continue
            if m == 0:
                ax, ay = ax - c * V[n + 1, 1], ay - c * W[n + 1, 1]
            else:
                fall = 0.5 * (n - m + 1) * (n - m + 2)
                ax = (
                    ax
                    + 0.5 * (-c * V[n + 1, m + 1] - s * W[n + 1, m + 1])
                    + fall * (c * V[n + 1, m - 1] + s * W[n + 1, m - 1])
                )
                ay = (
                    ay
                    + 0.5 * (-c * W[n + 1, m + 1] + s * V[n + 1, m + 1])
                    + fall * (-c * W[n + 1, m - 1] + s * V[n + 1, m - 1])
                )
            az = az + (n - m + 1) * (-c * V[n + 1, m] - s * W[n + 1, m])
    return mu / (radius * radius) * np.array([ax, ay, az])


def harmonic_gravity(orbit: Any, C: Any, S: Any = None, *, gradient_torque: bool = False) -> Environment:
    """Spherical harmonics of degree 2 and more, at the centre of mass of every body. Add it to `two_body_gravity`.

    C, S: unnormalised coefficients C[n, m], S[n, m]; degrees 0 and 1 are ignored (C_n0 = -J_n). Terms with m > 0 turn
    with the planet, which must have a spin. gradient_torque: of what the field changes over each body.
    """
    place = reference_of(orbit, "a gravity field")
    planet = place.planet
    C = np.array(C, dtype=float)
    S = np.zeros_like(C) if S is None else np.array(S, dtype=float)
    if C.ndim != 2 or C.shape[0] != C.shape[1] or S.shape != C.shape or len(C) < 3:
        raise ValueError(
            f"a gravity field: C has shape {C.shape}, S {S.shape}; expected square arrays [n, m] of degree 2 at least."
        )
    C[:2], S[:2] = 0.0, 0.0
    tesseral = bool(np.tril(C, -1)[:, 1:].any() or np.diag(C)[1:].any() or S.any())
    turns = tesseral or planet.orientation is not None
    if tesseral and planet.spin is None and planet.orientation is None:
        raise ValueError(
            f"a gravity field with tesseral terms (order m > 0) turns with the planet, but '{planet.name}' has no "
            "rotation. Give Planet(..., spin=...) in rad/s, 0.0 if it shall not turn, or leave those terms out."
        )

    def acceleration(t: Any, r: Array) -> Array:
        if not turns:
            return harmonic_acceleration(planet.mu, planet.radius, C, S, r)
        R_FN = planet.fixed_axes(t)
        return R_FN.T @ harmonic_acceleration(planet.mu, planet.radius, C, S, R_FN @ r)

    return at_centers_of_mass(place, acceleration, torque=gradient_torque)
