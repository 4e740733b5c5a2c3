"""A real satellite's orbit under everything at once: another integrator and formulation end at the same place."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.environment import (
    EARTH,
    GravityField,
    HarrisPriester,
    Orbit,
    PlanetCentered,
    Sky,
    Sphere,
    air_drag,
    combined,
    field_gravity,
    in_gcrf,
    solar_pressure,
    third_body_gravity,
    tle_ephemeris,
    two_body_gravity,
)

EPOCH, END = np.datetime64("2019-12-09T16:38:29.363"), 4 * 3600.0
SKY = Sky(str(EPOCH), END)
CRAFT = gs.Spacecraft.build("satellite", [gs.Body("hull", 1000.0, inertia=[700.0, 800.0, 900.0])])


@pytest.fixture(scope="module")
def start():
    lines = (
        "1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991",
        "2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482",
    )
    state = in_gcrf(tle_ephemeris(*lines, [EPOCH])).states[0]
    return state[:3], state[3:]


def field(degree):
    rng = np.random.default_rng(3)
    size = np.array([1e-5 / max(n, 1) ** 2 for n in range(degree + 1)])[:, None]
    C, S = (np.tril(rng.normal(size=(degree + 1,) * 2), k) * size for k in (0, -1))
    C[2, 0] = -EARTH.zonals[2] / np.sqrt(5.0)
    return GravityField("of chance", EARTH.mu, EARTH.radius, C, S)


def end(place, start, without="", **options):
    """Position in GCRF at the end."""
    surfaces, now = [Sphere("hull", 10.0)], place.state(0.0)
    parts = {
        "two bodies": lambda: two_body_gravity(place),
        "field": lambda: field_gravity(place, field(20)),
        "sun": lambda: third_body_gravity(place, SKY.sun),
        "moon": lambda: third_body_gravity(place, SKY.moon),
        "air": lambda: air_drag(place, surfaces, HarrisPriester(SKY.sun)),
        "light": lambda: solar_pressure(place, surfaces, SKY.sun, moon=SKY.moon),
    }
    q, v = gs.neutral(CRAFT), np.zeros(6)
    q[4:7], v[3:] = start[0] - now.r, start[1] - now.v
    environment = combined(*(make() for name, make in parts.items() if name != without))
    traj = gs.simulate(CRAFT, q, v, (0.0, END), environment=environment, save_at=[0.0, END], **options)
    return place.state(END).r + traj.q[-1, 4:7]


SHARP = {"rtol": 1e-13, "atol": 1e-9, "max_step": 5.0}  # s: none may step over a passage through the penumbra


def test_two_integrators_and_two_formulations_end_at_the_same_place(start):
    """Absolute positions by a method of order 8, and the difference from an ellipse by that of Gauss."""
    cowell = end(PlanetCentered(SKY.earth), start, **SHARP)
    encke = end(Orbit.from_state(*start, planet=SKY.earth), start, integrator="gauss16", **SHARP)
    assert np.linalg.norm(cowell - encke) < 1e-4  # of 110 000 km that were flown


def test_each_of_them_counts(start):
    """Left out, it is missed by what it is known to do in four hours (air: 3/2 a t^2, at 2 to 8e-12 kg/m^3)."""
    place = Orbit.from_state(*start, planet=SKY.earth)
    loose = {"rtol": 1e-9, "atol": 1e-5, "integrator": "gauss16"}
    whole = end(place, start, **loose)
    for name, least, most in (
        ("field", 1e4, 1e6),
        ("sun", 1.0, 30.0),
        ("moon", 1.0, 60.0),
        ("air", 300.0, 2000.0),
        ("light", 0.1, 6.0),
    ):
        assert least < np.linalg.norm(end(place, start, name, **loose) - whole) < most, name
