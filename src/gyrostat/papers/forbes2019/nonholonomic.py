"""Chaplygin's sleigh and the rolling disc, with constraints on a free body, against their closed forms.

Sleigh, centre of mass a ahead of the blade, k^2 = (J + m a^2)/m, E = V^2 + k^2 w^2:

    Vdot = a w^2,  wdot = -a V w / k^2:    V = sqrt(E) tanh(s),  w = sqrt(E)/k sech(s),  s = a sqrt(E)/k^2 (t + t0)  (1)

Disc of radius R, moments A across and B = 2 A along its axis, rolling steadily: its plane makes the angle i with the
ground, the contact turns round at the rate W. The spin n along the axis follows from the rate
of angular momentum about the contact:

    (A W cos i - (B + m R^2) n) W sin i = m g R cos i,   the axis turned by i from the vertical                      (2)
"""

from __future__ import annotations

import numpy as np

from ...algebra import Array, cross, quat_from_rotation
from ...environment import uniform_gravity
from ...kinematics import neutral
from ...simulation import Trajectory, simulate
from .crafts import disc, sleigh

SLEIGH = {"a": 0.4, "m": 2.5, "J": 0.6}
V0, W0 = -0.8, 1.3  # backwards: the sleigh turns round
RADIUS, MASS, GRAVITY = 0.5, 2.0, 9.81


def sleigh_run(t_end: float = 10.0) -> Trajectory:
    craft, constraints = sleigh(**SLEIGH)
    v = np.array([0.0, 0.0, W0, V0, 0.0, 0.0])
    return simulate(craft, neutral(craft), v, (0.0, t_end), constraints=constraints, rtol=1e-11, atol=1e-12)


def sleigh_closed_form(t: Array) -> tuple[Array, Array]:
    """V(t) and w(t) of (1)."""
    a, m, J = SLEIGH["a"], SLEIGH["m"], SLEIGH["J"]
    k2 = (J + m * a**2) / m
    root = np.sqrt(V0**2 + k2 * W0**2)
    s = a * root / k2 * t + np.arctanh(V0 / root)
    return root * np.tanh(s), root / np.sqrt(k2) / np.cosh(s)


def steady_spin(inclination: float, turn: float) -> float:
    """n of (2)."""
    A, B = 0.25 * MASS * RADIUS**2, 0.5 * MASS * RADIUS**2
    c, s = np.cos(inclination), np.sin(inclination)
    return float((A * turn * c - MASS * GRAVITY * RADIUS * c / (turn * s)) / (B + MASS * RADIUS**2))


def disc_run(inclination: float = 1.1, turn: float = 1.5, t_end: float = 10.0, spin: float | None = None) -> Trajectory:
    """The disc on its way; `spin` other than (2) makes it nod."""
    craft, constraints = disc(MASS, RADIUS)
    n = steady_spin(inclination, turn) if spin is None else spin
    axis = np.array([np.sin(inclination), 0.0, np.cos(inclination)])
    up = np.array([-np.cos(inclination), 0.0, np.sin(inclination)])  # in the disc's plane, away from the contact
    R_NB = np.column_stack([axis, cross(up, axis), up])
    w_N = n * axis + turn * np.sin(inclination) * up  # W z without its part along the axis, plus the spin
    r = -RADIUS * up
    position = np.array([0.0, 0.0, RADIUS * np.sin(inclination)])
    q = np.concatenate([quat_from_rotation(R_NB), position])
    v = np.concatenate([R_NB.T @ w_N, R_NB.T @ -cross(w_N, r)])
    gravity = uniform_gravity((0.0, 0.0, -GRAVITY))
    return simulate(craft, q, v, (0.0, t_end), constraints=constraints, environment=gravity, rtol=1e-11, atol=1e-12)


def inclination(traj: Trajectory) -> Array:
    """Of the disc's plane over time."""
    return np.arccos(np.clip(traj.frame("disc")[0][:, 2, 0], -1.0, 1.0))


def energy(traj: Trajectory) -> Array:
    """Kinetic and potential, in J."""
    return traj.kinetic_energy() + MASS * GRAVITY * traj.q[:, 6]
