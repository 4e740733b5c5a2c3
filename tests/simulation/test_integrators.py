"""The integrators' numbers against their defining equations and SciPy's;
their code on machines with narrower vectors.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.polynomial.legendre import Legendre
from scipy.integrate import RK45
from scipy.integrate._ivp import dop853_coefficients

import gyrostat
from gyrostat.simulation.integrators.gauss_numbers import collocation
from gyrostat.simulation.integrators.methods import METHODS


def full(rows, size):
    return np.array([[*row, *[0.0] * (size - len(row))] for row in rows])


def test_dop853_and_rk45_are_those_of_scipy():
    m, s = METHODS["dop853"], dop853_coefficients
    np.testing.assert_allclose(full(((), *m.a), 12), s.A[:12, :12], atol=1e-15)
    np.testing.assert_allclose([m.b, m.c], [s.B, s.C[:12]], atol=1e-15)
    np.testing.assert_allclose(full(m.errors, 13), [s.E5, s.E3], atol=1e-15)
    np.testing.assert_allclose(full([row for _, row in m.extra], 16), s.A[13:], atol=1e-15)
    m = METHODS["rk45"]
    np.testing.assert_allclose(full(((), *m.a), 5), RK45.A, atol=1e-15)
    np.testing.assert_allclose([*m.b, *m.c, *m.errors[0]], [*RK45.B, *RK45.C, *-RK45.E], atol=1e-15)  # either sign


@pytest.mark.parametrize("name", ["dop853", "rk45", "rk4"])
def test_stages_lie_where_they_say(name):
    m = METHODS[name]
    np.testing.assert_allclose([sum(row) for row in m.a], m.c[1:], atol=2e-14)
    for k in range(1, min(m.order, 8) + 1):  # quadrature: sum b c^(k-1) = 1/k
        np.testing.assert_allclose(np.array(m.b) @ np.array(m.c) ** (k - 1), 1 / k, atol=1e-14)
    for _, row in m.extra:
        assert len(row) >= m.stages


def test_gauss16_has_the_numbers_of_eight_stages():
    m, numbers = METHODS["gauss16"], collocation(8)
    assert (m.name, m.order) == (numbers.name, numbers.order) == ("gauss16", 16)
    for name in ("c", "a", "b", "low", "high", "lagrange", "pairs"):
        assert getattr(m, name) == getattr(numbers, name), name


@pytest.mark.parametrize("m, stages", [(METHODS["gauss6"], 3), (collocation(8), 8), (collocation(6), 6)])
def test_collocation(m, stages):
    """B(2s): sum_j b_j c_j^(k-1) = 1/k, k <= 2s.   C(s): sum_j a_ij c_j^(k-1) = c_i^k / k, k <= s (Butcher 1964)."""
    assert m.order == 2 * stages
    c, a, b = np.array(m.c), np.array(m.a), np.array(m.b)
    for k in range(1, 2 * stages + 1):
        np.testing.assert_allclose(b @ c ** (k - 1), 1 / k, atol=2e-16)
    for k in range(1, stages + 1):
        np.testing.assert_allclose(a @ c ** (k - 1), c**k / k, atol=2e-16)
    # quadratic invariants stay
    np.testing.assert_allclose(b[:, None] * a + (b[:, None] * a).T, np.outer(b, b), atol=1e-16)


@pytest.mark.parametrize("stages", [6, 8])
def test_polynomials_through_the_stages(stages):
    """A polynomial in Legendre's basis is found from its values at the stages, and continued beyond them."""
    m = collocation(stages)
    c = np.array(m.c)
    rng = np.random.default_rng(0)
    coefficients = rng.normal(size=stages)
    p = Legendre(coefficients, domain=[0, 1])
    degrees = [2, 3, stages - 2, stages - 1]
    np.testing.assert_allclose(np.array(m.low + m.high) @ p(c), coefficients[degrees], atol=1e-13)
    theta = 1.7
    weights = [w * np.prod(np.delete(theta - c, j)) for j, w in enumerate(m.lagrange)]
    np.testing.assert_allclose(weights @ p(c), p(theta), rtol=1e-10)


PROGRAM = """
from gyrostat.tracing import machine
machine.host_lanes = lambda scalar: {lanes}
import numpy as np
import gyrostat as gs
from gyrostat.simulation.engine.block import lane_count
assert lane_count() == {lanes}
base = gs.Body("base", 5.0, inertia=(1.0, 2.0, 3.0))
arm = gs.Body("arm", 1.0, (0.3, 0, 0), (0.1, 0.1, 0.1), gs.Joint("hinge", "revolute", "base", (0.5, 0, 0)))
craft = gs.Spacecraft.build("craft", [base, arm])
v = np.array([0.4, 0.1, 1.1, 0.2, 0.0, -0.1, 0.3])
law = gs.Controller(lambda craft, t, q, v: np.concatenate([np.zeros(6), -q[7:] - v[6:]]), period=0.25)
event = lambda craft, t, q, v: q[7] - 0.01
rows = []
same = {{"control": law, "events": event, "save_at": [2.0, 4.0]}}
by = [{{"rtol": 1e-12}}, {{"integrator": "gauss16", "rtol": 1e-12}}, {{"integrator": "gauss6", "step": 0.02}}]
for k, options in enumerate(by):
    many = gs.simulate(craft, np.array([gs.neutral(craft)] * 5), v, (0, 4), **same, **options)
    one = gs.simulate(craft, gs.neutral(craft), v, (0, 4), **same, **options)
    assert all(np.array_equal(row, one.q) for row in many.q)
    rows.append(np.concatenate([one.final[0], one.final[1], [e.t for e in one.events]]))
print(*[repr(float(x)) for x in np.ravel(rows)])
"""


def test_narrower_vectors_give_the_same_runs():
    """As on machines with two or four lanes: gauss16 then takes several calls for its stages."""
    environment = {**os.environ, "PYTHONPATH": str(Path(gyrostat.__file__).parents[1])}
    found = []
    for lanes in (2, 4):
        command = [sys.executable, "-c", PROGRAM.format(lanes=lanes)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found.append(np.array([float(x) for x in done.stdout.split()]).reshape(3, -1))
    np.testing.assert_allclose(found[0], found[1], atol=1e-11)
    for rows in found:
        np.testing.assert_allclose(rows, rows[:1].repeat(3, 0), atol=1e-9)
