"""Everything that perturbs an orbit, at once and compiled."""

from __future__ import annotations

import numpy as np

import gyrostat as gs
from formation_crafts import armed
from gyrostat.environment import (
    HarrisPriester,
    Orbit,
    Plate,
    Sphere,
    air_drag,
    box_plates,
    combined,
    harmonic_gravity,
    moon,
    solar_pressure,
    sun,
    third_body_gravity,
    two_body_gravity,
    zonal_gravity,
)
from gyrostat.tracing import compile


def test_everything_compiles_to_what_numpy_says():
    orbit = Orbit.from_elements(6.9e6, 0.01, 0.9, 0.3)
    craft = armed()
    C, S = np.zeros((3, 3)), np.zeros((3, 3))
    C[2, 2], S[2, 2] = 1.57e-6, -9.0e-7
    light = sun("2030-06-01")
    surfaces = [
        *box_plates("hull", (1, 1, 1)),
        Plate("lower", 0.5, (0, 0, 1), (0.3, 0, 0), both_sides=True),
        Sphere("upper", 0.1),
    ]
    everything = combined(
        two_body_gravity(orbit), zonal_gravity(orbit), harmonic_gravity(orbit, C, S), third_body_gravity(orbit, light),
        third_body_gravity(orbit, moon("2030-06-01")), air_drag(orbit, surfaces, HarrisPriester(light)),
        solar_pressure(orbit, surfaces, light),
    )  # fmt: skip
    kernel = compile(everything.wrenches, craft)
    rng = np.random.default_rng(0)
    for t in (0.0, 1234.5, 3000.0):
        q = gs.step_configuration(craft, gs.neutral(craft), rng.normal(size=craft.nv))
        v = 0.1 * rng.normal(size=craft.nv)
        slow = everything.wrenches(craft, t, q, v)
        np.testing.assert_allclose(kernel(t, q, v), slow, rtol=1e-9, atol=1e-12 * np.abs(slow).max())
