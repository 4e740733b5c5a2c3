"""The closest that two members came, between the saved times too.

Between two saved times, h apart, the relative position is the cubic with the positions
and velocities at both ends (Hermite):

    d(s) = h00(s) d_0 + h10(s) h u_0 + h01(s) d_1 + h11(s) h u_1,   s = 0 .. 1                                       (1)

Its length is smallest at an end or where d . d' = 0, a quintic in s. Where the acceleration is smooth the cubic errs by
h^4/384 times its fourth derivative, which is measured by how the third one differs from one interval to the next. A
pair can have come closer than `best` within an interval only if its distances at the ends leave it the way to do so:

    d_0 + d_1 - (length of the way) <= 2 best,   length <= h max(|u_0|, |u_1|, |3 (d_1 - d_0)/h - u_0 - u_1|)       (2)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array

PAIRS_AT_ONCE = 1_000_000


class Closest(NamedTuple):
    """Members by number."""

    distance: float
    pair: tuple[int, int]
    time: float
    uncertainty: float  # of the distance, from interpolation; zero at a saved time


def closest(time: Array, p: Array, v: Array) -> Closest | None:
    """time (T,), positions and velocities (members, T, 3) in one frame that does not turn;
    rows that were not reached are NaN.
    """
    best = _at_saved_times(time, p)
    if best is None:
        return None
    for k in range(len(time) - 1):
        h = float(time[k + 1] - time[k])
        known = np.flatnonzero(
            np.isfinite(p[:, k : k + 2]).all(axis=(1, 2)) & np.isfinite(v[:, k : k + 2]).all(axis=(1, 2))
        )
        if h <= 0.0 or len(known) < 2:
            continue
        for pairs in _candidates(p[known, k], p[known, k + 1], v[known, k], v[known, k + 1], h, best.distance):
            found = _within(k, time, p, v, known[pairs], best.distance)
            best = best if found is None else found
    return best


def _at_saved_times(time: Array, p: Array) -> Closest | None:
    """Nearest neighbours by a tree: N log N for each time."""
    from scipy.spatial import cKDTree

    best: Closest | None = None
    for k, t in enumerate(time):
        known = np.flatnonzero(np.isfinite(p[:, k]).all(axis=1))
        if len(known) < 2:
            continue
        distance, other = cKDTree(p[known, k]).query(p[known, k], k=2)
        i = int(np.argmin(distance[:, 1]))
        if best is None or distance[i, 1] < best.distance:
            j = int(other[i, 1] if other[i, 1] != i else other[i, 0])
            first, second = sorted((int(known[i]), int(known[j])))
            best = Closest(float(distance[i, 1]), (first, second), float(t), 0.0)
    return best


def _candidates(p0: Array, p1: Array, u0: Array, u1: Array, h: float, best: float) -> Iterator[Array]:
    """Pairs (n, 2) that (2) does not exclude, some at a time.

    First those near enough at the start of the interval for their own speeds.
    """
    from scipy.spatial import cKDTree

    slope = (p1 - p0) / h
    drift = np.median(np.concatenate([u0, u1, slope]), axis=0)  # what all have in common does not bring them together
    # of a member; control points of the cubic's derivative
    fastest = max(np.linalg.norm(x - drift, axis=1).max() for x in (u0, u1, 3.0 * slope - u0 - u1))
    reach = best + 2.0 * h * fastest
    for pairs in _pairs_within(cKDTree(p0), len(p0), reach):
        i, j = pairs.T
        d0, d1, w0, w1 = p0[i] - p0[j], p1[i] - p1[j], u0[i] - u0[j], u1[i] - u1[j]
        speed = np.max([_length(w0), _length(w1), _length(3.0 * (d1 - d0) / h - w0 - w1)], axis=0)
        yield pairs[_length(d0) + _length(d1) - h * speed <= 2.0 * best]


def _pairs_within(tree: Any, count: int, reach: float) -> Iterator[Array]:
    """All pairs of points at most `reach` apart, (n, 2) with the smaller number first."""
    rows = max(1, PAIRS_AT_ONCE // count)
    for start in range(0, count, rows):
        near = tree.query_ball_point(tree.data[start : start + rows], reach)
        first = np.repeat(np.arange(start, min(start + rows, count)), [len(x) for x in near])
        second = np.concatenate([np.asarray(x, dtype=int) for x in near]) if len(near) else np.zeros(0, dtype=int)
        yield np.stack([first, second], axis=1)[second > first]


def _within(k: int, time: Array, p: Array, v: Array, pairs: Array, best: float) -> Closest | None:
    """The closest of these pairs inside the interval after time k, if closer than `best`."""
    if not len(pairs):
        return None
    h = float(time[k + 1] - time[k])
    i, j = pairs.T
    d0, d1 = p[i, k] - p[j, k], p[i, k + 1] - p[j, k + 1]
    w0, w1 = h * (v[i, k] - v[j, k]), h * (v[i, k + 1] - v[j, k + 1])
    # powers of s of (1), (4, pairs, 3)
    cubic = np.array([d0, w0, 3.0 * (d1 - d0) - 2.0 * w0 - w1, 2.0 * (d0 - d1) + w0 + w1])
    slope = np.array([cubic[1], 2.0 * cubic[2], 3.0 * cubic[3]])
    quintic = np.zeros((len(pairs), 6))
    for a in range(4):
        for b in range(3):
            quintic[:, a + b] += np.sum(cubic[a] * slope[b], axis=1)
    s = _roots_inside(quintic)
    at = np.einsum("apx,apn->pnx", cubic, np.array([s**a for a in range(4)]))
    distance = np.linalg.norm(at, axis=2)
    where = np.unravel_index(int(np.argmin(distance)), distance.shape)
    if not distance[where] < best:
        return None
    pair, share = (int(i[where[0]]), int(j[where[0]])), float(s[where])
    error = _uncertainty(k, time, p, v, pair)
    return Closest(float(distance[where]), pair, float(time[k] + share * h), error)


def _roots_inside(quintic: Array) -> Array:
    """Where the polynomials (pairs, 6), lowest power first, vanish within [0, 1]:
    (pairs, 5), 0 in place of roots elsewhere.
    """
    size = np.abs(quintic).max(axis=1, keepdims=True)
    scaled = quintic / np.where(size > 0.0, size, 1.0)
    lead = scaled[:, 5]
    lead = np.where(np.abs(lead) > 1e-14, lead, 1e-14)  # a lower degree has a root far outside
    companion = np.zeros((len(quintic), 5, 5))
    companion[:, np.arange(1, 5), np.arange(4)] = 1.0
    companion[:, :, 4] = -scaled[:, :5] / lead[:, None]
    roots = np.linalg.eigvals(companion)
    real = np.where(np.abs(roots.imag) < 1e-6, roots.real, 0.0)
    return np.clip(np.where(np.isfinite(real), real, 0.0), 0.0, 1.0)


def _uncertainty(k: int, time: Array, p: Array, v: Array, pair: tuple[int, int]) -> float:
    """h^4/384 times the fourth derivative, by how the third differs between this interval and its neighbours;
    twice that, to be safe.
    """
    i, j = pair
    d, u = p[i] - p[j], v[i] - v[j]

    def third(n: int) -> Array:
        h = float(time[n + 1] - time[n])
        return 6.0 * (2.0 * (d[n] - d[n + 1]) + h * (u[n] + u[n + 1])) / h**3

    h = float(time[k + 1] - time[k])
    fourth = [
        np.linalg.norm(third(k) - third(n)) / (0.5 * float(time[max(k, n) + 1] - time[min(k, n)]))
        for n in (k - 1, k + 1)
        if 0 <= n < len(time) - 1 and time[n + 1] > time[n] and np.isfinite(d[n : n + 2]).all()
    ]
    if not fourth:  # two saved times alone: as if the third derivative came and went within them
        fourth = [2.0 * np.linalg.norm(third(k)) / h]
    return float(h**4 / 192.0 * max(fourth))


def _length(rows: Array) -> Array:
    return np.linalg.norm(rows, axis=1)
