"""A phase sees its event, however briefly it shows."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import norm
from gyrostat.simulation.phase import Phase
from gyrostat.simulation.phases import simulate_phases


@pytest.mark.parametrize("passes_at", [0.237, 0.5, 0.861])
@pytest.mark.parametrize("lasts", [0.02, 0.005])
def test_a_fly_by_that_lasts_a_small_part_of_the_phase_ends_it(passes_at, lasts):
    """Straight ahead past the origin at 1 m: within reach for `lasts` of the phase.

    Free motion alone would be taken in a few steps.
    """
    craft = gs.Spacecraft.build("probe", [gs.Body("probe", 10.0, inertia=(1.0, 2.0, 3.0))])
    duration, speed, beside = 1000.0, 2.0, 1.0
    half = 0.5 * lasts * duration * speed
    reach = np.hypot(beside, half)
    q, v = gs.neutral(craft), np.array([0.0, 0.0, 0.0, speed, 0.0, 0.0])
    q[4:7] = -passes_at * duration * speed, beside, 0.0

    def near(craft, t, q, v):
        return norm(q[4:7]) - reach

    run = simulate_phases(craft, q, v, [Phase(duration, "approach", until=near)])
    assert run["approach"].happened
    assert run["approach"].end[0] == pytest.approx((passes_at - 0.5 * lasts) * duration, abs=1e-6 * duration)
