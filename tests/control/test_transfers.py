"""Transfers between relative orbits: two impulses, and thrust that costs least."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid

from formation_crafts import armed, box
from gyrostat.control import Impulse, hill_thrust, kepler_motion, least_energy_transfer, two_impulses
from gyrostat.environment import Orbit, bounded_velocity, two_body_gravity
from gyrostat.formation import Formation, simulate, simulate_impulses

ORBIT = Orbit.circular(500e3, 0.9)
ELLIPTIC = Orbit.from_elements(7.5e6, 0.05, 0.9)


@pytest.mark.parametrize("orbit", [ORBIT, ELLIPTIC], ids=["circular", "elliptic"])
def test_two_impulses_in_the_true_motion(orbit):
    """A member 2 km away moves to a bounded orbit 500 m away within 40 minutes, and stays within centimetres for two
    orbits.
    """
    craft = box()
    formation = Formation({"a": craft}, orbit=orbit)
    rho0, rho1, t1 = np.array([200.0, -2000.0, 300.0]), np.array([100.0, 500.0, -50.0]), 2400.0
    u0 = bounded_velocity(orbit, 0.0, rho0)
    u1 = bounded_velocity(orbit, t1, rho1)
    state = formation.hill_state({"a": (rho0, u0)})
    burns = two_impulses(orbit, 0.0, t1, (rho0, u0), (rho1, u1))
    end = t1 + 2 * orbit.period
    times = np.array([0.0, 1000.0, t1, t1 + orbit.period, end])
    run = simulate_impulses(
        formation,
        state,
        (0, end),
        {"a": burns},
        save_at=times,
        environment=two_body_gravity(orbit, gradient_force=False),
        rtol=1e-12,
    )
    rho, rhodot = run.hill("a")
    np.testing.assert_allclose(rho[0], rho0, atol=1e-9)
    np.testing.assert_allclose(rho[2], rho1, atol=1e-5)
    np.testing.assert_allclose(rhodot[2], u1, atol=1e-8)
    np.testing.assert_allclose(rho[-1], rho1, atol=1e-2)
    linear = two_impulses(orbit, 0.0, t1, (rho0, u0), (rho1, u1), exact=False)
    reached, _ = kepler_motion(orbit, 0.0, t1, rho0, u0 + linear[0].dv_H)
    assert 1e-2 < np.linalg.norm(reached - rho1) < 5.0
    audit = run.groups["a"].audit
    assert audit.linear < 1e-10
    assert audit.energy < 1e-10


@pytest.mark.parametrize("seed", range(12))
def test_two_impulses_arrive_or_are_refused(seed):
    """From metres to 300 km, over part of a turn or more, on any ellipse: the true motion is where and as fast as it
    was asked to be.
    """
    rng = np.random.default_rng(seed)
    arrived = 0
    for _ in range(25):
        e = rng.choice([0.0, 0.01, 0.1, 0.3])
        orbit = Orbit.from_elements(rng.uniform(6.9e6, 9e6) / (1 - e), e, *rng.uniform(0, 3, size=4))
        size, t0 = 10 ** rng.uniform(1, 5.5), rng.uniform(0, 1000)
        rho0, rho1, u0, u1 = (
            size * rng.normal(size=3),
            size * rng.normal(size=3),
            rng.normal(size=3),
            rng.normal(size=3),
        )
        t1 = t0 + rng.uniform(0.05, 1.45) * orbit.period
        try:
            first, second = two_impulses(orbit, t0, t1, (rho0, u0), (rho1, u1))
        except ValueError as refused:
            assert "two impulses" in str(refused)
            continue
        rho, u = kepler_motion(orbit, t0, t1, rho0, u0 + first.dv_H)
        assert np.linalg.norm(rho - rho1) < 1e-6
        assert np.linalg.norm(u + second.dv_H - u1) < 1e-9
        arrived += 1
    assert arrived >= 22


def test_a_goal_that_cannot_be_reached_is_refused():
    with pytest.raises(ValueError, match="two impulses: 2e.07 m in 1000 s; the true motion .* exact=False"):
        two_impulses(ORBIT, 0.0, 1000.0, (np.zeros(3), np.zeros(3)), (np.array([0.0, 2e7, 0.0]), np.zeros(3)))
    with pytest.raises(ValueError, match="two impulses: start is .* three finite numbers each"):
        two_impulses(ORBIT, 0.0, 1000.0, (np.zeros(2), np.zeros(3)), (np.zeros(3), np.zeros(3)))


def test_several_impulses_at_one_instant_add_up():
    """Of one member and of two: as their sums; audits count all of them."""
    formation = Formation({"a": box(), "b": armed()}, orbit=ORBIT)
    state = formation.hill_state({"a": [0, 100.0, 0], "b": [0, -100.0, 0]})
    x, y, z = 0.1 * np.eye(3)
    options = {"environment": two_body_gravity(ORBIT), "rtol": 1e-11, "save_at": [0.0, 10.0, 30.0]}
    apart = {"a": [Impulse(10.0, x), Impulse(10.0, y), Impulse(10.0, -3 * z)], "b": [Impulse(10.0, y), Impulse(0.0, z)]}
    summed = {"a": [Impulse(10.0, x + y - 3 * z)], "b": [Impulse(0.0, z), Impulse(10.0, y)]}
    runs = [simulate_impulses(formation, state, (0, 30), burns, **options) for burns in (apart, summed)]
    for member in "ab":
        for one, other in zip(runs[0].hill(member), runs[1].hill(member), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-9)
    assert max(max(a.energy, a.linear) for a in runs[0].audits.values()) < 1e-9
    with pytest.raises(ValueError, match="at the very end of t_span .* Let it end later"):
        simulate_impulses(formation, state, (0, 30), {"a": [Impulse(30.0, x)]})
    with pytest.raises(ValueError, match="impulse of 'a' at 5.0 s is .*; expected three finite numbers"):
        simulate_impulses(formation, state, (0, 30), {"a": [Impulse(5.0, np.array([1.0, np.nan, 0.0]))]})


def test_impulses_of_several_members_at_their_own_times():
    formation = Formation({"a": box(), "b": armed()}, orbit=ORBIT)
    state = formation.hill_state({"a": [0, 100.0, 0], "b": [0, -100.0, 0]})
    burns = {
        "a": [Impulse(10.0, np.array([0.0, 0.0, 0.1]))],
        "b": [Impulse(0.0, np.array([0.0, 0.0, -0.2])), Impulse(20.0, np.zeros(3))],
    }
    run = simulate_impulses(formation, state, (0, 30), burns, environment=two_body_gravity(ORBIT))
    assert len(run.time) == 401
    _, u = run.hill("a")
    before, after = run.time < 10.0, run.time >= 10.0
    assert np.abs(u[before, 2]).max() < 1e-3
    assert u[after, 2][0] == pytest.approx(0.1, abs=1e-3)
    assert run.hill("b")[1][0, 2] == pytest.approx(-0.2, abs=1e-9)
    assert max(a.energy for a in run.audits.values()) < 1e-9
    with pytest.raises(ValueError, match="impulse of 'a' at 50.0 s lies outside"):
        simulate_impulses(formation, state, (0, 30), {"a": [Impulse(50.0, np.zeros(3))]})


def test_bad_transfers():
    x = (np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="two impulses: from 10.0 to 5.0 s; expected the end after the start"):
        two_impulses(ORBIT, 10.0, 5.0, x, x)
    with pytest.raises(ValueError, match="least_energy_transfer: from 10.0 to 10.0 s; expected the end after"):
        least_energy_transfer(ORBIT, 10.0, 10.0, x, x)
    with pytest.raises(ValueError, match="least_energy_transfer: end is .* three finite numbers each"):
        least_energy_transfer(ORBIT, 0.0, 10.0, x, (np.zeros(3), np.full(3, np.nan)))
    with pytest.raises(ValueError, match="a multiple of half the period"):
        two_impulses(ORBIT, 0.0, ORBIT.period, x, x)
    with pytest.raises(ValueError, match="expected a circular orbit"):
        least_energy_transfer(ELLIPTIC, 0.0, 100.0, x, x)


def test_least_energy_transfer_arrives_and_is_least():
    """Flown in the true field it arrives to what the linear model misses; its cost is below that of two impulses spread
    out.
    """
    craft = box()
    formation = Formation({"a": craft}, orbit=ORBIT)
    start, end, t1 = ([30.0, -50.0, 10.0], [0.0, 0.0, 0.0]), ([0.0, -10.0, 0.0], [0.0, 0.0, 0.0]), 1500.0
    u = least_energy_transfer(ORBIT, 0.0, t1, start, end)
    state = formation.hill_state({"a": start})
    law = hill_thrust(ORBIT, u, 10.0)
    run = simulate(formation, state, (0, t1), environment=two_body_gravity(ORBIT), control=law, rtol=1e-11)
    rho, rhodot = run.hill("a")
    np.testing.assert_allclose(rho[-1], end[0], atol=5e-3)  # separation^2 / radius, and what follows from it
    np.testing.assert_allclose(rhodot[-1], 0, atol=1e-5)
    assert not np.any(u(t1 + 1.0))
    assert not np.any(u(-1.0))
    # any other thrust that arrives costs more: add one that the linear model does not feel at the end
    times = np.linspace(0, t1, 3001)
    own = np.array([u(t) for t in times])
    detour = np.array(
        [
            a(t)
            for t in times
            for a in (
                least_energy_transfer(ORBIT, 0.0, t1 / 2, (np.zeros(3), np.zeros(3)), ([5.0, 0, 0], np.zeros(3))),
            )
        ]
    )
    back = least_energy_transfer(ORBIT, t1 / 2, t1, ([5.0, 0, 0], np.zeros(3)), (np.zeros(3), np.zeros(3)))
    other = own + detour + np.array([back(t) for t in times])
    assert trapezoid((other**2).sum(axis=1), times) > trapezoid((own**2).sum(axis=1), times)
    cross_term = trapezoid((own * (other - own)).sum(axis=1), times)
    assert abs(cross_term) < 1e-3 * trapezoid((own**2).sum(axis=1), times)
