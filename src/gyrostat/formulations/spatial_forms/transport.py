"""Rates of change as seen by two observers: the inertial frame N, and the body B that turns at w = w_NB.

All components are taken in one frame, the same for every argument, whichever it is.
"""

from __future__ import annotations

import numpy as np

from ...algebra import Array, cross, skew


def vector_rate(Q: Array, Q_B: Array, w: Array) -> Array:
    """Q_N = Q_B + w x Q: the rate seen in N of a vector with rate Q_B seen in B, (3,)                       (1)"""
    return Q_B + cross(w, Q)


def dyadic_rate(T: Array, T_B: Array, w: Array) -> Array:
    """T_N = T_B + w^ T - T w^: the same of a dyadic, (3, 3)                                                  (2)"""
    return T_B + skew(w) @ T - T @ skew(w)


def turning(w: Array) -> Array:
    """Omega = diag(w^, w^), (6, 6)                                                                          (13)"""
    return np.block([[skew(w), np.zeros((3, 3))], [np.zeros((3, 3)), skew(w)]])


def spatial_vector_rate(V: Array, V_B: Array, w: Array) -> Array:
    """V_N = V_B + Omega V, (6,)                                                                             (18)"""
    return np.concatenate([vector_rate(V[:3], V_B[:3], w), vector_rate(V[3:], V_B[3:], w)])


def spatial_dyadic_rate(M: Array, w: Array) -> Array:
    """M_N = Omega M - M Omega: rate seen in N of a spatial dyadic fixed in the body, (6, 6)             (12), (32)

    Of a symmetric M it is symmetric, never skew: the proof of Proposition 2 says otherwise.
    """
    W = turning(w)
    return W @ M - M @ W
