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


@pytest.mark.parametrize("angle, own", [(3e-5, True), (1.2e-5, True), (0.8e-5, False), (3e-6, False)])
def test_a_row_is_redundant_when_less_than_1e_5_of_it_is_its_own(angle, own):
    """Two directions at a small angle: the second adds sin(angle)^2 to the diagonal, and counts from 1e-10 on."""
    B = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    _, inverse, z = semidefinite_ldl(B @ B.T)
    assert (z[1] == 0.0) == own and (inverse[1] > 0) == own
    wanted = np.array([0.0, np.sin(angle)])  # asks the second direction alone for a unit
    x = B.T @ least_norm_solution(B @ B.T, wanted)
    assert (abs(x[1] - 1.0) < 1e-3) == own


@pytest.mark.parametrize("size, counts", [(1e-13, True), (4e-15, True), (4e-16, False), (0.0, False)])
def test_a_row_that_is_round_off_of_the_others_is_nothing(size, counts):
    """Alone in its direction, but 1e-15 of the trace: it cannot be told from zero."""
    for scale in (1.0, 1e6, 1e-6):
        _, inverse, z = semidefinite_ldl(scale * np.diag([1.0, size]))
        assert (z[1] == 0.0) == counts and inverse[1] == (pytest.approx(1.0 / (scale * size)) if counts else 0.0)
