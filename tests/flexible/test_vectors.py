"""Recursions on flexible bodies against accelerations from Lagrange's equations differentiated at 70 digits."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from flexible_vectors import craft_of, vectors
from gyrostat.control.passive import passive_forces, spring_energy


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("which", range(2))
def test_accelerations_are_those_of_lagrange_at_seventy_digits(number, which):
    case = vectors()["cases"][number]
    state = case["states"][which % len(case["states"])]
    craft = craft_of(case)
    q, v = np.array(state["q"]), np.array(state["v"])
    q[:4] /= np.linalg.norm(q[:4])
    applied, total, W = (np.array(state[key]) for key in ("tau_applied", "tau_total", "wrenches"))
    expected = np.array(state["vdot"])
    scale = np.abs(expected).max()
    assert np.abs(applied + passive_forces(craft, q, v) - total).max() < 1e-11 * np.abs(total).max()
    vdot = gs.forward_dynamics(craft, q, v, total, wrenches=W)
    assert np.abs(vdot - expected).max() < 1e-11 * scale
    bias = gs.bias_force(craft, q, v, wrenches=W)
    assert np.abs(np.linalg.solve(gs.mass_matrix(craft, q), total - bias) - expected).max() < 1e-11 * scale
    assert np.abs(gs.inverse_dynamics(craft, q, v, vdot, wrenches=W) - total).max() < 1e-11 * np.abs(total).max() * 10
    assert gs.kinetic_energy(craft, q, v) == pytest.approx(state["kinetic_energy"], rel=1e-11)
    assert spring_energy(craft, q) == pytest.approx(state["elastic_energy"], rel=1e-11)
    assert gs.momentum(craft, q, v) == pytest.approx(np.array(state["momentum_N"]), rel=1e-10, abs=1e-11)
