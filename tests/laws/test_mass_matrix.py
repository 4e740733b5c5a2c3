"""M is symmetric and positive definite, Mdot - 2 C is skew, and C v, C^T and Mdot belong together."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from exact import exact, floats, rate, size
from exact_cases import SEEDS, state


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_symmetric_positive_definite(seed):
    s = state(seed)
    M = gs.mass_matrix(s.rough, floats(s.q))
    assert (M == M.T).all()
    D = 1 / np.sqrt(np.diag(M))
    assert np.linalg.eigvalsh(D[:, None] * M * D).min() > 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_of_the_mass_matrix_are_inverse_dynamics_of_unit_accelerations(seed):
    s = state(seed)
    M, rest = gs.mass_matrix(s.craft, s.q), 0 * s.v
    for k in range(0, s.craft.nv, 3):
        unit = exact(np.eye(s.craft.nv)[k])
        assert size(gs.inverse_dynamics(s.craft, s.q, rest, unit) - M[:, k]) < 1e-60


@pytest.mark.parametrize("seed", SEEDS)
def test_mdot_minus_2c_is_skew_for_independent_vectors(seed):
    """x^T (Mdot - 2 C) y = -y^T (Mdot - 2 C) x for any x and y: Mdot = C + C^T, entry by entry."""
    s = state(seed)
    Mdot = rate(lambda q, v: gs.mass_matrix(s.craft, q), s.craft, s.q, s.v)
    C = gs.coriolis_matrix(s.craft, s.q, s.v)
    assert size(Mdot - C - C.T) < 1e-30 * size(C)
    assert size(C @ s.v - gs.bias_force(s.craft, s.q, s.v)) < 1e-60
    x, y = exact(np.random.default_rng(seed).normal(size=(2, s.craft.nv)))
    S = Mdot - 2 * C
    assert abs(x @ S @ y + y @ S @ x) < 1e-30 * size(C)
    assert abs(x @ S @ y) > 1e-6  # skew, not zero


@pytest.mark.parametrize("seed", SEEDS)
def test_float_coriolis_matrix(seed):
    s = state(seed)
    C = gs.coriolis_matrix(s.craft, s.q, s.v)
    found = gs.coriolis_matrix(s.rough, floats(s.q), floats(s.v))
    assert found.dtype == float and size(found - C) < 1e-13 * size(C)


@pytest.mark.parametrize("seed", SEEDS)
def test_coriolis_matrix_is_linear_in_velocity(seed):
    s = state(seed)
    u = s.vdot
    C = [gs.coriolis_matrix(s.craft, s.q, x) for x in (s.v, u, 2 * s.v - 3 * u)]
    assert size(C[2] - 2 * C[0] + 3 * C[1]) < 1e-60 * size(C[2])


@pytest.mark.parametrize("seed", SEEDS)
def test_bias_force_follows_from_the_mass_matrix_alone(seed):
    """Lagrange in quasi-velocities holds without recursion:
    v^T bias = 1/2 v^T Mdot v, as joint forces do no other work.
    """
    s = state(seed)
    Mdot = rate(lambda q, v: gs.mass_matrix(s.craft, q), s.craft, s.q, s.v)
    bias = gs.bias_force(s.craft, s.q, s.v)
    assert abs(s.v @ bias - s.v @ Mdot @ s.v / 2) < 1e-30 * size(bias)
