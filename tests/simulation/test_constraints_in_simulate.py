"""`gs.simulate(constraints=...)`: closed loops under controllers with memory, actuators and in batches."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.constraints import residuals
from gyrostat.papers.forbes2019 import crafts
from gyrostat.simulation.constrained import simulate_constrained


@pytest.fixture(scope="module")
def four_bar():
    return crafts.four_bar()


def violation(traj, constraints):
    states = zip(traj.time, traj.q, traj.v, strict=True)
    return max(np.abs(residuals(traj.craft, t, q, v, constraints).position).max() for t, q, v in states)


def test_equals_the_constrained_run_and_shows_its_wrenches(four_bar):
    craft, constraints, q = four_bar

    def law(craft, t, q, v):
        return gs.joint_torques(craft, {"crank": 0.5 - 0.1 * v[6]})

    run = simulate_constrained(craft, q, None, (0, 3.0), constraints=constraints, control=law)
    traj = gs.simulate(craft, q, None, (0, 3.0), constraints=constraints, control=law)
    np.testing.assert_array_equal(traj.q, run.trajectory.q)
    np.testing.assert_allclose(traj.signals["wrenches"].values, run.loads().wrenches, atol=1e-10)


def test_a_controller_with_memory_and_lagging_motors_keeps_the_loop_closed(four_bar):
    craft, constraints, q = four_bar
    at = craft.joint_named("crank").v_at

    def output(craft, t, q, v, z):
        return gs.joint_torques(craft, {"crank": -2.0 * v[at] - 0.5 * z + 0.3})

    law = gs.Controller(output, [0.0], derivative=lambda craft, t, q, v, z: v[at])
    actuators = gs.Actuators(saturate=False, lag=0.2)
    traj = gs.simulate(craft, q, None, (0, 4.0), constraints=constraints, control=law, actuators=actuators, rtol=1e-11)
    assert violation(traj, constraints) < 1e-9
    assert traj.audit.worst < 1e-9
    assert np.ptp(traj.q[:, 7]) > 0.01


def test_it_goes_on_bit_for_bit(four_bar):
    craft, constraints, q = four_bar
    push = gs.joint_torques(craft, {"crank": 0.5})
    options = {"constraints": constraints, "control": lambda craft, t, q, v: push}
    whole = gs.simulate(craft, q, None, (0, 3.0), **options)
    with pytest.warns(gs.SimulationWarning, match="took 5 steps"):
        part = gs.simulate(craft, q, None, (0, 3.0), max_steps=5, **options)
    np.testing.assert_array_equal(gs.simulate(craft, resume=part).q, whole.q)


def test_bad_input(four_bar):
    craft, constraints, q = four_bar
    with pytest.raises(ValueError, match="cannot be combined with constraints"):
        gs.simulate(craft, q, None, (0, 1), constraints=constraints, conserve="momentum")
    moved = q.copy()
    moved[7] += 0.1
    with pytest.raises(ValueError, match="does not hold at the start"):
        gs.simulate(craft, moved, None, (0, 1), constraints=constraints)
