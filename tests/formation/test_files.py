"""A formation's flight in one file: read back, it is the same flight, and goes on as the one in memory would."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import armed, box
from gyrostat.control.transfers import Impulse
from gyrostat.environment import two_body_gravity
from gyrostat.formation import Formation, FormationTrajectory, Group, simulate, simulate_impulses
from gyrostat.io.results_read import ResultError

ORBIT = gs.Orbit.from_elements(7.2e6, 0.01, 0.9, 0.3, 0.2, 0.4)


def formation():
    pair = Group(box(), ("b one", "b/two"), {"hull.mass": np.array([8.0, 11.0])})
    return Formation({"a": armed(), "pair": pair}, orbit=ORBIT)


@pytest.fixture(scope="module")
def flown():
    here = formation()
    places = {"a": np.zeros(3), "b one": np.array([3.0, -20.0, 1.0]), "b/two": np.array([0.0, 25.0, -4.0])}
    impulses = {"b one": [Impulse(2.0, np.array([0.1, 0.2, -0.05]))], "a": [Impulse(3.5, np.array([0.0, 0.02, 0.0]))]}
    options = {"environment": two_body_gravity(ORBIT), "save_at": np.linspace(0.0, 6.0, 13)}
    push = {"a": lambda craft, t, q, v: 0.05 * np.ones(craft.nv)}
    return simulate_impulses(here, here.hill_state(places), (0.0, 6.0), impulses, control=push, **options)


@pytest.fixture(scope="module")
def again(flown, tmp_path_factory):
    return FormationTrajectory.load(flown.save(tmp_path_factory.mktemp("flight") / "flight.nc"))


def test_what_is_read_is_what_was_flown(flown, again):
    assert again.formation.names == flown.formation.names
    for name in flown.formation:
        mine, theirs = again.member(name), flown.member(name)
        np.testing.assert_array_equal(mine.q, theirs.q)
        np.testing.assert_array_equal(mine.v, theirs.v)
        assert mine.craft.bodies[0].mass == theirs.craft.bodies[0].mass
        for found, expected in zip(again.hill(name, about="a"), flown.hill(name, about="a"), strict=True):
            np.testing.assert_array_equal(found, expected)
    for g in flown.groups:
        np.testing.assert_array_equal(again.groups[g].tau, flown.groups[g].tau)
        assert again.groups[g].audit.worst == pytest.approx(flown.groups[g].audit.worst, abs=1e-15)
    assert len(again.legs) == len(flown.legs) == 3
    assert again.closest_approach() == flown.closest_approach()
    assert str(again.summary) == str(flown.summary)


def test_impulses_and_thrust_are_counted(flown, again):
    """Constant force: the change of velocity is its size over the mass, times the time."""
    for run in (flown, again):
        spent = {b.member: b for b in run.budgets}
        assert spent["b one"].by_impulses == pytest.approx(np.sqrt(0.1**2 + 0.2**2 + 0.05**2), rel=1e-12)
        assert (spent["b one"].impulses, spent["b one"].by_thrust) == (1, 0.0)
        mass = sum(body.mass for body in run.formation.craft("a").bodies)
        assert spent["a"].by_thrust == pytest.approx(6.0 * np.sqrt(3) * 0.05 / mass, rel=1e-12)
        assert spent["a"].total == pytest.approx(spent["a"].by_thrust + 0.02, rel=1e-12)
        assert spent["b/two"].total == 0.0
    tree = flown.tree("b/two")
    row = list(tree.data["craft"].values).index("b one")
    np.testing.assert_array_equal(tree.data["velocity_spent"].values[row] > 0, flown.time >= 2.0)
    told = [h for h in tree.summary.happened if h.what == "impulse"]
    assert [(h.t, h.name) for h in told] == [(2.0, "b one"), (3.5, "a")]
    np.testing.assert_array_equal(tree.data["relative_position"].values[row], flown.hill("b one", about="b/two")[0])


def test_a_flight_that_was_read_goes_on_bit_for_bit(tmp_path):
    here = formation()
    state = here.hill_state({"a": np.zeros(3), "b one": np.ones(3), "b/two": -np.ones(3)})
    options = {"environment": two_body_gravity(ORBIT), "control": {"a": lambda craft, t, q, v: -0.3 * v}}
    whole = simulate(here, state, (0.0, 4.0), save_at=[0.0, 4.0], **options)
    with pytest.warns(gs.SimulationWarning, match="took 4 steps"):
        half = simulate(here, state, (0.0, 4.0), save_at=[0.0, 4.0], max_steps=4, **options)
    assert half.interrupted
    read = FormationTrajectory.load(half.save(tmp_path / "half.nc"))
    done = simulate(read.formation, resume=read, **options)
    for g in here.groups:
        np.testing.assert_array_equal(done.groups[g].final[0], whole.groups[g].final[0])
        np.testing.assert_array_equal(done.groups[g].final[1], whole.groups[g].final[1])


def test_the_wrong_door_is_named(flown, tmp_path):
    path = flown.save(tmp_path / "flight.nc")
    with pytest.raises(ResultError, match="Load it with FormationTrajectory.load"):
        gs.Trajectory.load(path)
    one = flown.groups["a"].save(tmp_path / "one.nc")
    with pytest.raises(ResultError, match="is in format 'gyrostat-2'; expected 'gyrostat-formation-1'"):
        FormationTrajectory.load(one)
    path.write_bytes(path.read_bytes()[:-200] + b"x" * 200)
    with pytest.raises(ResultError, match="was changed or cut short"):
        FormationTrajectory.load(path)
    with pytest.raises(ValueError, match="is saved as .nc"):
        flown.save(tmp_path / "flight.mat")
