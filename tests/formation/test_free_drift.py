"""Ten members drift for ten orbits: every one keeps its orbit's invariants, and their relative motion is Kepler's."""

from __future__ import annotations

import numpy as np
import pytest

from exact import exact, mp
from formation_crafts import box
from gyrostat.environment import EARTH, Orbit, two_body_gravity
from gyrostat.formation import Formation, Group, simulate

MU = mp.mpf(EARTH.mu)
NAMES = [f"craft {k}" for k in range(10)]
ORBIT = Orbit.from_elements(7.1e6, 0.01, 0.9, 0.3, 0.2, 1.0)


def kepler(r, v, t):
    """Position after t seconds on the orbit through (r, v), to fifty digits: Lagrange's coefficients."""
    R, vr = mp.sqrt(r @ r), r @ v
    a = 1 / (2 / R - v @ v / MU)
    n = mp.sqrt(MU / a**3)
    ec, es = 1 - R / a, vr / mp.sqrt(MU * a)

    def equation(x):  # of the change x in eccentric anomaly
        return x - ec * mp.sin(x) + es * (1 - mp.cos(x)) - n * t

    x = mp.findroot(equation, n * t)
    f = 1 - a / R * (1 - mp.cos(x))
    g = t - (x - mp.sin(x)) / n
    return f * r + g * v


@pytest.fixture(scope="module")
def drift():
    """Members up to a kilometre from the reference orbit,
    bounded relative orbits and some drift, all of other masses.
    """
    rng = np.random.default_rng(1)
    formation = Formation({"swarm": Group(box(), NAMES, {"hull.mass": rng.uniform(5, 50, 10)})}, orbit=ORBIT)
    where = {}
    for name in NAMES:
        rho = rng.uniform(-550, 550, size=3)
        rhodot = np.array([0.2, 0.0, 0.2]) * rng.normal(size=3)
        rhodot[1] = -2 * ORBIT.n * rho[0] * rng.uniform(0.99, 1.01)
        where[name] = (rho, rhodot)
    state = formation.hill_state(where)
    times = np.linspace(0, 10 * ORBIT.period, 41)
    return simulate(
        formation, state, (0, times[-1]),
        environment=two_body_gravity(ORBIT, gradient_force=False, gradient_torque=False),
        save_at=times, rtol=1e-13, atol=1e-13,
    )  # fmt: skip


def test_energy_and_angular_momentum_of_every_member(drift):
    """Orbital energy and angular momentum about the planet's centre, to 1e-11; spin energy and momentum alike."""
    for name in NAMES:
        r, v = drift.absolute(name)
        energy = (v * v).sum(axis=1) / 2 - EARTH.mu / np.linalg.norm(r, axis=1)
        assert np.abs(energy / energy[0] - 1).max() < 1e-11
        h = np.cross(r, v)
        assert np.linalg.norm(h - h[0], axis=1).max() < 1e-11 * np.linalg.norm(h[0])
        member = drift.member(name)
        spin = np.einsum("tij,tj->ti", member.R_NB, member.v[:, :3] * np.array([0.4, 0.5, 0.7]))
        assert np.linalg.norm(spin - spin[0], axis=1).max() < 1e-11 * np.linalg.norm(spin[0])
        energy = (member.v[:, :3] ** 2 * np.array([0.4, 0.5, 0.7])).sum(axis=1)
        assert np.abs(energy / energy[0] - 1).max() < 1e-11


def test_relative_motion_is_keplers(drift):
    """Between members, within 1e-6 m after ten orbits, kilometres apart."""
    r0, v0 = (exact(x) for x in ORBIT.state(mp.mpf(0)))
    start = {name: (r0 + exact(drift.member(name).p_N[0]), v0 + exact(drift.member(name).v_N[0])) for name in NAMES}
    worst = 0.0
    for k in (10, 20, 40):
        t = mp.mpf(float(drift.time[k]))
        true = {name: kepler(*start[name], t) for name in NAMES}
        for name in NAMES[1:]:
            apart = (true[name] - true[NAMES[0]]).astype(float)
            found = drift.member(name).p_N[k] - drift.member(NAMES[0]).p_N[k]
            worst = max(worst, float(np.linalg.norm(found - apart)))
    assert worst < 1e-6
    spread = np.linalg.norm(drift.positions()[:, 0], axis=1).max()
    assert 500 < spread < 1000


def test_hill_coordinates(drift):
    """About the reference orbit, and about another member: distances are distances."""
    rho, _ = drift.hill("craft 3")
    np.testing.assert_allclose(
        np.linalg.norm(rho, axis=1), np.linalg.norm(drift.member("craft 3").p_N, axis=1), rtol=1e-12
    )
    rho, rhodot = drift.hill("craft 3", about="craft 1")
    apart = drift.member("craft 3").p_N - drift.member("craft 1").p_N
    np.testing.assert_allclose(np.linalg.norm(rho, axis=1), np.linalg.norm(apart, axis=1), rtol=1e-12)
    np.testing.assert_allclose(drift.hill("craft 1", about="craft 1")[0], 0, atol=1e-12)
    # along-track drift is what makes it leave: the cross-track motion stays within its first orbit's range
    assert np.abs(rho[:, 2]).max() < 3000
    assert rhodot.shape == (41, 3)
