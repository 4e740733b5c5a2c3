"""The Hill frame H of an orbit: x radial (outwards), y along the track, z along the orbit's normal.

Relative motion in it: rho = R_HN p, rhodot its derivative in H, where p and v are measured from the frame's origin,
in N.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, cross, norm
from .orbit import Orbit


class HillFrame(NamedTuple):
    R_NH: Array  # (3, 3)
    w_NH_N: Array  # (3,)


def hill_frame(r: Array, v: Array) -> HillFrame:
    """Of a point at r with velocity v from the planet's centre, in N."""
    h = cross(r, v)
    x, z = r / norm(r), h / norm(h)
    return HillFrame(np.stack([x, cross(z, x), z], axis=1), h / (r @ r))


def to_hill(orbit: Orbit, t: Any, p_N: Array, v_N: Array) -> tuple[Array, Array]:
    """(rho, rhodot) in H of a position and velocity relative to N's origin, in N."""
    R_NH, w = hill_frame(*orbit.state(t))
    return R_NH.T @ p_N, R_NH.T @ (v_N - cross(w, p_N))


def from_hill(orbit: Orbit, t: Any, rho: Array, rhodot: Array) -> tuple[Array, Array]:
    """(p, v) relative to N's origin, in N: the inverse of `to_hill`."""
    R_NH, w = hill_frame(*orbit.state(t))
    p_N = R_NH @ np.asarray(rho)
    return p_N, R_NH @ np.asarray(rhodot) + cross(w, p_N)
