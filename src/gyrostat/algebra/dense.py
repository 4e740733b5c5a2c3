"""General small linear algebra that laws may use: NumPy's own on floats,
and on symbols the same results without branching on values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .elementary import Array, absolute, is_symbolic, maximum, sign, sqrt, where
from .semidefinite import REDUNDANT, least_norm_solution

SWEEPS = 5  # of Jacobi's method, which converges quadratically: a 3x3 matrix is diagonal to round-off after four
TINY = 1e-300


class Eigen(NamedTuple):
    """values (3,), ascending; vectors (3, 3), in columns, the largest component of each positive."""

    values: Array
    vectors: Array


def solve(A: Any, b: Any) -> Array:
    """x with `A x = b` for any regular A (n, n); b is (n,) or (n, k).
    `solve_spd` is shorter where A is symmetric and positive definite.

    On symbols by elimination with row pivoting: the rows are exchanged by selection,
    so that the same operations suit every matrix.

    Raises ValueError unless A and b have as many rows.
    """
    A, b = np.asarray(A), np.asarray(b)
    _demand_square(A, "solve", None)
    if b.shape[:1] != A.shape[:1]:
        raise ValueError(f"solve: A is {A.shape} and b is {b.shape}; expected as many rows in both.")
    if not (is_symbolic(A) or is_symbolic(b)):
        return np.linalg.solve(A, b)
    n = len(A)
    rows = [np.concatenate([A[i], np.ravel(b[i])]).astype(object) for i in range(n)]
    for j in range(n):
        for i in range(j + 1, n):  # the largest entry of the column moves up
            larger = absolute(rows[i][j]) > absolute(rows[j][j])
            rows[j], rows[i] = where(larger, rows[i], rows[j]), where(larger, rows[j], rows[i])
        for i in range(j + 1, n):
            rows[i] = rows[i] - (rows[i][j] / rows[j][j]) * rows[j]
    x: list[Array] = [np.zeros(0)] * n
    for i in reversed(range(n)):
        rest = rows[i][n:] - sum((rows[i][k] * x[k] for k in range(i + 1, n)), np.zeros(len(rows[i]) - n))
        x[i] = rest / rows[i][i]
    return np.array(x).reshape(b.shape)


def pinv(A: Any) -> Array:
    """The Moore-Penrose inverse (n, m) of A (m, n).

    On symbols from A^T A or A A^T, the smaller: singular values below some 1e-5 of the largest count as zero.
    """
    A = _matrix(A, "pinv")
    if not is_symbolic(A):
        return np.linalg.pinv(A)
    m, n = A.shape
    return least_norm_solution(A.T @ A, A.T, REDUNDANT) if m >= n else least_norm_solution(A @ A.T, A, REDUNDANT).T


def lstsq(A: Any, b: Any) -> Array:
    """x of least norm among those with the least `|A x - b|`; A is (m, n), b (m,) or (m, k).
    Small singular values are as in `pinv`.

    On symbols one step of refinement makes up for what is lost in A^T A.

    Raises ValueError unless A and b have as many rows.
    """
    A, b = _matrix(A, "lstsq"), np.asarray(b)
    if b.shape[:1] != A.shape[:1]:
        raise ValueError(f"lstsq: A is {A.shape} and b is {b.shape}; expected as many rows in both.")
    if not (is_symbolic(A) or is_symbolic(b)):
        return np.linalg.lstsq(A, b, rcond=None)[0]
    P = pinv(A)
    x = P @ b
    return x + P @ (b - A @ x)


def eigh3(A: Any) -> Eigen:
    """Eigenvalues and eigenvectors of a symmetric A (3, 3), of which the upper triangle counts: principal axes of an
    inertia, for instance.

    On symbols by Jacobi's rotations. Where eigenvalues coincide their vectors are any that span the same space.
    """
    A = np.asarray(A)
    _demand_square(A, "eigh3", 3)
    if is_symbolic(A):
        values, V = _jacobi(A)
    else:
        values, V = np.linalg.eigh(A, UPLO="U")
    columns = [V[:, k] * _direction(V[:, k]) for k in range(3)]
    return Eigen(values, np.array(columns).T)


def _jacobi(A: Array) -> tuple[Array, Array]:
    """tan of each angle: 2 a_pq / (d + sign(d) sqrt(d^2 + 4 a_pq^2)), d = a_qq - a_pp;
    smooth where a_pq passes through zero.
    """
    i, j = np.indices((3, 3))
    S, V = A[np.minimum(i, j), np.maximum(i, j)].astype(object), np.eye(3).astype(object)
    for _ in range(SWEEPS):
        for p, q in ((0, 1), (0, 2), (1, 2)):
            d, off = S[q, q] - S[p, p], 2.0 * S[p, q]
            side = where(d < 0.0, -1.0, 1.0)
            size = absolute(d) + sqrt(d * d + off * off + TINY)
            t = side * off / size
            c = 1.0 / sqrt(1.0 + t * t)
            R = np.eye(3).astype(object)
            R[p, p], R[q, q], R[p, q], R[q, p] = c, c, t * c, -t * c
            S, V = R.T @ S @ R, V @ R
    columns = [np.array([S[k, k], *V[:, k]], dtype=object) for k in range(3)]
    for a, b in ((0, 1), (1, 2), (0, 1)):  # ascending
        swap = columns[a][0] > columns[b][0]
        columns[a], columns[b] = where(swap, columns[b], columns[a]), where(swap, columns[a], columns[b])
    return np.array([c[0] for c in columns]), np.array([c[1:] for c in columns]).T


def _direction(x: Array) -> Any:
    """The sign of its largest component, the first of them where several are as large."""
    size = absolute(x)
    largest, chosen = size[0], x[0]
    for k in (1, 2):
        chosen = where(size[k] > largest * (1.0 + 1e-12), x[k], chosen)
        largest = maximum(largest, size[k])
    return sign(chosen)


def _matrix(A: Any, who: str) -> Array:
    A = np.asarray(A)
    if A.ndim != 2 or 0 in A.shape:
        raise ValueError(f"{who}: A has shape {A.shape}; expected a matrix (m, n).")
    return A


def _demand_square(A: Array, who: str, n: int | None) -> None:
    if A.ndim != 2 or A.shape[0] != A.shape[1] or n not in (None, len(A)):
        raise ValueError(f"{who}: A has shape {A.shape}; expected ({n or 'n'}, {n or 'n'}).")
