"""The closest approach between saved times: straight lines, circles, swarms by brute force,
and velocities that jump.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from formation_crafts import box
from gyrostat.control.transfers import Impulse
from gyrostat.environment import Orbit, two_body_gravity
from gyrostat.formation import Formation, Group, simulate, simulate_impulses
from gyrostat.formation.approaches import closest


def test_a_fly_by_between_two_saved_times_is_found():
    """The second passes the first at 0.2 m after 3.7 s; saved are 0 and 10 s alone, when they are metres apart."""
    formation = Formation({"a": box(), "b": box()})
    state = formation.neutral()
    q, v = next(iter(state.values()))
    q[1, 4:7], v[1, 3:6] = [-3.7, 0.2, 0.0], [1.0, 0.0, 0.0]
    near = simulate(formation, state, (0, 10), save_at=[0.0, 10.0]).closest_approach()
    assert near.distance == pytest.approx(0.2, rel=1e-12) and near.time == pytest.approx(3.7, rel=1e-12)
    assert near.members == ("a", "b") and near.uncertainty < 1e-12


@pytest.mark.parametrize("rows", [9, 17, 33])
def test_on_curved_ways_the_error_is_what_is_said(rows):
    """Two circles of radii 1 and 1.5 about centres 4 apart, passed at other speeds: against a fine search."""
    time = np.linspace(0.0, 6.0, rows)

    def positions(t):
        a = np.stack([np.cos(t), np.sin(t), 0.1 * t], axis=-1)
        b = np.stack([2.6 - 1.5 * np.cos(1.3 * t - 1.1), 1.5 * np.sin(1.3 * t - 1.1), 0.3 - 0.05 * t], axis=-1)
        return np.stack([a, b])

    h = 1e-6
    found = closest(time, positions(time), (positions(time + h) - positions(time - h)) / (2 * h))
    fine = np.linspace(0.0, 6.0, 200_001)
    distance = np.linalg.norm(positions(fine)[0] - positions(fine)[1], axis=1)
    assert found is not None
    error = abs(found.distance - distance.min())
    assert error < found.uncertainty < 30 * error + 1e-4
    assert error < 0.05 * (8 / (rows - 1)) ** 4 * 2
    at_saved = np.linalg.norm(positions(time)[0] - positions(time)[1], axis=1).min()
    assert at_saved > distance.min() + 10 * error


@pytest.mark.parametrize("seed", range(5))
def test_swarms_against_brute_force(seed):
    """Thirty members on random cubics, which the interpolation reproduces exactly; some rows not reached."""
    rng = np.random.default_rng(seed)
    time = np.sort(rng.uniform(0, 10, 6))
    shape = rng.normal(size=(30, 4, 3)) * np.array([20.0, 6.0, 1.0, 0.1])[None, :, None]
    shape[:, 1] += [300.0, -100.0, 7.0]  # all fly along together

    def positions(t):
        return np.einsum("mpx,pt->mtx", shape, np.array([t**k for k in range(4)]))

    def velocities(t):
        return np.einsum("mpx,pt->mtx", shape[:, 1:], np.array([k * t ** (k - 1) for k in range(1, 4)]))

    p, v = positions(time), velocities(time)
    p[7, 4:] = np.nan
    found = closest(time, p, v)
    assert found is not None
    fine = np.linspace(time[0], time[-1], 40_001)
    every = positions(fine)
    every[7, :, :] = np.where((fine > time[3])[:, None], np.nan, every[7])
    best = min(
        (np.nanmin(np.linalg.norm(every[i] - every[j], axis=1)), (i, j))
        for i, j in itertools.combinations(range(30), 2)
    )
    assert found.pair == best[1]
    assert found.distance == pytest.approx(best[0], abs=1e-3) and found.distance <= best[0] + 1e-9


def test_members_that_meet_at_an_impulse():
    """The velocity jumps where they are nearest: the way in and the way out are looked at apart."""
    orbit = Orbit.circular(500e3, 0.9)
    formation = Formation({"pair": Group(box(), ("a", "b"))}, orbit=orbit)
    state = formation.hill_state({"a": [0.0, 0.0, 0.0], "b": ([0.0, -10.0, 3.0], [0.0, 0.5, 0.0])})
    burns = {"b": [Impulse(19.0, np.array([0.0, -1.0, 0.2]))]}
    options = {"environment": two_body_gravity(orbit), "rtol": 1e-11}
    coarse = simulate_impulses(formation, state, (0, 40), burns, save_at=[0.0, 10.0, 30.0, 40.0], **options)
    fine = simulate_impulses(formation, state, (0, 40), burns, save_at=np.linspace(0, 40, 4001), **options)
    near, true = coarse.closest_approach(), fine.closest_approach()
    assert near.distance == pytest.approx(true.distance, abs=1e-5) and near.time == pytest.approx(true.time, abs=0.02)
    assert len(coarse.time) == 4


def test_the_text_of_a_run_gives_the_refined_distance():
    formation = Formation({"swarm": Group(box(), ("a", "b"))})
    state = formation.neutral()
    state["swarm"][0][1, 4:7], state["swarm"][1][1, 3:6] = [-4.4, 0.25, 0.0], [1.0, 0.0, 0.0]
    run = simulate(formation, state, (0, 10), save_at=[0.0, 3.0, 10.0])
    assert "closest approach 0.25 m, a and b at 4.4 s" in str(run)
