"""Constraints between bodies in maximal coordinates, written with the key identities: Pi nu + beta = 0, gamma = Pidot
nu + betadot.

nu_i = (v_N; w_B) of each body. W_i = C_i^T w_i is its angular velocity in N. For bodies 1 and 2 (points s, axes t, a
fixed on them):

    coincidence       r1 + C1^T s1 = r2 + C2^T s2
                      Pi = [1, -C1^T s1^, -1, C2^T s2^],   gamma = C1^T w1^ w1^ s1 - C2^T w2^ w2^ s2
    perpendicular     (C1^T t).(C2^T a) = 0
                      Pi = [0, -A^T C1^T t^, 0, -T^T C2^T a^],
                      gamma = (W1 x (W1 x T)).A + 2 (W1 x T).(W2 x A) + T.(W2 x (W2 x A))
    rolling           v + W x r = 0 at the contact
                      Pi = [1, -r^ C^T],   gamma = W x rdot, rdot the rate of the contact vector r in N
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....algebra import Array, cross, skew


class Rows(NamedTuple):
    """Pi by body, each (r, 6), and gamma (r,)."""

    Pi: tuple[Array, ...]
    gamma: Array


def coincidence(C1: Array, w1: Array, s1: Array, C2: Array, w2: Array, s2: Array) -> Rows:
    """A point s1 of body 1 and a point s2 of body 2 stay together: three rows, forces in N."""
    first = np.hstack([np.eye(3), -(C1.T @ skew(s1))])
    second = np.hstack([-np.eye(3), C2.T @ skew(s2)])
    gamma = C1.T @ cross(w1, cross(w1, s1)) - C2.T @ cross(w2, cross(w2, s2))
    return Rows((first, second), gamma)


def perpendicular(C1: Array, w1: Array, t: Array, C2: Array, w2: Array, a: Array) -> Rows:
    """An axis t of body 1 and an axis a of body 2 stay at right angles: one row."""
    T, A, W1, W2 = C1.T @ t, C2.T @ a, C1.T @ w1, C2.T @ w2
    first = np.concatenate([np.zeros(3), -(A @ C1.T @ skew(t))])[None]
    second = np.concatenate([np.zeros(3), -(T @ C2.T @ skew(a))])[None]
    gamma = cross(W1, cross(W1, T)) @ A + 2.0 * (cross(W1, T) @ cross(W2, A)) + T @ cross(W2, cross(W2, A))
    return Rows((first, second), np.array([gamma]))


def revolute(C1: Array, w1: Array, s1: Array, C2: Array, w2: Array, s2: Array, a2: Array, t1: Array, u1: Array) -> Rows:
    """Coincidence, and an axis a2 of body 2 perpendicular to two axes t1, u1 of body 1: five rows."""
    return stacked(
        coincidence(C1, w1, s1, C2, w2, s2),
        perpendicular(C1, w1, t1, C2, w2, a2),
        perpendicular(C1, w1, u1, C2, w2, a2),
    )


def rolling(C: Array, w: Array, r_N: Array, rdot_N: Array) -> Rows:
    """The point of the body at the contact, r_N from z, has no velocity: three rows. rdot_N: how the contact moves from
    z, in N.
    """
    Pi = np.hstack([np.eye(3), -(skew(r_N) @ C.T)])
    return Rows((Pi,), cross(C.T @ w, rdot_N))


def stacked(*blocks: Rows) -> Rows:
    """Rows of the same bodies, one below the other."""
    bodies = range(len(blocks[0].Pi))
    return Rows(tuple(np.vstack([b.Pi[i] for b in blocks]) for i in bodies), np.concatenate([b.gamma for b in blocks]))
