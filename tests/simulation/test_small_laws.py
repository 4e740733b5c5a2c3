"""Laws of small parts of a run: its dense output, its saved times, what it is audited by, where it is restored to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import gyrostat as gs
from formation_crafts import box
from gyrostat.constraints import distance
from gyrostat.environment import uniform_gravity
from gyrostat.simulation.integrators.method import hermite
from laws import servicer_like, state


def test_dense_output_by_hermite_is_exact_for_every_cubic():
    """y = 1 + 2 t - 3 t^2 + 5 t^3 on (0, 1): its slopes at the ends, and a stage that brings it to y(1) - y(0) = 4."""
    K = np.array([2.0, 4.0, 11.0])
    weights = hermite((0.0, 1.0))
    for theta in (0.1, 0.5, 0.8, 1.0):
        rise = sum(w * k for w, k in zip(weights(theta), K, strict=True) if w is not None)
        np.testing.assert_allclose(rise, 2 * theta - 3 * theta**2 + 5 * theta**3, rtol=1e-14)


def test_runs_of_many_fixed_steps_save_a_few_hundred_of_them():
    craft = box()
    run = gs.simulate(craft, None, np.full(6, 0.1), (0.0, 1.0), integrator="rk4", step=1e-3)
    assert 200 < len(run.time) <= 401
    np.testing.assert_allclose(np.diff(run.time)[:-1], 3e-3, rtol=1e-9)  # every third of 1000


def test_a_pendulum_that_a_rod_holds_swings_at_the_root_of_gravity_over_its_length():
    """A free box on a rod from the ground to its centre of mass: w^2 = g / l, both ways."""
    craft, g, length = box(), 9.81, 0.7
    q = np.array([1.0, 0, 0, 0, 0.0, 0.0, -length])
    rod = [distance("N", craft.bodies[0].name, length)]
    found = gs.linearize(craft, q, None, constraints=rod, environment=uniform_gravity((0, 0, -g)))
    swings = np.sort(np.abs(np.linalg.eigvals(found.A).imag))[-4:]
    np.testing.assert_allclose(swings, np.sqrt(g / length), rtol=1e-7)


def test_an_audit_by_saved_times_counts_springs_as_stored():
    craft = servicer_like(1)
    q, v = state(craft, 1)
    run = gs.simulate(craft, q, v, (0.0, 5.0), rtol=1e-12)
    saved = replace(run, data=run.data.drop_vars(["audited", "audited_name"]))
    assert saved.audit.energy < 1e-9 and saved.audit.linear < 1e-9


def test_a_new_simulation_that_is_restored_has_started():
    first, second = gs.Simulation(box(), step=0.1), gs.Simulation(box(), step=0.1)
    first.reset(None, np.full(6, 0.1))
    first.step(np.zeros(6))
    second.restore(first.snapshot())
    assert "not started" not in repr(second)
    second.step(np.zeros(6))
    first.step(np.zeros(6))
    np.testing.assert_array_equal(second.q, first.q)
