"""Places that move: at rest in the Hill frame of an orbit, in a slot beside a leader, where another craft is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array, Pose, cross
from ..environment.hill import hill_frame
from ..environment.orbit import Orbit
from ..environment.two_body import differential_gravity
from ..model import Spacecraft
from .demands import base_pose, demand_free_base
from .references import PoseReference

IDENTITY = np.eye(3)


def hill_reference(
    orbit: Orbit, t: Any, rho: Any, R_HD: Any = IDENTITY, *, about: tuple[Any, Any] | None = None
) -> PoseReference:
    """At rest at rho (3,) in the Hill frame of the orbit, turned by R_HD: where a station keeper stays.

    With w = h/R^2 e_z of the frame and wdot = -2 (Rdot/R) w: v = w x p and, in N, a = wdot x p + w x (w x p).
    about: (p, v) in N of a point that falls freely near the orbit; rho is then measured from it, still in the orbit's
    axes.
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
    return PoseReference(Pose(R_NH @ np.asarray(R_HD), p), np.concatenate([w_N, v_N]), np.concatenate([wdot_N, a_N]))


def offset_reference(leader: PoseReference, X_LD: Pose) -> PoseReference:
    """A frame carried along by another one, at X_LD from it: a slot in a formation."""
    (R_NL, p_NL), w, wdot = leader.X, leader.twist[:3], leader.rate[:3]
    r = R_NL @ X_LD.p
    v = leader.twist[3:] + cross(w, r)
    a = leader.rate[3:] + cross(wdot, r) + cross(w, cross(w, r))
    return PoseReference(Pose(R_NL @ X_LD.R, p_NL + r), np.concatenate([w, v]), np.concatenate([wdot, a]))


def base_as_reference(craft: Spacecraft, q: Array, v: Array, vdot: Any = None) -> PoseReference:
    """Where the base of another craft is, as a reference; vdot: its acceleration as in v, zero if it is not known."""
    base = demand_free_base(craft, "base_as_reference")
    X = base_pose(craft, q)
    w, u = base.rate(v)[:3], base.rate(v)[3:]
    a = np.zeros(6) if vdot is None else base.rate(np.asarray(vdot))
    rate = np.concatenate([X.R @ a[:3], X.R @ (a[3:] + cross(w, u))])
    return PoseReference(X, np.concatenate([X.R @ w, X.R @ u]), rate)
