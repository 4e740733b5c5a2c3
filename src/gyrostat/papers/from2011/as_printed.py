"""(26) as printed, which makes energy from nothing, and (28) as printed, which pins the base."""

from __future__ import annotations

import numpy as np

from ...algebra import Array, skew, solve_spd
from ...formulations import lie_lagrange
from ...model import Spacecraft
from .crafts import craft


def printed_forward_dynamics(craft: Spacecraft, q: Array, v: Array, tau: Array) -> Array:
    """(26) as printed: ad_P, P = (M v)_V, where K(P) should be. In angular-first order -ad_P is -[h^ 0; p^ h^]."""
    parts = lie_lagrange.coriolis_parts(craft, q, v)
    M = lie_lagrange.mass_matrix(craft, q)
    h, p = (M @ v)[:3], (M @ v)[3:6]
    wrong = -np.block([[skew(h), np.zeros((3, 3))], [skew(p), skew(h)]])
    K = np.block([[wrong, np.zeros((6, craft.nv - 6))], [np.zeros((craft.nv - 6, 6)), parts.K[6:, 6:]]])
    return solve_spd(M, tau - (parts.Mdot - 0.5 * parts.A + K) @ v)


def pinned_mass_matrix(q: Array) -> Array:
    """(28) as printed: M without the rows and columns of the base's velocity,
    which is the craft with its base pinned.
    """
    kept = [k for k in range(craft().nv) if k not in (3, 4, 5)]
    return lie_lagrange.mass_matrix(craft(), q)[np.ix_(kept, kept)]
