"""The chain of errors that every instrument's reading goes through, and its memory, in compiled runs."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import box
from gyrostat.control import Imperfection, Instruments, Place, RateGyro
from gyrostat.control.sensor import Sampled

CRAFT, T = box(), 0.1
W = np.array([0.3, -0.2, 0.1])


def rates(gyro, samples, runs=1, seed=3, v=W):
    """Readings (runs, samples, 3) as a law got them, kept in its own memory; and what was fresh."""

    def keep(craft, t, q, v, z, *, gyro):
        return np.concatenate([gyro.value, [gyro.fresh]])

    law = gs.Controller(lambda craft, t, q, v, z: np.zeros(6), np.zeros(4), update=keep, period=T)
    control = Instruments(gyro=gyro).controller(law, craft=CRAFT)
    times = np.arange(samples) * T + 0.5 * T
    v0 = np.zeros((runs, 6))
    v0[:, :3] = v
    q0 = np.tile(gs.neutral(CRAFT), (runs, 1))
    traj = gs.simulate(
        CRAFT, q0, v0, (0.0, times[-1]), control=control, save_at=times, seed=seed, integrator="rk4", step=T
    )
    z = traj.data["held_z"].values
    return z[..., :3], z[..., 3]


def spinning(t):
    """The truth: the same run without instruments."""
    v = np.zeros(6)
    v[:3] = W
    return gs.simulate(CRAFT, None, v, (0.0, t[-1]), save_at=t, integrator="rk4", step=T).v[:, :3]


def test_scale_limit_and_rounding_come_in_that_order():
    errors = Imperfection(bias=[0.1, 0.0, 0.0], scale=[0.5, 0.0, -0.1], limit=0.5, quantum=0.07)
    read = errors(np.array([0.2, -3.0, 1.0]), Place())
    np.testing.assert_allclose(read, [0.42, -0.49, 0.49], atol=1e-15)


def test_each_run_draws_its_first_bias_once():
    read, _ = rates(RateGyro("hull", Imperfection(first_bias=1e-2)), 3, runs=300)
    off = read - read.mean(axis=0)
    assert np.abs(off[:, 1] - off[:, 0]).max() < 1e-12
    np.testing.assert_allclose(off[:, 0].std(axis=0), 1e-2, rtol=4 / np.sqrt(600))


def test_a_bias_that_walks_has_the_variance_of_a_walk():
    read, _ = rates(RateGyro("hull", Imperfection(walk=1e-3)), 200, runs=200, v=np.zeros(3))
    np.testing.assert_allclose(read[:, 0], 0.0, atol=1e-15)
    np.testing.assert_allclose(read[:, 199].std(axis=0), 1e-3 * np.sqrt(199 * T), rtol=4 / np.sqrt(400))
    steps = np.diff(read, axis=1)
    assert abs(np.mean(steps[:, 1:] * steps[:, :-1])) < 4e-6 * T / np.sqrt(steps.size)  # each step is a new one


def test_a_rate_gyro_has_the_allan_deviation_of_its_noise_and_walk():
    """sigma^2(m T) = noise^2 / m + walk^2 T (2 m^2 + 1)/(6 m): white samples, and a walk in steps."""
    noise, walk = 1e-3, 1e-3
    read, _ = rates(RateGyro("hull", Imperfection(noise=noise, walk=walk)), 1200, runs=8, v=np.zeros(3))
    for m, most in ((1, 0.03), (40, 0.12)):
        means = read[:, : 1200 // m * m].reshape(8, -1, m, 3).mean(axis=2)
        found = np.mean(np.diff(means, axis=1) ** 2) / 2
        assert abs(found / (noise**2 / m + walk**2 * T * (2 * m * m + 1) / (6 * m)) - 1) < 2 * most


def test_readings_arrive_as_much_later_as_was_said():
    exact, _ = rates(RateGyro("hull"), 12)
    late, fresh = rates(RateGyro("hull", Imperfection(delay=3 * T)), 12)
    np.testing.assert_array_equal(late[0, 3:], exact[0, :-3])
    np.testing.assert_array_equal(late[0, :3], np.tile(exact[0, 0], (3, 1)))
    np.testing.assert_array_equal(fresh[0], [0, 0, 0] + [1] * 9)


def test_slow_sensors_hold_their_last_reading():
    exact, _ = rates(RateGyro("hull"), 12)
    slow, fresh = rates(RateGyro("hull", Imperfection(every=4)), 12)
    np.testing.assert_array_equal(slow[0], exact[0, [0] * 4 + [4] * 4 + [8] * 4])
    np.testing.assert_array_equal(fresh[0], [1, 0, 0, 0] * 3)


def test_as_many_are_lost_as_was_said_and_the_last_stays():
    exact, _ = rates(RateGyro("hull"), 400, runs=3)
    read, fresh = rates(RateGyro("hull", Imperfection(lost=0.3)), 400, runs=3)
    assert abs(np.mean(fresh) - 0.7) < 4 * np.sqrt(0.21 / fresh.size)
    came = fresh.astype(bool)
    np.testing.assert_array_equal(read[came], exact[came])
    for k in range(1, 400):
        gone = ~came[:, k]
        np.testing.assert_array_equal(read[gone, k], read[gone, k - 1])
    assert (fresh[0] != fresh[1]).any()  # each run loses its own


def test_all_of_it_is_the_same_in_any_batch_and_when_a_run_goes_on():
    errors = Imperfection(noise=1e-3, walk=1e-3, first_bias=1e-2, delay=2 * T, every=2, lost=0.2, quantum=1e-5)

    def damp(craft, t, q, v):
        return np.concatenate([-0.4 * v[:3], np.zeros(3)])

    control = Instruments(gyro=RateGyro("hull", errors)).controller(damp, T, craft=CRAFT)
    v = np.concatenate([W, np.zeros(3)])
    options = {"control": control, "seed": 5, "integrator": "rk4", "step": T}
    alone = gs.simulate(CRAFT, None, v, (0, 6), save_at=[0, 3, 6], runs=7, **options)
    batch = gs.simulate(CRAFT, None, np.tile(v, (3, 1)), (0, 6), save_at=[0, 3, 6], runs=[6, 7, 8], **options)
    np.testing.assert_array_equal(batch.v[1], alone.v)
    assert np.abs(batch.v[0, -1] - batch.v[2, -1]).max() > 1e-6
    half = gs.simulate(CRAFT, None, v, (0, 3), save_at=[0, 3], runs=7, **options)
    on = gs.simulate(CRAFT, t_span=(0, 6), save_at=[0, 3, 6], resume=half)
    np.testing.assert_array_equal(on.v[-1], alone.v[-1])


def test_what_cannot_be_is_said():
    gyro = RateGyro("hull", Imperfection(walk=1e-3))
    with pytest.raises(TypeError, match="keeps a memory, whose size the craft tells. Give craft="):
        Instruments(gyro=gyro).controller(lambda craft, t, q, v: np.zeros(6), T)
    with pytest.raises(ValueError, match="keeps a memory from sample to sample"):
        Instruments(gyro=gyro).read(CRAFT, gs.neutral(CRAFT), np.zeros(6), Place())
    with pytest.raises(ValueError, match="delay of 0.25 s is 2.5 samples"):
        Sampled(RateGyro("hull", Imperfection(delay=0.25)), CRAFT, T)
    with pytest.raises(ValueError, match="two of them are called 'gyro'"):
        Instruments(gyro=RateGyro("hull"), more=[RateGyro("hull")])
    for wrong in ({"lost": 1.0}, {"every": 0}, {"noise": -1.0}, {"limit": 0.0}, {"delay": np.nan}):
        with pytest.raises(ValueError, match=f"imperfection: {next(iter(wrong))} is"):
            Imperfection(**wrong)
