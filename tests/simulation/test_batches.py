"""What each run of a batch has of its own: parameters, inputs, numbers."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
import manoeuvre
from gyrostat.simulation.engine.block import lane_count

LANES = lane_count()

RUNS = LANES + 3


def test_dispersed_parameters_are_the_crafts_own():
    craft, q, v = manoeuvre.start()
    rng = np.random.default_rng(0)
    masses, coms = 50 + 5 * rng.normal(size=RUNS), np.array([1.2, 0, 0]) + 0.05 * rng.normal(size=(RUNS, 3))
    inertias = np.array([1434.0, 0, 0, 1434, 0, 1735]) + rng.normal(size=(RUNS, 6))
    parameters = {"link_3.mass": masses, "link_2.com": coms, "base.inertia": inertias, "joint_2.damping": 3.0}
    times = np.linspace(0, 5, 6)
    batch = gs.simulate(craft, q, v, (0, 5), control=manoeuvre.pd, parameters=parameters, save_at=times)
    assert batch.batched and batch.q.shape == (RUNS, 6, 13)
    momentum, energy, poses = batch.momentum(), batch.kinetic_energy(), batch.poses()
    for k in (0, RUNS - 1):
        own = {"link_3.mass": masses[k], "link_2.com": coms[k], "base.inertia": inertias[k], "joint_2.damping": 3.0}
        other = craft.with_values(own)
        alone = gs.simulate(other, q, v, (0, 5), control=manoeuvre.pd, save_at=times)
        np.testing.assert_allclose(batch.q[k], alone.q, atol=1e-9)
        np.testing.assert_allclose(batch.v[k], alone.v, atol=1e-9)
        np.testing.assert_allclose(batch.tau[k], alone.tau, atol=1e-6)
        np.testing.assert_allclose(momentum[k], alone.momentum(), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(energy[k, 3], gs.kinetic_energy(other, batch.q[k, 3], batch.v[k, 3]), rtol=1e-12)
        np.testing.assert_allclose(poses.p_NB[k], alone.poses().p_NB, atol=1e-8)
    assert batch.audit.worst < 1e-8
    one = gs.simulate(craft, q, v, (0, 5), control=manoeuvre.pd, parameters={"link_3.mass": 44.0}, save_at=times)
    assert not one.batched
    conserved = gs.simulate(craft, q, v, (0, 5), parameters=parameters, conserve="momentum", rtol=1e-5, save_at=times)
    assert max(conserved.audit.linear, conserved.audit.angular) < 1e-13


def test_inputs_by_name():
    craft, q, v = manoeuvre.start()
    seen = {}

    def law(craft, t, q, v, stiffness, target, run, seed):
        seen["shapes"] = np.shape(stiffness), np.shape(target)
        return np.concatenate([np.zeros(6), stiffness * (target - q[7:]) - 10.0 * v[6:] + 0.0 * run * seed])

    targets = np.random.default_rng(1).normal(scale=0.1, size=(RUNS, 6))
    stiffness = np.linspace(1, 2, RUNS)
    batch = gs.simulate(
        craft, np.array([q] * RUNS), v, (0, 2), control=law, inputs={"stiffness": stiffness, "target": targets}
    )
    assert seen["shapes"] == ((), (6,))
    for k in (0, RUNS - 1):
        alone = gs.simulate(craft, q, v, (0, 2), control=law, inputs={"stiffness": stiffness[k], "target": targets[k]})
        np.testing.assert_array_equal(batch.q[k], alone.q)
    shared = gs.simulate(
        craft, np.array([q] * 3), v, (0, 2), control=law, inputs={"stiffness": 1.0, "target": targets[:1]}
    )
    np.testing.assert_array_equal(shared.q[1], batch.q[0])
    with pytest.raises(
        ValueError, match=r"inputs\['target'\] has shape \(6,\); expected one value for all runs, or 3 of them"
    ):
        gs.simulate(craft, np.array([q] * 3), v, (0, 2), control=law, inputs={"stiffness": 1.0, "target": targets[0]})


def test_an_environment_may_ask_for_what_a_law_may_ask_for():
    craft, q, v = manoeuvre.start()
    v[:] = 0.0

    def push(craft, t, q, v, force, sample):
        rows = np.zeros((craft.nbodies - 1, 6))
        return np.concatenate([[np.concatenate([np.zeros(3), [force * (1.0 + sample), 0.0, 0.0]])], rows])

    control = gs.Controller(lambda craft, t, q, v: np.zeros(craft.nv), period=1.0)
    traj = gs.simulate(
        craft, q, v, (0, 3), control=control, environment=push, inputs={"force": 2.0}, save_at=[1.0, 2.0, 3.0]
    )
    # a force in the base's axes, which turns: its impulse is not 2 (1 + 2 + 3) quite, its size over each second is
    impulse = traj.data["impulse"].values[:, 3:]
    steps = np.linalg.norm(np.diff(np.vstack([np.zeros(3), impulse]), axis=0), axis=1)
    np.testing.assert_allclose(steps, [2.0, 4.0, 6.0], rtol=1e-4)
    np.testing.assert_array_equal(traj.data["sample"].values, [1, 2, 3])


def test_samples_are_where_they_should_be_however_periods_round():
    """0.1 s is no binary fraction: 101 samples in 10 s, each counted once, whatever else stops the integrator there."""
    craft, q, v = manoeuvre.start()

    def count(craft, t, q, v, z, sample):
        return np.concatenate([np.zeros(6), np.zeros(6)])

    control = gs.Controller(
        count, [0.0, 0.0], update=lambda craft, t, q, v, z, sample: np.array([z[0] + 1.0, sample]), period=0.1
    )
    times = np.arange(101) * 0.1
    for options in ({}, {"breakpoints": np.linspace(0, 10, 101)}, {"integrator": "rk4", "step": 0.05}):
        traj = gs.simulate(craft, q, v, (0, 10), control=control, save_at=times, **options)
        np.testing.assert_array_equal(traj.data["held_z"].values[:, 0], np.arange(1, 102))
        np.testing.assert_array_equal(traj.data["held_z"].values[:, 1], np.arange(101))
    shifted = gs.simulate(craft, q, v, (5.0, 6.0), control=control, save_at=[5.0, 5.95])
    np.testing.assert_array_equal(shifted.data["sample"].values, [0, 9])


def test_leading_axes_are_runs():
    craft, q, v = manoeuvre.start()
    traj = gs.simulate(craft, np.broadcast_to(q, (2, 3, 13)), np.broadcast_to(v, (3, 12)), (0, 1), save_at=[1.0])
    assert traj.q.shape == (6, 1, 13) and list(traj.data["run"].values) == list(range(6))
    numbered = gs.simulate(craft, np.array([q, q]), v, (0, 1), runs=[40, 41], save_at=[1.0])
    assert list(numbered.data["run"].values) == [40, 41]
