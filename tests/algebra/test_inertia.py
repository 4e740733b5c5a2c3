"""Spatial inertias against clouds of points, and small linear algebra against its own definition."""

from __future__ import annotations

import numpy as np
import pytest

from exact import exact, size
from gyrostat import algebra as g
from gyrostat.algebra import Pose

RNG = np.random.default_rng(21)


def cloud():
    """Points with masses, and their mass, centre and inertia about it."""
    r, m = RNG.normal(size=(7, 3)), RNG.uniform(0.1, 2.0, size=7)
    mass, com = m.sum(), m @ r / m.sum()
    d = r - com
    inertia = sum(k * ((x @ x) * np.eye(3) - np.outer(x, x)) for k, x in zip(m, d, strict=True))
    return r, m, mass, com, inertia


@pytest.mark.parametrize("_", range(8))
def test_rigid_inertia_is_that_of_its_points(_):
    """Energy, momentum about the origin, and the ten parameters."""
    r, m, mass, com, inertia = cloud()
    M = g.rigid_inertia(mass, com, inertia)
    V = RNG.normal(size=6)
    speeds = V[3:] + np.cross(V[:3], r)
    assert pytest.approx(m @ (speeds**2).sum(axis=1), rel=1e-14) == V @ (M @ V)
    linear, angular = m @ speeds, (m[:, None] * np.cross(r, speeds)).sum(axis=0)
    assert size((M @ V) - np.concatenate([angular, linear])) < 1e-13
    assert size(M.matrix @ V - M @ V) < 1e-13 and (M.matrix == M.matrix.T).all()
    assert np.linalg.eigvalsh(M.matrix).min() > 0
    columns = RNG.normal(size=(6, 4))
    assert size((M @ columns) - M.matrix @ columns) < 1e-13


@pytest.mark.parametrize("_", range(8))
def test_moving_an_inertia_to_another_frame(_):
    r, m, mass, com, inertia = cloud()
    M = g.rigid_inertia(mass, com, inertia)
    X = Pose(g.rotation(RNG.normal(size=4)), RNG.normal(size=3))
    Ad_BP = g.adjoint(g.inverse(X))
    expected = Ad_BP.T @ M.matrix @ Ad_BP
    moved = g.rigid_inertia_to_parent(X, M)
    assert size(moved.matrix - expected) < 1e-13 * size(expected)
    points = X.p + r @ X.R.T  # the same points seen from P
    assert size(moved.h - m @ points) < 1e-13 and moved.m == mass
    A = RNG.normal(size=(6, 6))
    general = A @ A.T
    found = g.inertia_to_parent(X, general)
    assert size(found - Ad_BP.T @ general @ Ad_BP) < 1e-13 * size(found) and (found == found.T).all()
    both = M + moved
    assert size(both.matrix - M.matrix - moved.matrix) < 1e-15 * size(both.matrix)


def test_six_components_of_an_inertia():
    A = g.inertia_matrix([1, 2, 3, 4, 5, 6])
    assert A.tolist() == [[1, 2, 3], [2, 4, 5], [3, 5, 6]]
    assert g.inertia_components(A).tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("n", range(1, 9))
def test_ldl_factors_and_solves(n):
    A = RNG.normal(size=(n, n))
    A = A @ A.T + 0.1 * np.eye(n)
    L, d = g.ldl(A)
    assert (np.diag(L) == 1).all() and (np.triu(L, 1) == 0).all() and (d > 0).all()
    assert size(L @ np.diag(d) @ L.T - A) < 1e-14 * size(A)
    b, B = RNG.normal(size=n), RNG.normal(size=(n, 3))
    for right in (b, B):
        for x in (g.ldl_solve(L, d, right), g.solve_spd(A, right)):
            assert x.shape == right.shape
            assert size(A @ x - right) < 1e-14 * n * size(A) * max(1.0, size(x))
    assert size(g.solve_spd(A.astype(object), b.astype(object)).astype(float) - g.solve_spd(A, b)) == 0.0
    assert size(exact(A) @ g.solve_spd(exact(A), exact(b)) - exact(b)) < 1e-60


def test_ldl_takes_indefinite_matrices_and_none_at_all():
    A = np.array([[1.0, 2.0], [2.0, 1.0]])
    L, d = g.ldl(A)
    assert d.tolist() == [1.0, -3.0] and g.ldl_solve(L, d, np.array([3.0, 3.0])) == pytest.approx([1.0, 1.0])
    L, d = g.ldl(np.zeros((0, 0)))
    assert g.ldl_solve(L, d, np.zeros(0)).shape == (0,) and g.ldl_solve(L, d, np.zeros((0, 4))).shape == (0, 4)


def test_ldl_solve_is_backward_stable_on_ill_conditioned_matrices():
    """Hilbert matrix, cond 1e13: the residual stays at round-off though the solution does not."""
    n = 10
    A = 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1)
    x = g.solve_spd(A, np.ones(n))
    assert size(A @ x - 1) < 1e-15 * n * size(A) * size(x)


def test_mirror():
    A = np.arange(9.0).reshape(3, 3)
    assert g.mirror(A).tolist() == [[0, 1, 2], [1, 4, 5], [2, 5, 8]]


def test_velocity_product_is_the_rate_of_momentum_carried_along_and_does_not_lose_torque_at_orbital_speed():
    rng = np.random.default_rng(12)
    M = g.rigid_inertia(1000.0, np.zeros(3), np.diag([500.0, 12250.0, 12250.0]))
    shifted = g.rigid_inertia(7.0, rng.normal(size=3), np.diag([1.0, 2.0, 2.5]))
    for body in (M, shifted):
        V = rng.normal(size=6)
        np.testing.assert_allclose(body.velocity_product(V), g.cross_force(V, body @ V), rtol=1e-12, atol=1e-10)
    V = np.array([0.0, 0.0, 0.0, 7123.4, -2345.6, 987.6])
    assert not M.velocity_product(V).any()
