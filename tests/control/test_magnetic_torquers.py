"""B-dot in Earth's field."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import box
from gyrostat.algebra import rotation
from gyrostat.control import Imperfection, b_dot
from gyrostat.environment import Sky

ORBIT_TURNS = 3


@pytest.mark.parametrize(
    ("craft", "rate", "gain", "limit", "period"),
    [
        (box("6U", 12.0, (0.09, 0.14, 0.19)), 0.15, 2e5, 0.3, 0.5),
        (box("large", 3000.0, (2400.0, 3100.0, 3900.0)), 0.01, 5e9, 400.0, 4.0),
    ],
    ids=["6U", "3000 kg"],
)
def test_it_detumbles(craft, rate, gain, limit, period):
    sky = Sky("2025-03-07", 20000.0)
    orbit = gs.Orbit.circular(500e3, 1.7, planet=sky.earth)
    law = b_dot(orbit, sky.magnetic_field, gain, limit, period, magnetometer=Imperfection(noise=2e-8))
    v = np.zeros(6)
    v[:3] = rate * np.array([0.6, -0.64, 0.48])
    end = ORBIT_TURNS * orbit.period
    traj = gs.simulate(
        craft, None, v, (0.0, end), control=law, integrator="rk4", step=period, save_at=np.linspace(0.0, end, 61)
    )
    w = np.linalg.norm(traj.data["v"].values[:, :3], axis=1)
    assert w[-1] < 3 * 2 * np.pi / orbit.period  # the field itself turns twice an orbit
    # no torquer pushes along the field
    t = float(traj.time[3])
    q = traj.data["q"].values[3]
    tau = law.output(craft, t, q, v, np.full(3, 1e-5), run=0, sample=5, seed=0)
    B = rotation(q[:4]).T @ sky.magnetic_field(t, orbit.state(t).r + q[4:7])
    assert abs(tau[:3] @ B) < 1e-12 * np.linalg.norm(tau[:3]) * np.linalg.norm(B)


def test_bad_gains_are_asked_about():
    with pytest.raises(ValueError, match="must be above zero"):
        b_dot(None, None, -1.0, 1.0, 1.0)
