"""The right-hand side is made once; whatever users may change between two calls makes another one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulation.problem.equations import Equations
from manoeuvre import start

CRAFT, Q, V = start()
GAIN = {"rate": 1.0, "pull": 0.1}


def law(craft, t, q, v):
    return np.concatenate([np.zeros(6), -GAIN["rate"] * v[6:]])


def environment(craft, t, q, v):
    return np.array([[0.0, 0.0, GAIN["pull"], 0.0, 0.0, 0.0]] * craft.nbodies)


def end(craft=CRAFT, **options):
    run = gs.simulate(craft, Q, V + 0.01, (0, 1), save_at=[1.0], **options)
    return np.concatenate(run.final)


@pytest.fixture
def traced(monkeypatch):
    """How often the right-hand side has been run on symbols."""
    counts = []
    rhs = Equations.rhs
    monkeypatch.setattr(Equations, "rhs", lambda self, x: (counts.append(x.dtype == object), rhs(self, x))[1])
    return counts


def test_it_is_made_once_for_the_same_craft_laws_and_settings(traced):
    craft = CRAFT.with_values({"link_3.mass": 41.0})
    first = end(craft, control=law, environment=environment)
    made = len(traced)
    again = [end(craft, control=law, environment=environment) for _ in range(3)]
    assert made >= 1 and len(traced) == made
    for y in again:
        np.testing.assert_array_equal(y, first)
    np.testing.assert_array_equal(end(craft, control=lambda *a: law(*a), environment=environment), first)


@pytest.mark.parametrize("name", GAIN)
def test_what_a_law_reads_from_outside_counts_at_each_call(monkeypatch, name):
    first = end(control=law, environment=environment)
    monkeypatch.setitem(GAIN, name, 0.5)
    second = end(control=law, environment=environment)
    assert np.abs(second - first).max() > 1e-4
    monkeypatch.undo()
    np.testing.assert_array_equal(end(control=law, environment=environment), first)


@pytest.mark.parametrize(
    "options",
    [
        {"actuators": gs.Actuators(lag=0.1)},
        {"actuators": gs.Actuators(lag=0.2)},
        {"prescribed": {"joint_2": lambda t: 0.1 * t}},
        {"environment": environment},
        {"control": None},
        {"craft": CRAFT.with_values({"base.mass": 1000.0})},
        {"craft": CRAFT.with_values({"base.mass": 1001.0})},
        {"parameters": {"link_3.mass": 44.0}},
    ],
)
def test_other_settings_are_another_system(options):
    """Each differs from the plain run and agrees with itself, in whatever order they come."""
    plain, run = end(control=law), {"control": law, **options}
    first = end(**run)
    assert np.abs(first - plain).max() > 1e-9
    np.testing.assert_array_equal(end(control=law), plain)
    np.testing.assert_array_equal(end(**run), first)


def test_a_prescribed_motion_is_read_anew():
    rate = [0.1]
    runs = []
    for x in (0.1, 0.4):
        rate[0] = x
        runs.append(end(control=law, prescribed={"joint_2": lambda t: rate[0] + 0.0 * t}))
    assert np.abs(runs[1] - runs[0]).max() > 1e-3


@pytest.mark.parametrize(
    "first, second",
    [
        ({"actuators": gs.Actuators(lag=0.1)}, {"actuators": gs.Actuators(lag=0.2)}),
        ({"stops": gs.Stops(stiffness=1e3)}, {"stops": gs.Stops(stiffness=2e3)}),
        ({"formulation": "recursive"}, {"formulation": "lie_lagrange"}),
    ],
)
def test_settings_of_the_same_shape_are_told_apart(first, second):
    """Formulations agree, but not to the last bit."""
    limits = gs.Limits(lower=-0.3, upper=0.3)  # where it stands, moving outwards
    tight = [
        replace(b, joint=replace(b.joint, limits=limits)) if b.joint.name == "joint_1" else b for b in CRAFT.bodies
    ]
    craft = gs.Spacecraft.build("tight", tight)
    assert (end(craft, control=law, **first) != end(craft, control=law, **second)).any()


def test_motions_of_joints_with_several_coordinates_are_known_again(traced):
    craft = gs.Spacecraft.build(
        "ball",
        [
            gs.Body("hub", 9.0, inertia=(1.0, 2.0, 2.5)),
            gs.Body("arm", 2.0, (0.2, 0.1, 0.3), (0.1, 0.2, 0.2), gs.Joint("ball", "spherical", "hub", (0.5, 0, 0))),
        ],
    )
    runs, made = [], []
    for _ in range(2):
        turn = {"ball": lambda t: np.array([0.1, 0.2 * t, -0.3])}
        runs.append(gs.simulate(craft, t_span=(0.0, 0.5), prescribed=turn))
        made.append(len(traced))
    assert made[0] == made[1] > 0
    np.testing.assert_array_equal(runs[0].v, runs[1].v)
    np.testing.assert_allclose(runs[0].v[-1, 6:], [0.05, 0.025, -0.15], atol=1e-9)
