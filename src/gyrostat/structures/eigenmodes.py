"""Shapes by which a mesh is reduced: vibrations with the root clamped, or Craig and Bampton's with stations held.

    clamped:         K u = w^2 M u                                                                          (1)
    Craig-Bampton:   static shapes of unit motions of the interfaces, u = K^-1 C^T (C K^-1 C^T)^-1, and the
                     vibrations (1) with all interfaces held                                                (2)

Either set is made orthogonal in K and M afterwards (3), so that each shape has a frequency of its own.

R. R. Craig, M. C. C. Bampton, "Coupling of Substructures for Dynamic Analyses", AIAA Journal 6 (1968).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import eigsh, splu

from ..algebra import Array
from .interpolation import Matrix

DENSE = 500  # unknowns, up to which the whole problem is solved
SAME = 1e-7  # relative difference of eigenvalues below which shapes may be mixed at will


def vibrations(K: Matrix, M: Matrix, count: int) -> tuple[Array, Array]:
    """(1): the `count` slowest, w^2 (count,) and u (unknowns, count) with u^T M u = 1."""
    n = K.shape[0]
    if n <= DENSE or count >= n - 1:
        # of M u = (1/w^2) K u the slowest are the largest, which rounding spares; K alone is definite
        mu, u = linalg.eigh(_dense(M), _dense(K))
        mu, u = mu[::-1][:count], u[:, ::-1][:, :count]
        if (mu <= 1e-15 * mu[0]).any():
            moving = int((mu > 1e-15 * mu[0]).sum())
            raise ValueError(f"{count} modes are asked for; the mesh moves mass in {moving} ways only.")
        return 1 / mu, u / np.sqrt(mu)
    squares, u = eigsh(K, count, M, sigma=0.0, v0=np.ones(n))
    order = np.argsort(squares)
    return squares[order], u[:, order]


def craig_bampton(K: Matrix, M: Matrix, rows: Matrix, held: Array, count: int) -> Array:
    """(2): the shapes (unknowns, interfaces + count), in that order.

    rows: C, the motions of all interfaces (motions, unknowns). held: unknowns that stand still with them.
    """
    flexibility = splu(K.tocsc()).solve(rows.T.toarray())
    static = flexibility @ np.linalg.inv(rows @ flexibility)
    free = np.setdiff1d(np.arange(K.shape[0]), held)
    inner = np.zeros((K.shape[0], count))
    if count:
        inner[free] = vibrations(K.tocsr()[free][:, free].tocsc(), M.tocsr()[free][:, free].tocsc(), count)[1]
    return np.hstack([static, inner])


def orthogonal(shapes: Array, K: Matrix, M: Matrix, directions: Sequence[Matrix]) -> tuple[Array, Array]:
    """(3): w^2, and shapes with u^T M u = 1 and u^T K u = w^2.

    directions: M of motions along x, y, z alone. Shapes of one frequency are turned so that each moves along one axis
    as far as may be: a round boom bends along y, and along z.
    """
    mu, mix = linalg.eigh(shapes.T @ (M @ shapes), shapes.T @ (K @ shapes))
    squares, u = 1 / mu[::-1], shapes @ (mix[:, ::-1] / np.sqrt(mu[::-1]))
    start = 0
    while start < len(squares):
        stop = start + 1
        while stop < len(squares) and squares[stop] - squares[stop - 1] < SAME * squares[start]:
            stop += 1
        if stop - start > 1:
            own = u[:, start:stop]
            _, turn = np.linalg.eigh(sum(k * (own.T @ (D @ own)) for k, D in enumerate(directions)))
            u[:, start:stop] = own @ turn
        start = stop
    return squares, u


def _dense(A: Matrix) -> Array:
    return A.toarray() if sparse.issparse(A) else np.asarray(A)
