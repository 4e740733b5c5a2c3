"""A perturbed path as the way of N's origin: members fly as they do about any other origin."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import rotation
from gyrostat.environment import (
    EARTH,
    NumericalOrbit,
    Orbit,
    PlanetCentered,
    Sphere,
    air_drag,
    combined,
    two_body_gravity,
    zonal_gravity,
)
from gyrostat.tracing import Kernel, trace

START = Orbit.from_elements(6.9e6, 0.01, 1.1, 0.4, 2.0, 1.0)
CRAFT = gs.Spacecraft.build("satellite", [gs.Body("hull", 200.0, inertia=[70.0, 80.0, 90.0])])
END = 8000.0
OPTIONS = {"rtol": 1e-13, "atol": 1e-10, "max_step": 30.0}


def outer(place):
    return combined(two_body_gravity(place), zonal_gravity(place, 4), air_drag(place, [Sphere("hull", 2.0)]))


def flown(place, p, u, save_at):
    now = place.state(0.0)
    at = START.state(0.0)
    q, v = gs.neutral(CRAFT), np.zeros(6)
    q[4:7], v[3:] = at.r + p - now.r, at.v + u - now.v
    return gs.simulate(CRAFT, q, v, (0.0, END), environment=outer(place), save_at=save_at, **OPTIONS)


@pytest.fixture(scope="module")
def reference():
    times = np.linspace(0.0, END, 161)
    run = flown(PlanetCentered(), np.zeros(3), np.zeros(3), times)
    v = [rotation(q[:4]) @ v[3:] for q, v in zip(run.q, run.v, strict=True)]
    return NumericalOrbit.through(run.time, run.q[:, 4:7], v)


def test_it_goes_through_what_it_was_given_and_fits_between(reference):
    ellipse = START
    times = np.linspace(0.0, END, 161)
    r, v = (np.array([getattr(ellipse.state(t), x) for t in times]) for x in "rv")
    made = NumericalOrbit.through(times, r + 1e3 * np.sin(times / 900.0)[:, None] * [1.0, -0.4, 0.2],
                                  v + np.cos(times / 900.0)[:, None] * [1 / 0.9, -0.4 / 0.9, 0.2 / 0.9])  # fmt: skip
    for t in (0.0, 50.0, 1234.5, 7999.0, END):
        off = 1e3 * np.sin(t / 900.0) * np.array([1.0, -0.4, 0.2])
        np.testing.assert_allclose(made.state(t).r, ellipse.state(t).r + off, atol=2e-8)
        drift = np.cos(t / 900.0) / 0.9 * np.array([1.0, -0.4, 0.2])
        np.testing.assert_allclose(made.state(t).v, ellipse.state(t).v + drift, atol=1e-9)
        bend = -off / 900.0**2 - gravity(ellipse.state(t).r + off) + gravity(ellipse.state(t).r)
        np.testing.assert_allclose(made.perturbation(t), bend, atol=2e-9)
    kernel = Kernel(trace(lambda t: made.perturbation(t), None, inputs={"t": ()}))
    np.testing.assert_allclose(kernel(1234.5), made.perturbation(1234.5), atol=1e-11)


def gravity(r):
    return -EARTH.mu * r / np.linalg.norm(r) ** 3


def test_a_craft_that_feels_the_same_stays_at_the_origin(reference):
    run = flown(reference, np.zeros(3), np.zeros(3), [0.0, END])
    assert np.linalg.norm(run.q[-1, 4:7]) < 1e-5  # of 60 000 km that were flown, with 1 km of J2


def test_a_member_flies_as_about_an_ellipse(reference):
    p, u = np.array([300.0, -200.0, 500.0]), np.array([0.1, 0.3, -0.2])
    ends = [place.state(END).r + flown(place, p, u, [0.0, END]).q[-1, 4:7] for place in (reference, START)]
    np.testing.assert_allclose(*ends, atol=1e-4)
    assert np.linalg.norm(START.state(END).r - ends[0]) > 1e3


def test_what_it_cannot_be_is_said(reference):
    t = np.linspace(0.0, 100.0, 5)
    r, v = np.tile([7e6, 0.0, 0.0], (5, 1)), np.tile([0.0, 7.5e3, 0.0], (5, 1))
    with pytest.raises(ValueError, match="not evenly spaced"):
        NumericalOrbit.through([0.0, 1.0, 2.0, 4.0, 5.0], r, v)
    with pytest.raises(ValueError, match="n at least 4"):
        NumericalOrbit.through(t[:3], r[:3], v[:3])
    with pytest.raises(ValueError, match=r"known from 0 s to 8000 s"):
        gs.simulate(CRAFT, None, None, (0.0, 9000.0), environment=two_body_gravity(reference))
