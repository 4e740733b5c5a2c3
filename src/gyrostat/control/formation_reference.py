"""Where a member shall be: poses that move, with their twists and accelerations, for tracking laws.

A reference is a `Target`: pose X_ND of a frame D, its twist V_ND and the derivative of its components, both about Do in D.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, Pose, cross, twist_to_child
from ..environment.hill import hill_frame
from ..environment.orbit import Orbit
from ..environment.two_body import differential_gravity

IDENTITY = np.eye(3)


class Target(NamedTuple):
    X_ND: Pose
    V: Array  # (6,) [w; v] about Do in D
    Vdot: Array  # (6,)


def fixed_target(R_ND: Any, p_ND: Any) -> Target:
    """At rest in N."""
    return Target(Pose(np.asarray(R_ND), np.asarray(p_ND)), np.zeros(6), np.zeros(6))


def hill_target(
    orbit: Orbit, t: Any, rho: Any, R_HD: Any = IDENTITY, *, about: tuple[Any, Any] | None = None
) -> Target:
    """At rest at rho (3,) in the Hill frame of the orbit, turned by R_HD: where a station keeper stays.

    With w = h/R^2 e_z of the frame and wdot = -2 (Rdot/R) w: v = w x p and, in N, a = wdot x p + w x (w x p).
    about: (p, v) in N of a point that falls freely near the orbit; rho is then measured from it, still in the orbit's axes.
    """
    r, v = orbit.state(t)
    R_NH, w_N = hill_frame(r, v)
    wdot_N = -2.0 * (r @ v) / (r @ r) * w_N
    p = R_NH @ np.asarray(rho)
    v_N = cross(w_N, p)
    a_N = cross(wdot_N, p) + cross(w_N, v_N)
    if about is not None:
        p, v_N = p + about[0], v_N + about[1]
        a_N = a_N + differential_gravity(orbit.planet.mu, r, np.asarray(about[0]))
    return _from_inertial(R_NH @ np.asarray(R_HD), p, w_N, v_N, wdot_N, a_N)


def _from_inertial(R: Array, p: Array, w_N: Array, v_N: Array, wdot_N: Array, a_N: Array) -> Target:
    w, v = R.T @ w_N, R.T @ v_N
    return Target(Pose(R, p), np.concatenate([w, v]), np.concatenate([R.T @ wdot_N, R.T @ a_N - cross(w, v)]))


def offset_target(leader: Target, X_LD: Pose) -> Target:
    """A frame carried along by another one, at X_LD from it: a slot in a formation."""
    X_NL = leader.X_ND
    X_ND = Pose(X_NL.R @ X_LD.R, X_NL.p + X_NL.R @ X_LD.p)
    return Target(X_ND, twist_to_child(X_LD, leader.V), twist_to_child(X_LD, leader.Vdot))
