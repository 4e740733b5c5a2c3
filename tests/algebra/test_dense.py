"""General linear algebra of laws: NumPy's on floats, the same numbers when compiled, and true derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import eigh3, lstsq, pinv, solve

RNG = np.random.default_rng(11)


def compiled(function, **shapes):
    return gs.compile(function, None, inputs=shapes)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
def test_solve_agrees_with_numpy_also_where_pivots_are_needed(n):
    A = RNG.normal(size=(60, n, n))
    if n > 1:
        A[:30, 0, 0] = 0.0  # no elimination without exchanged rows
    if n > 2:
        A[:20, 1, 1] = A[:20, 1, 0] * A[:20, 0, 1] / np.where(A[:20, 0, 0] == 0, 1.0, A[:20, 0, 0])
    b, B = RNG.normal(size=(60, n)), RNG.normal(size=(60, n, 3))
    x, X = compiled(solve, A=(n, n), b=(n,))(A, b), compiled(solve, A=(n, n), b=(n, 3))(A, B)
    scale = np.linalg.cond(A)
    assert (np.abs(np.einsum("kij,kj->ki", A, x) - b).max(axis=1) < 1e-13 * scale).all()
    np.testing.assert_allclose(X, np.linalg.solve(A, B), atol=1e-13 * scale.max())
    np.testing.assert_array_equal(solve(A[0], b[0]), np.linalg.solve(A[0], b[0]))


def test_solve_of_exchanged_rows_alone_is_exact():
    P = np.eye(5)[[3, 0, 4, 2, 1]]
    b = np.arange(5.0)
    np.testing.assert_array_equal(compiled(solve, A=(5, 5), b=(5,))(P, b), P.T @ b)


@pytest.mark.parametrize(("m", "n", "rank"), [(3, 6, 3), (6, 3, 3), (4, 4, 4), (6, 4, 2), (3, 5, 2), (4, 4, 1)])
def test_pinv_satisfies_penroses_four_conditions(m, n, rank):
    A = RNG.normal(size=(40, m, rank)) @ RNG.normal(size=(40, rank, n))
    P = compiled(pinv, A=(m, n))(A)
    np.testing.assert_allclose(
        P, np.linalg.pinv(A, rcond=1e-10), atol=2e-7 * np.abs(P).max(axis=(1, 2))[:, None, None].max()
    )
    for left, right in (
        (A @ P @ A, A),
        (P @ A @ P, P),
        ((A @ P).swapaxes(1, 2), A @ P),
        ((P @ A).swapaxes(1, 2), P @ A),
    ):
        np.testing.assert_allclose(left, right, atol=1e-7 * max(1.0, np.abs(right).max()))


def test_least_squares_of_full_rank_agree_with_numpy():
    A, b = RNG.normal(size=(50, 7, 4)), RNG.normal(size=(50, 7))
    x = compiled(lstsq, A=(7, 4), b=(7,))(A, b)
    for k in range(50):
        np.testing.assert_allclose(x[k], np.linalg.lstsq(A[k], b[k], rcond=None)[0], atol=1e-12)


def test_principal_axes_are_those_of_numpy():
    S = RNG.normal(size=(200, 3, 3))
    S = S + S.swapaxes(1, 2)
    S[0], S[1], S[2] = np.diag([3.0, 1.0, 2.0]), np.eye(3), np.zeros((3, 3))
    S[3] = np.diag([5.0, 5.0, 1.0]) + 1e-9 * S[10]
    values, V = compiled(eigh3, A=(3, 3))(S)
    expected = np.linalg.eigvalsh(S)
    np.testing.assert_allclose(values, expected, atol=1e-14 * np.abs(S).max())
    np.testing.assert_allclose(V @ (values[:, :, None] * V.swapaxes(1, 2)), S, atol=3e-15 * np.abs(S).max() * 3)
    np.testing.assert_allclose(V.swapaxes(1, 2) @ V, np.broadcast_to(np.eye(3), (200, 3, 3)), atol=1e-14)
    apart = np.diff(expected, axis=1).min(axis=1) > 1e-3
    own = np.array([eigh3(s).vectors for s in S[apart]])
    np.testing.assert_allclose(V[apart], own, atol=1e-11)


def _of_a_solution(A):
    return solve(A[:, :3] @ A[:, :3].T + A[:, 1:], A[:, 0])


def _of_eigenvalues(A):
    return eigh3(A[:, :3]).values


@pytest.mark.parametrize("function", [lambda A: pinv(A), _of_a_solution, _of_eigenvalues])
def test_derivatives_are_those_of_differences(function):
    """At a generic matrix, and at one with exact zeros, where guarded formulas would lose theirs."""
    value = gs.compile(function, None, inputs={"A": (3, 4)})
    slope = gs.compile(gs.jacobian_of(function, "A"), None, inputs={"A": (3, 4)})
    for A in (RNG.normal(size=(3, 4)), np.column_stack([np.diag([1.0, 2.0, 4.0]), [0.5, 0.0, -1.0]])):
        J, h = slope(A), 1e-6
        for i in np.ndindex(3, 4):
            dA = np.zeros((3, 4))
            dA[i] = h
            expected = (value(A + dA) - value(A - dA)) / (2 * h)
            np.testing.assert_allclose(J[(..., *i)], expected, atol=2e-8 * max(1.0, np.abs(J).max()))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: solve(np.zeros((2, 3)), np.zeros(2)), "expected (n, n)"),
        (lambda: solve(np.eye(3), np.zeros(2)), "as many rows"),
        (lambda: eigh3(np.eye(4)), "expected (3, 3)"),
        (lambda: pinv(np.zeros(3)), "a matrix (m, n)"),
        (lambda: lstsq(np.eye(3), np.zeros(2)), "as many rows"),
    ],
)
def test_wrong_shapes_are_said(call, words):
    with pytest.raises(ValueError, match=r".*") as error:
        call()
    assert words in str(error.value)
