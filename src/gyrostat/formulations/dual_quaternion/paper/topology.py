"""The spacecraft as a rooted tree: incidence matrix and branch terminations (34)-(40). Wheels are no nodes of it."""

from __future__ import annotations

import numpy as np

from ....algebra import Array
from ....model import Spacecraft
from ...common.carriers import carrier_bodies


def incidence_matrix(craft: Spacecraft) -> Array:
    """C (joints, bodies): +1 where the body is the joint's distal one, -1 where it is the proximal one (34).

    Row i is the joint of body i + 1; the base's own joint is none of them.
    """
    bodies = carrier_bodies(craft)
    column = {B: b for b, (B, _) in enumerate(bodies)}
    C = np.zeros((len(bodies) - 1, len(bodies)), dtype=int)
    for i, (B, P) in enumerate(bodies[1:]):
        C[i, column[B]], C[i, column[str(P)]] = 1, -1
    return C


def termination_vector(craft: Spacecraft) -> Array:
    """T (bodies,): 1 where the body ends a branch, that is, where its column of C has no -1 (35)."""
    return np.all(incidence_matrix(craft) >= 0, axis=0).astype(int)


def negatives(entries: Array) -> list[int]:
    """N(.): where a row or column of C is -1 (38)."""
    return [int(k) for k in np.flatnonzero(entries == -1)]


def positives(entries: Array) -> list[int]:
    """P(.): where a row or column of C, or T, is +1 (39), (40)."""
    return [int(k) for k in np.flatnonzero(entries == 1)]
