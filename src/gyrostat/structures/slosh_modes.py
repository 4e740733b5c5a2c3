"""How liquid swings in a tank of revolution: linear potential flow without friction under an acceleration g along the
axis, in the shapes that go with cos(theta).

A potential phi cos(theta) is a sum of solid harmonics rho^n P_n^1(cos), which satisfy Laplace's equation, so that all
integrals run over the meridian of the wetted wall and over the free surface S (n: outward):

    integral of |grad phi|^2 = integral of phi dphi/dn,   stationary  w^2 / g = that / integral over S of phi^2   (1)

Unit accelerations along x, and about y, of tank and liquid under a lid have the potentials x and Psi, where
dPsi/dn = z n_x - x n_z on the whole boundary. Mode k acts on the tank as a mass m_k on a spring, at the height z_k:

    m_k = density (w_k^2 / g) (integral over S of phi_k x)^2 / integral over S of phi_k^2                       (2)
    z_k = integral over S of phi_k Psi / integral over S of phi_k x                                            (3)

and what is left, m_0 = m - sum m_k at z_0 with m_0 z_0 + sum m_k z_k = m z_c, turns with the tank with the inertia

    I_0 = integral of density Psi dPsi/dn - m_0 z_0^2 - sum m_k z_k^2                                          (4)

H. N. Abramson (ed.), The Dynamic Behavior of Liquids in Moving Containers, NASA SP-106 (1966), chs. 2 and 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ..algebra import Array

DEGREES = 24  # of the harmonics
POINTS = 200  # on the wall


class Slosh(NamedTuple):
    """Of unit density and unit acceleration along the axis; heights z from the tank's own origin.

    squares: w^2 of modes under g = 1 m/s^2, in 1/m; masses, heights: of the spring masses; fixed, fixed_height,
    fixed_inertia: of what does not swing (about its own place, about an axis across); volume and its height.
    """

    squares: Array
    masses: Array
    heights: Array
    fixed: float
    fixed_height: float
    fixed_inertia: float
    volume: float
    height: float


class _Line(NamedTuple):
    """Points of the boundary's meridian: r, z, outward normal (n_r, n_z), and weight 2 pi r ds / 2."""

    r: Array
    z: Array
    n_r: Array
    n_z: Array
    w: Array


def slosh_modes(
    wall: Callable[[Array], Array], bottom: float, surface: float, count: int, *, degrees: int = DEGREES
) -> Slosh:
    """wall: the square of the tank's radius at a height z; bottom, surface: heights between which the liquid is."""
    side, lid, floor = _side(wall, bottom, surface), _disk(wall, surface), _disk(wall, bottom, down=True)
    middle, size = 0.5 * (bottom + surface), max(0.5 * (surface - bottom), float(side.r.max()))
    lines = [side, floor, lid] if len(floor.r) else [side, lid]
    r, z, n_r, n_z, w = (np.concatenate(parts) for parts in zip(*lines, strict=True))
    phi, slope = _harmonics(r / size, (z - middle) / size, n_r, n_z, degrees)
    slope = slope / size
    K = phi.T @ (w[:, None] * slope)
    top = np.arange(len(r)) >= len(r) - len(lid.r)
    T = _independent(0.5 * (K + K.T))
    phi, slope = phi @ T, slope @ T
    K = phi.T @ (w[:, None] * slope)
    S = phi[top].T @ (w[top, None] * phi[top])
    mu, u = eigh(S, 0.5 * (K + K.T))
    mu, u = mu[::-1][:count], u[:, ::-1][:, :count]
    modes = phi[top] @ u  # (surface points, modes)
    x = w[top] * r[top]
    turning = w * (z * n_r - r * n_z)  # of Psi's slope
    psi = phi @ np.linalg.solve(0.5 * (K + K.T), phi.T @ turning)
    along = modes.T @ x
    square = (w[top, None] * modes**2).sum(axis=0)
    masses = along**2 / (mu * square)
    heights = (modes.T @ (w[top] * psi[top])) / along
    volume, height = _volume(wall, bottom, surface)
    fixed = volume - masses.sum()
    fixed_height = (volume * height - masses @ heights) / fixed
    inertia = float(psi @ turning) - fixed * fixed_height**2 - masses @ heights**2
    return Slosh(1.0 / mu, masses, heights, float(fixed), float(fixed_height), float(inertia), volume, height)


def _gauss(a: float, b: float, count: int) -> tuple[Array, Array]:
    x, w = np.polynomial.legendre.leggauss(count) if count else (np.zeros(0), np.zeros(0))
    return 0.5 * (a + b) + 0.5 * (b - a) * x, 0.5 * (b - a) * w


def _side(wall: Callable[[Array], Array], bottom: float, surface: float) -> _Line:
    """r dr = d(r^2) / 2: with r^2 smooth in z, n_r ds = dz and n_z ds = -dr hold where the radius is zero, too."""
    z, dz = _gauss(bottom, surface, POINTS)
    h = 1e-6 * (surface - bottom)
    r2 = wall(z)
    rdr = (wall(z + h) - wall(z - h)) / (4.0 * h)  # r dr/dz
    r = np.sqrt(r2)
    ds = np.sqrt(r2 + rdr**2)  # r ds/dz
    return _Line(r, z, r / ds, -rdr / ds, np.pi * ds * dz)


def _disk(wall: Callable[[Array], Array], at: float, *, down: bool = False) -> _Line:
    """The surface, or a flat bottom; without points where the tank is closed there."""
    R = float(np.sqrt(max(wall(np.array([at]))[0], 0.0)))
    r, dr = _gauss(0.0, R, POINTS // 2 if R > 0.0 else 0)
    one = np.ones_like(r)
    return _Line(r, at * one, 0.0 * one, -one if down else one, np.pi * r * dr)


def _harmonics(r: Array, z: Array, n_r: Array, n_z: Array, degrees: int) -> tuple[Array, Array]:
    """Solid harmonics of first order and their derivatives along n, (points, degrees)."""
    rho2 = r * r + z * z
    values = [np.zeros_like(r), r]
    for n in range(1, degrees):
        values.append(((2 * n + 1) * z * values[n] - (n + 1) * rho2 * values[n - 1]) / n)
    slopes = []
    for n in range(1, degrees + 1):
        along_z = (n + 1) * values[n - 1]
        along_r = (n * values[n] - z * along_z) / r
        slopes.append(n_r * along_r + n_z * along_z)
    return np.stack(values[1:], axis=1), np.stack(slopes, axis=1)


def _independent(K: Array) -> Array:
    """Combinations of the harmonics with u^T K u = 1, without those that rounding cannot tell apart."""
    scale = 1.0 / np.sqrt(np.diag(K))
    values, vectors = np.linalg.eigh(scale[:, None] * K * scale)
    kept = values > 1e-11 * values[-1]
    combinations: Array = scale[:, None] * vectors[:, kept] / np.sqrt(values[kept])
    return combinations


def _volume(wall: Callable[[Array], Array], bottom: float, surface: float) -> tuple[float, float]:
    z, dz = _gauss(bottom, surface, POINTS)
    area = np.pi * np.maximum(wall(z), 0.0)
    volume = float(area @ dz)
    return volume, float((area * z) @ dz) / volume
