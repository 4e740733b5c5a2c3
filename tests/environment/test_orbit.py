"""Kepler's equation, orbits and the Hill frame, against fifty digits and against integration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from exact import exact, mp
from gyrostat.environment import EARTH, MARS, MOON, Orbit, Planet, PlanetCentered, from_hill, hill_frame, to_hill
from gyrostat.environment.kepler import eccentric_anomaly, iterations_for
from gyrostat.tracing import Kernel, trace


@pytest.mark.parametrize("e", [0.0, 1e-4, 0.1, 0.5, 0.9, 0.97])
def test_keplers_equation(e):
    M = np.concatenate([np.linspace(-10.0, 40.0, 701), np.geomspace(1e-9, 1e-2, 60)])
    E = eccentric_anomaly(M, e)
    assert np.abs(E - e * np.sin(E) - M).max() < 1e-14
    for m, found in zip(M[::70], E[::70], strict=True):
        true = mp.findroot(lambda x, m=m: x - mp.mpf(e) * mp.sin(x) - mp.mpf(float(m)), float(found))
        assert abs(float(found - true)) * (1 - e) < 4e-15  # conditioned by 1 / (1 - e) at worst


def test_few_steps_suffice_for_the_orbits_of_satellites():
    """Each step costs a sine and a cosine in every evaluation."""
    assert iterations_for(1e-3) == 1
    assert iterations_for(0.1) <= 2
    assert iterations_for(0.9) <= 6


@pytest.mark.parametrize("e", [1e-9, 1e-3, 0.3, 0.8])
def test_orbit_through_a_state_and_its_motion(e):
    """The state it was made from, to round-off however small e is; then against integration of the two-body problem."""
    made = Orbit.from_elements(8e6 / (1 - e), e, 0.9, 2.0, -1.0, 2.5)
    t0 = 300.0
    r, v = made.state(t0)
    orbit = Orbit.from_state(r, v, t0)
    there = orbit.state(t0)
    np.testing.assert_allclose(there.r, r, atol=4e-9 / (1 - e))
    np.testing.assert_allclose(there.v, v, atol=4e-12 / (1 - e))
    mu, t1 = EARTH.mu, t0 + 1.3 * orbit.period

    def rhs(_, y):
        return np.concatenate([y[3:], -mu * y[:3] / np.linalg.norm(y[:3]) ** 3])

    y = solve_ivp(rhs, (t0, t1), np.concatenate([r, v]), method="DOP853", rtol=3e-14, atol=1e-9).y[:, -1]
    later = orbit.state(t1)
    np.testing.assert_allclose(later.r, y[:3], atol=3e-5)
    np.testing.assert_allclose(later.v, y[3:], atol=1e-7)


def test_invariants():
    """Energy and angular momentum at every point of the ellipse."""
    orbit = Orbit.from_elements(1.2e7, 0.4, 0.5, 1.0, 2.0, 0.3)
    for t in np.linspace(0, 2e4, 12):
        r, v = orbit.state(t)
        assert v @ v / 2 - EARTH.mu / np.linalg.norm(r) == pytest.approx(-EARTH.mu / (2 * orbit.a), rel=1e-14)
        np.testing.assert_allclose(np.cross(r, v), orbit.h * orbit.R_NP[:, 2], atol=1e-14 * orbit.h)
        f = orbit.true_anomaly(t)
        p = orbit.h**2 / EARTH.mu
        assert np.linalg.norm(r) == pytest.approx(p / (1 + 0.4 * np.cos(f)), rel=1e-13)
    assert orbit.true_anomaly(10 * orbit.period) == pytest.approx(orbit.true_anomaly(0.0) + 20 * np.pi, abs=1e-12)


def test_elements():
    """Ascending node, inclination and pericentre mean what they say."""
    orbit = Orbit.from_elements(7e6, 0.05, 0.9, 0.4, 0.0, 0.0)
    r, v = orbit.state(0.0)
    np.testing.assert_allclose(r, 7e6 * 0.95 * np.array([np.cos(0.4), np.sin(0.4), 0.0]), atol=1e-6)
    assert v[2] == pytest.approx(np.linalg.norm(v) * np.sin(0.9))
    h = np.cross(r, v)
    assert h[2] / np.linalg.norm(h) == pytest.approx(np.cos(0.9))
    circular = Orbit.circular(500e3, 0.9)
    assert circular.a == EARTH.radius + 500e3
    assert circular.period == pytest.approx(2 * np.pi * np.sqrt(circular.a**3 / EARTH.mu))


def test_compiled_orbit_is_the_same():
    orbit = Orbit.from_elements(9e6, 0.2, 0.9)
    kernel = Kernel(trace(lambda t: np.concatenate(orbit.state(t)), None, inputs={"t": ()}))
    t = np.linspace(0, 1e5, 50)
    np.testing.assert_allclose(kernel(t), [np.concatenate(orbit.state(x)) for x in t], rtol=1e-13, atol=1e-8)


def test_hill_frame():
    """Axes, rate and the transformation of a fixed inertial velocity, against differences of fifty digits."""
    orbit = Orbit.from_elements(8e6, 0.1, 0.9, 0.4, 0.1)
    t = 1000.0
    r, v = orbit.state(t)
    R_NH, w = hill_frame(r, v)
    np.testing.assert_allclose(R_NH.T @ R_NH, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(R_NH[:, 0], r / np.linalg.norm(r), atol=1e-15)
    assert R_NH[:, 1] @ v > 0
    assert w @ w == pytest.approx((orbit.h / (r @ r)) ** 2)
    p0, u = np.array([100.0, -50.0, 20.0]), np.array([0.1, 0.02, -0.03])
    rho, rhodot = to_hill(orbit, t, p0, u)
    p, v_N = from_hill(orbit, t, rho, rhodot)
    np.testing.assert_allclose(p, p0, atol=1e-12)
    np.testing.assert_allclose(v_N, u, atol=1e-15)
    h = mp.mpf(10) ** -12

    def rho_at(s):
        return to_hill(orbit, mp.mpf(t) + s, exact(p0) + s * exact(u), exact(u))[0]

    np.testing.assert_allclose(((rho_at(h) - rho_at(-h)) / (2 * h)).astype(float), rhodot, rtol=1e-11)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Orbit.circular(-100e3), "lies inside the planet"),
        (
            lambda: Orbit.circular(altitude=500),
            r"down to 500 m above Earth, into air where .* \(below 100000 m\). Lengths are in metres: 500 km are 500e3",
        ),
        (lambda: Orbit.from_elements(6.6e6, 0.02), "down to 89863.7 m above Earth"),
        (
            lambda: Orbit.circular(70e3, planet=MARS),
            r"above Mars, .* planet=dataclasses.replace\(MARS, dense_air=0.0\)",
        ),
        (lambda: Orbit.circular(500e3, inclination=51.6), r"inclination is 51.6; .* pi at most. .* np.radians\(51.6\)"),
        (lambda: Orbit.circular(500e3, inclination=-98.0), "inclination is -98; expected radians"),
        (lambda: Orbit.circular(500e3, 0.9, node=120.0), "node is 120; expected radians, 2 pi at most.* modulo 2 pi"),
        (lambda: Orbit.circular(500e3, 0.9, argument=45.0), "argument is 45; expected radians"),
        (lambda: Orbit.from_elements(7e6, 0.01, 0.9, 0.0, 270.0), "pericenter is 270; expected radians"),
        (lambda: Orbit.from_elements(7e6, 0.01, 0.9, 0.0, 0.0, 10.0), "true_anomaly is 10; expected radians"),
        (lambda: Orbit.circular(500e3, inclination=float("nan")), "inclination is nan; expected radians"),
        (lambda: Orbit.from_elements(7e6, 0.5), "pericentre at 3.5e.06 m .* lies inside the planet"),
        (lambda: Orbit.from_elements(7e6, 1.2), "no ellipse and no hyperbola; expected a > 0, .* or a < 0, e > 1"),
        (lambda: Orbit.from_elements(-7e6, 0.2), "no ellipse and no hyperbola"),
        (lambda: Orbit.from_elements(-3e7, 1.0), "no ellipse and no hyperbola"),
        (lambda: Orbit.from_elements(-3e7, 1.4, true_anomaly=2.5), "stays within 2.3664 rad of its pericentre"),
        (lambda: Orbit.from_elements(-3e7, 1.4).period, "has no period"),
        (lambda: Orbit.from_elements(-3e7, 1.01), "inside the planet"),
        (lambda: Orbit.from_state([7000, 0, 0], [0, 7.5, 0]), "inside it .* in metres"),
        (lambda: Orbit.from_state([7e6, 0, 0], [2e4, 0, 0]), "falls straight"),
        (lambda: Orbit.from_state([8e6, 0, 0], [0, np.sqrt(EARTH.mu / 4e6), 0]), "on a parabola"),
        (lambda: Orbit.from_state([7e6, 0], [0, 2e4, 0]), "expected three finite numbers"),
        (lambda: Planet("X", -1.0, 1.0), "planet 'X': mu -1.0"),
        (lambda: Planet("X", 1.0, 1.0).fixed_axes(0.0), "has no rotation"),
    ],
)
def test_bad_orbits_are_refused(build, words):
    with pytest.raises(ValueError, match=words):
        build()


def test_planet_centred_origin_stays():
    r, v = PlanetCentered().state(5.0)
    assert not r.any()
    assert not v.any()


def test_low_orbits_where_there_is_no_air_and_angles_of_a_whole_turn_pass():
    assert Orbit.circular(500.0, planet=MOON).a == MOON.radius + 500.0
    assert Orbit.circular(80.001e3, planet=MARS).a == MARS.radius + 80.001e3
    assert Orbit.circular(50e3, planet=replace(EARTH, dense_air=0.0)).a == EARTH.radius + 50e3
    assert Orbit.from_elements(7e6, 0.01, np.pi, 2 * np.pi, -2 * np.pi, 2 * np.pi).e == 0.01
