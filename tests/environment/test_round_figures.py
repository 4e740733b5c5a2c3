"""Elements where an orbit is not round, and heights of the table of air."""

from __future__ import annotations

import numpy as np
import pytest

from gyrostat.environment import Orbit, atmosphere


@pytest.mark.parametrize("e", [0.05, 0.3, 0.7])
@pytest.mark.parametrize("anomaly", [-2.0, 0.4, 1.1, 3.0])
def test_the_true_anomaly_is_the_angle_from_the_pericentre(e, anomaly):
    """r = p / (1 + e cos nu), at the angle nu in the plane of the orbit."""
    a = 7.5e6 / (1.0 - e)
    r, v = Orbit.from_elements(a, e, true_anomaly=anomaly).state(0.0)
    size = a * (1 - e * e) / (1 + e * np.cos(anomaly))
    np.testing.assert_allclose(r, size * np.array([np.cos(anomaly), np.sin(anomaly), 0.0]), rtol=1e-11, atol=1e-5)
    assert np.sign(r @ v) == np.sign(np.sin(anomaly))  # outwards in the first half


def test_heights_of_the_table_of_air_are_round_and_its_air_thins():
    steps = np.diff(atmosphere._HEIGHTS)
    assert set(steps) == {10e3, 20e3, 40e3} and (atmosphere._HEIGHTS % 10e3 == 0).all()
    assert (np.diff(atmosphere._LOG_DENSITIES, axis=0) < 0).all()
