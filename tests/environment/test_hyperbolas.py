"""Orbits that escape: Kepler's equation to forty digits, invariants, what is relative to them."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from gyrostat.environment import EARTH, Orbit, bounded_velocity, two_body_gravity, yamanaka_ankersen
from gyrostat.environment.kepler import hyperbolic_anomaly
from gyrostat.tracing import Kernel, trace

FLYBY = Orbit.from_elements(-1.7e7, 1.6, 2.2, 1.1, 4.0, -1.9)  # retrograde, before its pericentre


@pytest.mark.parametrize("e", [1.0 + 1e-8, 1.0001, 1.05, 2.0, 40.0])
def test_the_equation_is_solved_to_round_off(e):
    with mp.workdps(40):
        for M in (1e-10, -1e-5, 0.3, -2.0, 0.9999, 1.0001, 40.0, -1e6):
            H = float(hyperbolic_anomaly(M, e))
            there = mp.findroot(lambda h, M=M: e * mp.sinh(h) - h - mp.mpf(M), mp.mpf(H))
            assert abs(H / float(there) - 1.0) < 5e-16
    assert hyperbolic_anomaly(0.0, e) == 0.0


def test_energy_and_momentum_stay_and_the_state_gives_the_orbit_back():
    for t in (0.0, 3000.0, 2e4, 1e6):
        r, v = FLYBY.state(t)
        assert v @ v / 2 - EARTH.mu / np.linalg.norm(r) == pytest.approx(EARTH.mu / 3.4e7, rel=1e-12)
        np.testing.assert_allclose(np.cross(r, v), FLYBY.h * FLYBY.R_NP[:, 2], atol=1e-13 * FLYBY.h)
        p, f = FLYBY.h**2 / EARTH.mu, FLYBY.true_anomaly(t)
        assert np.linalg.norm(r) == pytest.approx(p / (1 + 1.6 * np.cos(f)), rel=1e-12)
        again = Orbit.from_state(r, v, t)
        np.testing.assert_allclose(again.state(500.0).r, FLYBY.state(500.0).r, rtol=3e-13 * max(1.0, t / 1e4))
    assert FLYBY.true_anomaly(0.0) == pytest.approx(-1.9)


def test_it_is_the_motion_of_two_bodies():
    y0 = np.concatenate(FLYBY.state(0.0))

    def rhs(_, y):
        return np.concatenate([y[3:], -EARTH.mu * y[:3] / np.linalg.norm(y[:3]) ** 3])

    y = solve_ivp(rhs, (0.0, 3e4), y0, method="DOP853", rtol=3e-14, atol=1e-9).y[:, -1]
    later = FLYBY.state(3e4)
    np.testing.assert_allclose(later.r, y[:3], atol=1e-4)
    np.testing.assert_allclose(later.v, y[3:], atol=1e-8)
    kernel = Kernel(trace(lambda t: np.concatenate(FLYBY.state(t)), None, inputs={"t": ()}))
    np.testing.assert_allclose(kernel(3e4), np.concatenate(later), rtol=1e-12)


def test_a_craft_flies_by():
    """Ten kilometres ahead of the origin of N, it stays on a hyperbola of its own."""
    craft = gs.Spacecraft.build("probe", [gs.Body("hull", 300.0, inertia=[70.0, 80.0, 90.0])])
    q, v = gs.neutral(craft), np.zeros(6)
    q[4:7], v[3:] = [1e4, -2e3, 500.0], [1.0, -2.0, 0.5]
    environment = two_body_gravity(FLYBY, gradient_torque=False, gradient_force=False)
    run = gs.simulate(craft, q, v, (0.0, 8000.0), environment=environment, rtol=1e-12)
    at, there = FLYBY.state(0.0), FLYBY.state(8000.0)
    own = Orbit.from_state(at.r + q[4:7], at.v + v[3:]).state(8000.0)
    np.testing.assert_allclose(there.r + run.q[-1, 4:7], own.r, atol=1e-4)
    assert np.linalg.norm(run.q[-1, 4:7]) > 1e4


def test_neighbours_move_as_the_transition_matrix_says():
    """Yamanaka and Ankersen's solution in the true anomaly holds for hyperbolas, too."""
    from gyrostat.control.transfers import kepler_motion

    Phi, h = yamanaka_ankersen(FLYBY, 500.0, 9000.0), 10.0
    for k in range(6):
        d = np.zeros(6)
        d[k] = h if k < 3 else 1e-3 * h
        ends = [np.concatenate(kepler_motion(FLYBY, 500.0, 9000.0, s * d[:3], s * d[3:])) for s in (1.0, -1.0)]
        np.testing.assert_allclose((ends[0] - ends[1]) / 2, Phi @ d, atol=3e-7 * np.abs(Phi @ d).max())
    with pytest.raises(ValueError, match="on a hyperbola nothing comes back"):
        bounded_velocity(FLYBY, 0.0, (100.0, 0.0, 0.0))
