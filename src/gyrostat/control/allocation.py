"""Sharing a wanted load among actuators that can only push: non-negative least squares by a fixed number of steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, is_symbolic, maximum, minimum, mirror, scan, solve_spd, where

RIDGE = 1e-13  # relative to the rows of A, which have length one
AGAINST_TIES = 1e-6


class Allocation(NamedTuple):
    """What each actuator gives, and what of the wanted load is not made (zero where they can make it)."""

    efforts: Array  # (actuators,) between 0 and their limits
    missing: Array  # wanted load less what is made


def allocate(B: Array, wanted: Array, limits: Any, *, scale: Any = None, steps: int | None = None) -> Allocation:
    """Efforts f with B f = wanted, or as near to it as 0 <= f <= limits allows: min |D (B f - wanted)|.

    An active-set method (Lawson & Hanson 1974, with upper limits as Stark & Parker 1995), A = D B. P chooses the
    actuators that are free to change, the others are off or at their limit:

        d = P A^T (A P A^T)^-1 r,   r = D wanted - A f          least squares for the free ones               (1)
        f <- f + min(1, room along d) d                          as far as the first limit, which fixes it     (2)
        if there was room: free the one that helps most, by A^T r                                             (3)

    Always the same number of steps, 2 per actuator by default, so that a law that allocates can be traced. `scale`
    (rows of B,) is D: the default makes the rows of B of length one.
    """
    D = row_scale(B) if scale is None else np.asarray(scale, dtype=float)
    A, w = D[:, None] * B, D * wanted
    count = B.shape[1]
    top = np.broadcast_to(np.asarray(limits), (count,))

    def step(state: tuple[Array, Array], _: Any) -> tuple[Array, Array]:
        f, free = state
        d = _towards(A, w, f, free)  # (1)
        rooms = [
            where(x < 0.0, -at / where(x < 0.0, x, 1.0), _up(x, at, most))
            for x, at, most in zip(d, f, top, strict=True)
        ]
        room = rooms[0]
        for other in rooms[1:]:
            room = minimum(room, other)
        blocked = room < 1.0
        f = f + where(blocked, room, 1.0) * d  # (2)
        hit = np.array([where(x <= room, where(blocked, 1.0, 0.0), 0.0) for x in rooms])
        f = np.array([where(h > 0.5, where(x < 0.0, 0.0, m), y) for h, x, m, y in zip(hit, d, top, f, strict=True)])
        return f, free * (1.0 - hit) + where(blocked, 0.0, 1.0) * _most_helpful(A, w, f, free, top)  # (3)

    f, _ = scan(step, (np.zeros(count), np.zeros(count)), 2 * count if steps is None else steps)
    return Allocation(f, wanted - B @ f)


def _towards(A: Array, w: Array, f: Array, free: Array) -> Array:
    gram = mirror((A * free) @ A.T) + RIDGE * np.eye(len(A))
    return free * (A.T @ solve_spd(gram, w - A @ f))


def _up(d: Any, at: Any, most: Any) -> Any:
    """How far along d until the upper limit; far, where it does not rise."""
    if not is_symbolic(most) and not np.isfinite(most):
        return 2.0
    return where(d > 0.0, (most - at) / where(d > 0.0, d, 1.0), 2.0)


def _most_helpful(A: Array, w: Array, f: Array, free: Array, top: Array) -> Array:
    """One for the fixed actuator whose change would lessen the residual most, else zero."""
    g = A.T @ (w - A @ f)
    gains = []
    for k, (x, at, is_free, most) in enumerate(zip(g, f, free, top, strict=True)):
        up, down = where(at < most, x, 0.0), where(at > 0.0, -x, 0.0)
        gains.append(where(is_free > 0.5, 0.0, (1.0 + AGAINST_TIES * k) * maximum(maximum(up, down), 0.0)))
    best = gains[0]
    for other in gains[1:]:
        best = maximum(best, other)
    return np.array([where(x >= best, where(x > 1e-12, 1.0, 0.0), 0.0) for x in gains])


def row_scale(B: Array) -> Array:
    """One over the length of each row; one where a row is zero."""
    if B.dtype == object:
        raise ValueError(
            "allocate: B depends on the state; give scale= (rows of B,), such as one over a lever in m for torques."
        )
    length = np.sqrt((B * B).sum(axis=1))
    return 1.0 / np.where(length > 0, length, 1.0)
