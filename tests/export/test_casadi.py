"""CasADi functions: the same values, and derivatives equal to those of the graph."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import cos, maximum, minimum, scan, sign, sin, sqrt, where
from gyrostat.export import to_casadi
from gyrostat.tracing import interp
from gyrostat.tracing.random import uniform
from gyrostat.tracing.recording import trace
from random_trees import random_spacecraft, random_state

casadi = pytest.importorskip("casadi")


@pytest.mark.parametrize("seed", range(20))
def test_twenty_craft_of_every_joint_kind(seed):
    craft = random_spacecraft(seed, links=4)
    q, v = random_state(craft, seed)
    tau = np.random.default_rng(seed).normal(size=craft.nv)
    for function, values in (
        (gs.forward_dynamics, (q, v, tau)),
        (gs.inverse_dynamics, (q, v, tau)),
        (gs.mass_matrix, (q,)),
        (gs.forward_kinematics, (q,)),
    ):
        graph = trace(function, craft)
        found = to_casadi(graph)(*values)
        for one, wanted in zip(found if isinstance(found, tuple) else (found,), graph.evaluate(*values), strict=True):
            got = one.full().reshape(np.shape(wanted) if np.ndim(wanted) <= 2 else -1)
            wanted = np.reshape(wanted, got.shape)
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(wanted).max()))


def test_derivatives_equal_those_of_the_graph():
    craft = random_spacecraft(2, links=3)
    q, v = random_state(craft, 2)
    tau = np.linspace(-1, 1, craft.nv)
    function = to_casadi(trace(gs.forward_dynamics, craft))
    A = function.jacobian()(q, v, tau, np.zeros(craft.nv))[2].full()
    ours = gs.compile(gs.jacobian_of(gs.forward_dynamics, "tau"), craft)(q, v, tau)
    np.testing.assert_allclose(A, ours, rtol=1e-12, atol=1e-12 * np.abs(ours).max())


def odd(x):
    a, b, c = x
    return {
        "chosen": where((a < b) & ~(c <= 0.0) | (b <= -1.0), minimum(a, b), maximum(b, c) * sign(a)),
        "table": interp(a, [-1.0, 0.0, 0.3, 2.0], np.array([[5.0, 1.0, -2.0, 4.0], [0.0, 1.0, 2.0, 1.0]]).T),
        "rest": np.array([a % b, (7.0 * a) // b, abs(c) ** b, sqrt(abs(a))]),
    }


def test_choices_tables_and_remainders():
    graph = trace(odd, None, inputs={"x": 3})
    function = to_casadi(graph)
    assert function.name_out() == ["chosen", "table", "rest"] and function.name_in() == ["x"]
    rng = np.random.default_rng(0)
    for x in 2.0 * rng.normal(size=(300, 3)):
        for found, wanted in zip(function(x), graph.evaluate(x), strict=True):
            np.testing.assert_allclose(found.full().reshape(np.shape(wanted)), wanted, rtol=1e-13, atol=1e-13)


def test_noise_and_long_tables_are_refused():
    with pytest.raises(NotImplementedError, match="no operation like 'uniform': random numbers belong to a run"):
        to_casadi(trace(lambda n: uniform(1, 0, n, 0), None, inputs={"n": ()}))
    xp = np.arange(600.0)
    with pytest.raises(NotImplementedError, match="at most 500"):
        to_casadi(trace(lambda n: interp(n, xp, xp**2), None, inputs={"n": ()}))


def test_loops_are_written_out():
    def newton(x):
        return scan(lambda E, k: E - (E - x[0] * sin(E) - x[1]) / (1.0 - x[0] * cos(E)), x[1], 12)

    function = to_casadi(trace(newton, None, inputs={"x": 2}))
    for x in np.random.default_rng(0).uniform(0.1, 0.6, size=(10, 2)):
        assert float(function(x)) == pytest.approx(float(newton(x)), rel=1e-13)
