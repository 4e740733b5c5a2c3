"""Figures of a summary against what they stand for: bases in their places, last rows, wheels whose inertia is
dispersed, loads at their limits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import armed, box
from gyrostat.simulation.result.figures import CHIEF, figure, seen_from
from gyrostat.simulation.result.summary import Requirement


def test_every_base_has_its_own_rate_in_a_craft_of_several():
    both = gs.together("pair", [box("first"), box("second", inertia=(0.5, 0.5, 0.5))])
    v = np.zeros(both.nv)
    v[both.joint_named("second.hull").v_at.start + 2] = 0.3
    run = gs.simulate(both, None, v, (0.0, 1.0))
    found = {f.name: f for f in run.summary.figures}
    assert found["first, angular rate"].peak < 1e-12
    np.testing.assert_allclose(found["second, angular rate"].final, np.degrees(0.3), rtol=1e-9)


def test_the_final_figure_is_the_last_row_that_a_run_reached():
    values = np.array([[1.0, 3.0, 2.0, np.nan], [5.0, 4.0, 0.5, 0.25]])
    assert figure("f", values[0], "m").final == 2.0
    assert figure("f", values[1], "m").final == 0.25
    both = figure("f", values, "m", batched=True)
    assert (both.peak, both.final, both.run) == (5.0, 2.0, 1)


def test_momentum_of_a_wheel_on_a_slanted_axis_is_by_each_runs_own_inertia():
    """h = n J n |w|, products of inertia included."""
    axis = np.array([1.0, -2.0, 2.0]) / 3.0
    hull = gs.Body("hull", 40.0, (0, 0, 0), np.array([3.0, 4.0, 5.0]), joint=gs.Joint("hull", "free"))
    craft = gs.Spacecraft.build("craft", [hull, gs.Wheel("wheel", "hull", axis, 0.05)])
    body = craft.wheels[0]
    J = np.asarray(body.inertia, dtype=float)
    turned = np.stack([1.0 * J, 1.5 * J])
    at = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    own = np.array([[one[i] for i in at] for one in turned])
    v = np.zeros(craft.nv)
    v[body.joint.v_at] = 50.0
    run = gs.simulate(craft, None, np.stack([v, v]), (0.0, 0.5), parameters={f"{body.name}.inertia": own})
    peak = max(f.peak for f in run.summary.figures if f.name.startswith("wheel momentum"))
    np.testing.assert_allclose(peak, 50.0 * axis @ turned[1] @ axis, rtol=1e-9)


def test_a_requirement_says_in_words_whether_it_was_met():
    assert str(Requirement("miss", 0.1, 0.2, 0.1, True, "m")).startswith("met: miss")
    assert str(Requirement("miss", 0.3, 0.2, -0.1, False, "m")).startswith("NOT MET: miss")


def test_a_run_cut_by_its_count_of_steps_is_worth_a_look():
    with pytest.warns(gs.SimulationWarning, match="took 2 steps"):
        run = gs.simulate(box(), None, np.full(6, 0.1), (0.0, 100.0), max_steps=2, max_step=0.5)
    assert run.interrupted and run.summary.level == "fair", run.summary


def test_a_load_at_its_limit_saturates_nothing():
    craft = armed()
    limits = gs.Limits(effort=2.0)
    bodies = [replace(b, joint=replace(b.joint, limits=limits)) if b.joint.name == "elbow" else b for b in craft.bodies]
    craft = gs.Spacecraft.build("armed", bodies)
    at = craft.joint_named("elbow").v_at

    def law(craft, t, q, v, load):
        tau = np.zeros(craft.nv, dtype=object)
        tau[at] = load
        return tau

    def saturated(load):
        run = gs.simulate(craft, None, None, (0.0, 0.1), control=law, inputs={"load": load})
        return [s.joint for s in run.saturation]

    assert saturated(2.0) == []
    assert saturated(2.0 + 1e-9) == ["elbow"]
    for load, joints in ((2.0, []), (2.1, ["elbow"])):  # so are loads that are given from step to step
        sim = gs.Simulation(craft, record=True)
        sim.reset()
        sim.step(craft.v({"elbow": load}, "tau"), 0.1)
        assert [s.joint for s in sim.trajectory().saturation] == joints


def test_followers_of_a_formation_are_told_as_seen_from_their_chief():
    run = gs.simulate(box("alone"), None, np.full(6, 0.1), (0.0, 0.1))
    assert seen_from(run, "alone") == ""
    run.data.attrs[CHIEF] = "leader"
    assert seen_from(run, "leader") == "" and seen_from(run, "follower") == ", seen from leader"
