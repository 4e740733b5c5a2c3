"""Singular symmetric systems: solutions of least norm, against the pseudo-inverse."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra.semidefinite import least_norm_solution, semidefinite_ldl


def singular(seed, n, rank):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, rank))
    A = B @ B.T
    return A, A @ rng.normal(size=n)


@pytest.mark.parametrize("n, rank", [(4, 4), (5, 3), (8, 5), (6, 1)])
def test_least_norm_is_the_pseudo_inverse(n, rank):
    for seed in range(5):
        A, b = singular(seed, n, rank)
        x = least_norm_solution(A, b)
        best = np.linalg.pinv(A, rcond=1e-10) @ b
        assert np.abs(A @ x - b).max() < 1e-9 * np.abs(b).max()
        assert np.abs(x - best).max() < 1e-8 * np.abs(best).max()


def test_columns_at_once():
    A, _ = singular(1, 6, 4)
    assert np.abs(least_norm_solution(A, A) - np.linalg.pinv(A, rcond=1e-10) @ A).max() < 1e-9


def test_dependent_rows_are_marked():
    A, _ = singular(2, 5, 3)
    _, inverse, z = semidefinite_ldl(A)
    assert z.sum() == 2 and (inverse[z == 1] == 0).all()


def test_regular_systems_are_solved_as_usual():
    A, b = singular(3, 5, 5)
    assert np.abs(least_norm_solution(A, b) - np.linalg.solve(A, b)).max() < 1e-10 * np.abs(b).max()


def test_traced_with_the_rank_unknown():
    kernel = gs.compile(least_norm_solution, None, inputs={"A": (5, 5), "b": (5,)}, static={"tolerance": 1e-10})
    for rank in (3, 5):
        A, b = singular(4, 5, rank)
        assert np.abs(kernel(A, b) - least_norm_solution(A, b)).max() < 1e-10 * np.abs(b).max()
