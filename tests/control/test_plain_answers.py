"""What laws and sensors say of themselves, and plain values of what was not given."""

from __future__ import annotations

import numpy as np

from gyrostat.control import Imperfection, Place, kepler_motion, two_impulses
from gyrostat.control.control_moment_gyros import GyroReport
from gyrostat.environment import Orbit


def test_a_report_of_gyros_says_saturated_where_they_are_aligned_and_only_there():
    def words(used):
        return str(GyroReport(np.ones(2), 1.0, 0.0, np.array([0.1, used]), ()))

    assert "saturated" in words(0.99) and "saturated" not in words(0.5)


def test_a_reading_is_that_of_the_first_sample_of_the_first_run_of_seed_zero_unless_said():
    noisy = Imperfection(noise=1.0, channel="a")
    np.testing.assert_array_equal(noisy(np.zeros(3), Place()), noisy(np.zeros(3), Place(0, 0, 0)))
    for other in (Place(seed=1), Place(run=1), Place(sample=1)):
        assert (noisy(np.zeros(3), other) != noisy(np.zeros(3), Place())).all()


def test_linear_impulses_are_the_exact_ones_where_members_are_near():
    """They differ by separation^2 / radius."""
    orbit, t1 = Orbit.from_elements(7.5e6, 0.05, 0.9), 2400.0
    start, end = (np.array([2.0, -20.0, 3.0]), np.zeros(3)), (np.array([1.0, 5.0, -0.5]), np.array([1e-3, 0.0, 2e-3]))
    exact, linear = (two_impulses(orbit, 0.0, t1, start, end, exact=how) for how in (True, False))
    for one, other in zip(exact, linear, strict=True):
        np.testing.assert_allclose(other.dv_H, one.dv_H, atol=1e-6)
    _, rate = kepler_motion(orbit, 0.0, t1, start[0], start[1] + linear[0].dv_H)
    np.testing.assert_allclose(rate + linear[1].dv_H, end[1], atol=1e-6)
