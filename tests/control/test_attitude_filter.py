"""The attitude filter against the statistics that it promises, and against the Riccati equation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are
from scipy.stats import chi2

import gyrostat as gs
from formation_crafts import armed
from gyrostat.algebra import quat_exp, quat_multiply
from gyrostat.control import AttitudeFilter, Imperfection, IntegratingGyro, Place, StarTracker, attitude_error

T, RUNS, SIGMA = 0.1, 200, 0.05
GYRO = IntegratingGyro(angle_walk=3e-5, rate_walk=2e-5, bias=1e-3)
TRACKER = StarTracker(Imperfection(noise=(1e-4, 1e-4, 6e-4)))
START = np.array([0.8, 0.2, -0.4, 0.4])
CRAFT = armed()


def nothing(craft, t, q, v):
    return np.zeros(craft.nv)


def starts(runs, sigma, seed=7):
    rng = np.random.default_rng(seed)
    q = np.tile(gs.neutral(CRAFT), (runs, 1))
    for row in q:
        row[:4] = quat_multiply(START, quat_exp(sigma * rng.normal(size=3)))
    v = np.tile([0.03, -0.05, 0.02, 0, 0, 0, 0.02, -0.03, 5.0], (runs, 1))
    return q, v


def held(q, v, filt, times, law=nothing, seed=3):
    traj = gs.simulate(
        CRAFT, q, v, (0.0, times[-1]), control=filt.controller(law), save_at=times, integrator="rk4", step=T, seed=seed
    )
    return filt.report(traj.data["held_z"].values)


@pytest.fixture(scope="module")
def campaign():
    filt = AttitudeFilter(GYRO, TRACKER, T, every=5, start=START, sigma=SIGMA)
    return held(*starts(RUNS, SIGMA), filt, np.array([0.0, 5.05, 20.05, 60.05]))


def test_the_tracker_is_read_at_every_fifth_sample_alone():
    """In between the filter knows the attitude less well each time."""
    filt = AttitudeFilter(GYRO, TRACKER, T, every=5, start=START, sigma=SIGMA)
    sigma = held(*starts(1, SIGMA), filt, T * np.arange(13) + 0.05).sigma[0, :, :3]
    sharper = (np.diff(sigma, axis=0) < 0.0).all(axis=1)
    assert (np.flatnonzero(sharper) + 1).tolist() == [5, 10] and (np.diff(sigma, axis=0)[~sharper] > 0.0).all()


@pytest.mark.parametrize("k", [1, 2, 3])
def test_nees_and_nis_of_200_runs_are_within_their_95_percent_bounds(campaign, k):
    for found, n in ((campaign.nees, 6), (campaign.nis, 3)):
        low, high = chi2.ppf([0.025, 0.975], n * RUNS) / RUNS
        assert low < found[:, k].mean() < high


def test_errors_are_as_large_as_believed_and_the_bias_is_found(campaign):
    errors = np.concatenate([campaign.attitude_error, campaign.bias_error], axis=-1)[:, -1]
    spread = errors.std(axis=0) / campaign.sigma[:, -1].mean(axis=0)
    assert (np.abs(spread - 1.0) < 4 / np.sqrt(2 * RUNS)).all()
    assert (np.abs(errors.mean(axis=0)) < 4 * errors.std(axis=0) / np.sqrt(RUNS)).all()
    assert (campaign.sigma[:, -1, 3:] < 0.25 * GYRO.bias).all()


def test_it_converges_from_60_degrees():
    q, v = starts(4, 0.0)
    for k, row in enumerate(q):
        axis = np.eye(3)[k] if k < 3 else np.ones(3) / np.sqrt(3)
        row[:4] = quat_multiply(START, quat_exp(np.radians(60.0) * axis))
    filt = AttitudeFilter(GYRO, TRACKER, T, every=5, start=START, sigma=1.0)
    found = held(q, v, filt, np.array([0.0, 30.05]))
    assert (np.linalg.norm(found.attitude_error[:, -1], axis=1) < 2e-3).all()
    assert (np.abs(found.bias_error[:, -1]) < 5 * found.sigma[:, -1, 3:]).all()


def test_without_a_tracker_the_bias_is_never_found():
    filt = AttitudeFilter(GYRO, TRACKER, T, every=0, start=START, sigma=SIGMA)
    found = held(*starts(2, SIGMA), filt, np.array([0.0, 10.05, 40.05]))
    grown = np.sqrt(GYRO.bias**2 + GYRO.rate_walk**2 * 40.0)
    np.testing.assert_allclose(found.sigma[:, -1, 3:], grown, rtol=1e-9)
    assert (found.sigma[:, -1, :3] > found.sigma[:, 1, :3]).all()


def test_at_rest_the_covariance_settles_where_the_riccati_equation_says():
    filt = AttitudeFilter(GYRO, StarTracker(Imperfection(noise=1e-4)), T, every=1, start=START, sigma=SIGMA)
    q, v = starts(1, 0.0)
    found = held(q[0], 0.0 * v[0], filt, np.array([0.0, 200.05])).sigma[-1]
    F = np.array([[1.0, -T], [0.0, 1.0]])
    N2, K2 = GYRO.angle_walk**2, GYRO.rate_walk**2
    Q = np.array([[N2 * T + K2 * T**3 / 3, -K2 * T**2 / 2], [-K2 * T**2 / 2, K2 * T]])
    H, R = np.array([[1.0, 0.0]]), np.array([[1e-8]])
    before = solve_discrete_are(F.T, H.T, Q, R)
    after = before - before @ H.T @ H @ before / (before[0, 0] + R[0, 0])
    np.testing.assert_allclose(found[:3], np.sqrt(after[0, 0]), rtol=1e-3)
    np.testing.assert_allclose(found[3:], np.sqrt(after[1, 1]), rtol=1e-3)


def test_the_gyro_has_the_allan_deviation_of_its_walks():
    gyro = IntegratingGyro(angle_walk=1e-4, rate_walk=1e-4)
    filt = AttitudeFilter(gyro, TRACKER, T, every=0, start=START)
    q, v = starts(1, 0.0)
    times = np.arange(1, 20001) * T + 0.05
    w = held(q[0], 0.0 * v[0], filt, np.concatenate([[0.0], times])).rate[1:]
    for m, most in ((1, 0.03), (100, 0.15)):
        mean = w[: len(w) // m * m].reshape(-1, m, 3).mean(axis=1)
        allan = np.sqrt(0.5 * np.mean(np.diff(mean, axis=0) ** 2))
        tau = m * T
        expected = np.sqrt(gyro.angle_walk**2 / tau + gyro.rate_walk**2 * tau / 3)
        assert abs(allan / expected - 1.0) < most
    assert np.abs(np.corrcoef(np.diff(w, axis=0).T) - np.eye(3)).max() < 0.05


def test_a_law_flies_on_estimates_by_one_call():
    def law(craft, t, q, v):
        e = attitude_error(q[:4], START)
        return np.concatenate([2.0 * e - 8.0 * v[:3], np.zeros(craft.nv - 3)])

    filt = AttitudeFilter(GYRO, TRACKER, T, every=5, start=START, sigma=SIGMA)
    q, v = starts(2, SIGMA)
    traj = gs.simulate(
        CRAFT,
        q,
        0.1 * v,
        (0.0, 120.0),
        control=filt.controller(law),
        integrator="rk4",
        step=T,
        seed=3,
        save_at=[0, 120.0],
    )
    final = traj.data["q"].values[:, -1, :4]
    for row in final:
        assert 2 * np.arccos(min(1.0, abs(row @ START) / np.linalg.norm(START))) < 5e-3


def test_bad_filters_are_asked_about():
    with pytest.raises(ValueError, match="weighs its readings"):
        AttitudeFilter(GYRO, StarTracker(), T)
    with pytest.raises(ValueError, match="angle_walk is -1"):
        IntegratingGyro(angle_walk=-1)
    with pytest.raises(TypeError, match="memory of its own"):
        AttitudeFilter(GYRO, TRACKER, T).controller(gs.Controller(nothing, period=T))


def test_a_report_of_one_sample_is_that_of_many():
    filt = AttitudeFilter(GYRO, TRACKER, T, start=START)
    z = filt.step(CRAFT, gs.neutral(CRAFT), np.zeros(CRAFT.nv), filt.memory, Place(3, 0, 0))
    one, many = filt.report(z), filt.report(np.stack([z, z]))
    for a, b in zip(one, many, strict=True):
        assert (np.asarray(b) == np.asarray(a)).all()
        assert np.shape(b) == (2, *np.shape(a))
