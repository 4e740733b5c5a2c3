"""Linear relative motion and attitude: transition matrices against integration, linear against nonlinear."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import gyrostat as gs
from formation_crafts import box
from gyrostat.algebra import exp_so3, log_so3, quat_from_rotation, rotation
from gyrostat.environment import (
    Orbit,
    bounded_velocity,
    clohessy_wiltshire,
    from_hill,
    gravity_gradient_attitude,
    hill_frame,
    libration_periods,
    relative_motion_matrix,
    to_hill,
    two_body_gravity,
    yamanaka_ankersen,
)
from gyrostat.environment.two_body import differential_gravity
from gyrostat.tracing import jacobian_of

CIRCULAR = Orbit.circular(600e3, 0.9, argument=0.4)
ELLIPTIC = Orbit.from_elements(1.2e7, 0.35, 0.9, 0.3, 0.2, 1.0)
SCALE = np.array([1.0, 1, 1, 1e-3, 1e-3, 1e-3])  # metres, and metres over a thousand seconds


def hill_rate(orbit, t, y):
    """d/dt (rho, rhodot) of the exact two-body motion, from differential gravity and the rotation of the frame."""
    r, v = orbit.state(t)
    R_NH, w_N = hill_frame(r, v)
    w, R2 = R_NH.T @ w_N, r @ r
    wdot = -2.0 * (r @ v) / R2 * w
    a = R_NH.T @ differential_gravity(orbit.planet.mu, r, R_NH @ y[:3])
    rho, rhodot = y[:3], y[3:]
    inertial = np.cross(wdot, rho) + 2 * np.cross(w, rhodot) + np.cross(w, np.cross(w, rho))
    return np.concatenate([rhodot, a - inertial])


@pytest.mark.parametrize("orbit", [CIRCULAR, ELLIPTIC], ids=["circular", "elliptic"])
def test_matrix_is_the_derivative_of_the_nonlinear_equations(orbit):
    for t in (0.0, 1000.0, 5000.0):
        A = relative_motion_matrix(orbit, t)
        columns = []
        for k in range(6):
            step = np.eye(6)[k] * SCALE[k]
            columns.append((hill_rate(orbit, t, step) - hill_rate(orbit, t, -step)) / (2 * SCALE[k]))
        np.testing.assert_allclose(A, np.array(columns).T, rtol=1e-9, atol=1e-16)


def transition(orbit, t0, t1):
    """By integration of the linear equations."""

    def rhs(t, y):
        return (relative_motion_matrix(orbit, t) @ y.reshape(6, 6)).ravel()

    return solve_ivp(rhs, (t0, t1), np.eye(6).ravel(), method="DOP853", rtol=1e-12, atol=1e-14).y[:, -1].reshape(6, 6)


def scaled(Phi):
    return Phi * SCALE[None, :] / SCALE[:, None]


def test_clohessy_wiltshire():
    """Closed form against integration and against the matrix exponential; a group in time."""
    n = CIRCULAR.n
    Phi = clohessy_wiltshire(n, 4321.0)
    np.testing.assert_allclose(
        scaled(Phi), scaled(transition(CIRCULAR, 0.0, 4321.0)), atol=1e-9 * np.abs(scaled(Phi)).max()
    )
    exact = expm(relative_motion_matrix(CIRCULAR, 0.0) * 4321.0)
    np.testing.assert_allclose(scaled(Phi), scaled(exact), atol=1e-9 * np.abs(scaled(Phi)).max())
    two = clohessy_wiltshire(n, 1321.0) @ clohessy_wiltshire(n, 3000.0)
    np.testing.assert_allclose(scaled(two), scaled(Phi), atol=1e-12 * np.abs(scaled(Phi)).max())


@pytest.mark.parametrize(("t0", "t1"), [(0.0, 3000.0), (2000.0, 30000.0), (5000.0, 1000.0)])
def test_yamanaka_ankersen(t0, t1):
    Phi = yamanaka_ankersen(ELLIPTIC, t0, t1)
    np.testing.assert_allclose(scaled(Phi), scaled(transition(ELLIPTIC, t0, t1)), atol=2e-9 * np.abs(scaled(Phi)).max())


def test_yamanaka_ankersen_becomes_clohessy_wiltshire():
    almost = Orbit.from_elements(7e6, 1e-9, 0.9)
    Phi = clohessy_wiltshire(almost.n, 5000.0)
    np.testing.assert_allclose(
        scaled(yamanaka_ankersen(almost, 0.0, 5000.0)), scaled(Phi), atol=1e-6 * np.abs(scaled(Phi)).max()
    )


@pytest.mark.parametrize("orbit", [CIRCULAR, ELLIPTIC], ids=["circular", "elliptic"])
def test_error_of_the_linear_model_is_linear_in_the_separation(orbit):
    """A tenth of the separation, a tenth of the relative error: quadratic in all."""
    y0 = np.array([30.0, -70.0, 50.0, 0.02, -0.03, 0.04])
    t1 = 0.7 * orbit.period
    Phi = yamanaka_ankersen(orbit, 0.0, t1) if orbit.e else clohessy_wiltshire(orbit.n, t1)
    errors = []
    for scale in (10.0, 1.0):
        y = solve_ivp(lambda t, y: hill_rate(orbit, t, y), (0, t1), scale * y0, method="DOP853", rtol=1e-13, atol=1e-12)
        errors.append(np.linalg.norm(y.y[:3, -1] - scale * (Phi @ y0)[:3]) / scale)
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.05)
    assert errors[1] < 1e-2 * np.linalg.norm((Phi @ y0)[:3])


def test_a_simulated_craft_follows_it():
    """The whole simulation, N on its orbit: centimetres from it,
    within 1e-7 m of Yamanaka and Ankersen after an orbit.
    """
    rho, rhodot = np.array([5e-3, -3e-3, 8e-3]), np.array([1e-6, 2e-6, -1e-6])
    craft = box()
    q, v = gs.neutral(craft), np.zeros(6)
    q[4:7], v[3:] = from_hill(ELLIPTIC, 0.0, rho, rhodot)
    t1 = ELLIPTIC.period
    run = gs.simulate(
        craft, q, v, (0, t1), environment=two_body_gravity(ELLIPTIC), rtol=1e-12, atol=1e-14, save_at=[t1]
    )
    found = np.concatenate(to_hill(ELLIPTIC, t1, run.q[0, 4:7], rotation(run.q[0, :4]) @ run.v[0, 3:]))
    expected = yamanaka_ankersen(ELLIPTIC, 0.0, t1) @ np.concatenate([rho, rhodot])
    np.testing.assert_allclose(found[:3], expected[:3], atol=1e-7)
    np.testing.assert_allclose(found[3:], expected[3:], atol=1e-10)


@pytest.mark.parametrize("orbit", [CIRCULAR, ELLIPTIC], ids=["circular", "elliptic"])
def test_bounded_relative_orbits(orbit):
    """Equal periods: after one, kilometres apart, the member is back where it was."""
    rho = np.array([3000.0, -2000.0, 4000.0])
    rhodot = bounded_velocity(orbit, 0.0, rho, (0.5, 0.0, -0.7))
    assert (rhodot[[0, 2]] == [0.5, -0.7]).all()
    p, u = from_hill(orbit, 0.0, rho, rhodot)
    r, v = orbit.state(0.0)
    own = Orbit.from_state(r + p, v + u, planet=orbit.planet)
    assert own.a == pytest.approx(orbit.a, rel=1e-14)
    y = np.concatenate([rho, rhodot])
    later = solve_ivp(
        lambda t, y: hill_rate(orbit, t, y), (0, orbit.period), y, method="DOP853", rtol=1e-13, atol=1e-10
    )
    np.testing.assert_allclose(later.y[:3, -1], rho, atol=1e-3)


# ---- attitude


def test_gravity_gradient_attitude_against_the_simulation():
    """A craft of three different moments, tilted by 1e-5 rad:
    three quarters of an orbit as the matrix exponential says.
    """
    J = np.array([1.0, 2.5, 3.0])
    craft, orbit = box(inertia=J), CIRCULAR
    A = gravity_gradient_attitude(J, orbit.n)
    alpha, alphadot = 1e-5 * np.array([1.0, -0.6, 0.8]), 1e-8 * np.array([0.5, 1.0, -0.7])
    R_NH, w_N = hill_frame(*orbit.state(0.0))
    R_HB = exp_so3(alpha)  # R_BH = 1 - alpha^
    w_B = R_HB.T @ (R_NH.T @ w_N) + alphadot
    q = np.concatenate([quat_from_rotation(R_NH @ R_HB), np.zeros(3)])
    t1 = 0.75 * orbit.period
    run = gs.simulate(
        craft, q, np.concatenate([w_B, np.zeros(3)]), (0, t1), environment=two_body_gravity(orbit), rtol=1e-13,
        atol=1e-16, save_at=[t1]
    )  # fmt: skip
    there = hill_frame(*orbit.state(t1)).R_NH.T @ rotation(run.q[0, :4])
    expected = expm(A * t1) @ np.concatenate([alpha, alphadot])
    np.testing.assert_allclose(log_so3(there), expected[:3], atol=2e-9)


def test_libration_of_a_long_body():
    """n sqrt(3k) and n sqrt(1 + 3k)."""
    n, J = 1e-3, np.array([1.0, 20.0, 20.0])
    k = 19 / 20
    in_plane, out = libration_periods(J, n)
    assert in_plane == pytest.approx(2 * np.pi / (n * np.sqrt(3 * k)))
    assert out == pytest.approx(2 * np.pi / (n * np.sqrt(1 + 3 * k)))
    assert libration_periods(np.diag(J), n) == (in_plane, out)


@pytest.mark.parametrize(
    ("inertia", "words"),
    [((3.0, 2.0, 1.0), "not stable"), ((1.0, 2.0), "three positive"), (np.ones((3, 3)), "principal moments")],
)
def test_bad_inertias(inertia, words):
    with pytest.raises(ValueError, match=words):
        libration_periods(inertia, 1e-3)


def test_traced_derivatives_give_the_same_matrix():
    """`jacobian_of` on differential gravity: the general way to any other linear model."""
    r = CIRCULAR.state(500.0).r

    def g(rho):
        return differential_gravity(CIRCULAR.planet.mu, r, rho)

    G = jacobian_of(g, "rho")(np.zeros(3))
    R, mu = np.linalg.norm(r), CIRCULAR.planet.mu
    expected = mu / R**3 * (3 * np.outer(r, r) / R**2 - np.eye(3))
    np.testing.assert_allclose(G, expected, atol=1e-20, rtol=1e-12)
