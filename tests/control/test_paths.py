"""References over time: rates are derivatives, ends are met, limits are respected."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from gyrostat.algebra import Pose, dq_from_pose, dq_interpolate, log_so3, pose_from_dq, rotation
from gyrostat.control import (
    MinimumJerk,
    Quintic,
    Trapezoidal,
    arc,
    joint_path,
    line,
    scale_to_limits,
    screw_path,
    shortest_duration,
    slowed,
)

TIMINGS = [MinimumJerk(7.0, 1.0), Trapezoidal(7.0, 2.0, 1.0), Trapezoidal(7.0, 3.5, 1.0)]
X0 = Pose(rotation(np.array([0.9, 0.1, -0.3, 0.2])), np.array([0.4, -0.2, 0.7]))
X1 = Pose(rotation(np.array([0.2, 0.8, 0.3, -0.4])), np.array([-0.5, 0.6, 0.1]))


def derivative(f, t, h=1e-5):
    return (np.asarray(f(t + h)) - np.asarray(f(t - h))) / (2 * h)


@pytest.mark.parametrize("timing", TIMINGS)
def test_timings_run_from_rest_to_rest_with_true_rates(timing):
    assert timing(0.5) == (0.0, 0.0, 0.0)
    np.testing.assert_allclose(timing(9.0), (1.0, 0.0, 0.0), atol=1e-15)
    for t in (1.7, 2.6, 4.3, 6.1, 7.3):
        np.testing.assert_allclose(timing(t).rate, derivative(lambda x: timing(x).s, t), atol=1e-8)
        np.testing.assert_allclose(timing(t).acceleration, derivative(lambda x: timing(x).rate, t), atol=1e-6)


def test_peaks_are_what_the_closed_forms_say():
    t = np.linspace(1, 8, 20001)
    fast = MinimumJerk(7.0, 1.0)
    np.testing.assert_allclose(max(fast(x).rate for x in t), MinimumJerk.PEAK_RATE / 7, rtol=1e-7)
    np.testing.assert_allclose(max(fast(x).acceleration for x in t), MinimumJerk.PEAK_ACCELERATION / 49, rtol=1e-7)
    trapezoid = Trapezoidal(7.0, 2.0, 1.0)
    np.testing.assert_allclose(max(trapezoid(x).rate for x in t), 1 / 5)
    np.testing.assert_allclose(max(trapezoid(x).acceleration for x in t), 1 / 10)


def test_minimum_jerk_has_less_squared_jerk_than_its_neighbours():
    """Against perturbations with zero position, rate and acceleration at both ends: u^3 (1 - u)^3 a polynomial."""
    s = Polynomial([0, 0, 0, 10, -15, 6])
    ends = Polynomial([0, 0, 0, 1]) * Polynomial([1, -1]) ** 3
    rng = np.random.default_rng(0)

    def cost(x):
        squared = (x.deriv(3) ** 2).integ()
        return squared(1) - squared(0)

    for _ in range(5):
        bump = ends * Polynomial(rng.normal(size=3))
        np.testing.assert_allclose(cost(s + bump), cost(s) + cost(bump), rtol=1e-12)  # no first-order gain


def test_quintic_meets_both_ends_and_goes_on():
    rng = np.random.default_rng(2)
    begin, end = ([rng.normal(size=3) for _ in range(3)] for _ in range(2))
    path = Quintic(tuple(begin), tuple(end), 4.0, 2.0)
    for t, wanted in ((2.0, begin), (6.0, end)):
        for got, want in zip(path(t), wanted, strict=True):
            np.testing.assert_allclose(got, want, atol=1e-12)
    for t in (2.5, 4.4, 5.9):
        np.testing.assert_allclose(path(t).qdot, derivative(lambda x: path(x).q, t), atol=1e-8)
        np.testing.assert_allclose(path(t).qddot, derivative(lambda x: path(x).qdot, t), atol=1e-7)
    np.testing.assert_allclose(path(8.0).q, end[0] + 2.0 * end[1], atol=1e-12)
    rest = Quintic((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 7.0, 1.0)
    for t in (2.0, 5.0):
        np.testing.assert_allclose(rest(t), MinimumJerk(7.0, 1.0)(t), atol=1e-14)  # from rest to rest they are one


PATHS = {
    "line": lambda timing: line(X0, X1.p, timing),
    "line and turn": lambda timing: line(X0, X1.p, timing, R=X1.R),
    "arc": lambda timing: arc(X0, (0.1, 0.2, 0.3), (1, 2, -1), 1.9, timing),
    "arc and turn": lambda timing: arc(X0, (0.1, 0.2, 0.3), (1, 2, -1), 1.9, timing, turn=True),
    "screw": lambda timing: screw_path(X0, X1, timing),
}


@pytest.mark.parametrize("name", PATHS)
def test_twists_and_their_rates_belong_to_the_poses(name):
    path = PATHS[name](MinimumJerk(5.0))
    h = 1e-4
    for t in (0.8, 2.1, 4.0):
        at, before, after = path(t), path(t - h), path(t + h)
        w = (log_so3(after.X.R @ at.X.R.T) - log_so3(before.X.R @ at.X.R.T)) / (2 * h)
        v = (after.X.p - before.X.p) / (2 * h)
        np.testing.assert_allclose(at.twist, np.concatenate([w, v]), atol=1e-7)
        np.testing.assert_allclose(at.rate, (after.twist - before.twist) / (2 * h), atol=1e-7)


def test_paths_begin_and_end_where_they_should():
    for name in ("line and turn", "screw"):
        path = PATHS[name](MinimumJerk(5.0))
        for t, X in ((0.0, X0), (5.0, X1)):
            np.testing.assert_allclose(path(t).X.R, X.R, atol=1e-12)
            np.testing.assert_allclose(path(t).X.p, X.p, atol=1e-12)
    circle = PATHS["arc"](MinimumJerk(5.0))
    center = np.array([0.1, 0.2, 0.3])
    radius = np.linalg.norm(np.cross(X0.p - center, [1, 2, -1])) / np.sqrt(6)
    for t in (0.0, 1.0, 3.0, 5.0):
        r = circle(t).X.p - center
        np.testing.assert_allclose(np.linalg.norm(np.cross(r, [1, 2, -1])) / np.sqrt(6), radius)


def test_the_screw_is_the_dual_quaternions_interpolation():
    path = PATHS["screw"](MinimumJerk(5.0))
    for t in (1.0, 2.5, 3.9):
        X = pose_from_dq(dq_interpolate(dq_from_pose(X0), dq_from_pose(X1), MinimumJerk(5.0)(t).s))
        np.testing.assert_allclose(path(t).X.R, X.R, atol=1e-12)
        np.testing.assert_allclose(path(t).X.p, X.p, atol=1e-12)


def test_durations_respect_limits_and_no_more():
    distance, rates, accelerations = [1.0, -2.0, 0.3], [0.5, 0.4, 0.1], [0.2, 0.5, 0.1]
    T = shortest_duration(distance, rate=rates, acceleration=accelerations)
    path = joint_path(np.zeros(3), distance, MinimumJerk(T))
    t = np.linspace(0, T, 4001)
    used = np.concatenate(
        [
            np.abs([path(x).qdot for x in t]).max(axis=0) / rates,
            np.abs([path(x).qddot for x in t]).max(axis=0) / accelerations,
        ]
    )
    np.testing.assert_allclose(used.max(), 1.0, atol=1e-6)


def test_slowing_a_path_scales_rates_and_accelerations():
    path = Quintic(
        (np.zeros(2), np.array([0.1, 0.3]), np.zeros(2)), (np.array([2.0, -1.0]), np.zeros(2), np.zeros(2)), 3.0
    )
    factor = scale_to_limits(path, 3.0, rate=[0.5, 0.5], acceleration=[0.2, 0.4])
    slow = slowed(path, factor)
    t = np.linspace(0, 3.0 / factor, 4001)
    rates = np.abs([slow(x).qdot for x in t]).max(axis=0)
    accelerations = np.abs([slow(x).qddot for x in t]).max(axis=0)
    used = [*(rates / 0.5), *(accelerations / [0.2, 0.4])]
    np.testing.assert_allclose(max(used), 1.0, rtol=1e-4)
    np.testing.assert_allclose(slow(t[-1]).q, path(3.0).q)
    np.testing.assert_allclose(slow(1.0).qdot, derivative(lambda x: slow(x).q, 1.0), atol=1e-7)
    pose = slowed(PATHS["screw"](MinimumJerk(5.0)), 0.5)
    np.testing.assert_allclose(pose(4.0).twist, 0.5 * PATHS["screw"](MinimumJerk(5.0))(2.0).twist)


def test_a_ramp_longer_than_half_is_refused():
    with pytest.raises(ValueError, match="at most half"):
        Trapezoidal(4.0, 2.5)


@pytest.mark.parametrize("timing", [MinimumJerk(3.0, 1.5), Trapezoidal(3.0, 0.5, 1.5)])
def test_breakpoints_are_where_a_derivative_jumps(timing):
    """From rest to rest, begun at 1.5 s: smooth between the breakpoints it names, and not across each of them."""
    times = np.array(timing.breakpoints)
    assert times[0] == 1.5 and times[-1] == 4.5
    h = 1e-4
    for t in times:  # third derivative (minimum jerk) or second (trapezoidal) on both sides
        before = (timing(t - h).acceleration - timing(t - 2 * h).acceleration) / h
        after = (timing(t + 2 * h).acceleration - timing(t + h).acceleration) / h
        jump = abs(timing(t + h).acceleration - timing(t - h).acceleration)
        assert abs(after - before) > 1.0 or jump > 0.1
