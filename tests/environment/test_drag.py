"""Air: drag of spheres and plates, decay of an orbit, Harris and Priester's tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import armed, box
from gyrostat.algebra import quat_from_rotation, rotation
from gyrostat.environment import (
    EARTH,
    Exponential,
    HarrisPriester,
    Orbit,
    Plate,
    Sphere,
    air_drag,
    box_plates,
    combined,
    two_body_gravity,
)
from gyrostat.environment.atmosphere import _TABLE
from gyrostat.environment.drag import ballistic_coefficient, dynamic_pressure
from gyrostat.environment.ephemeris import Celestial


def still(craft, orbit, **changes):
    """A craft at the origin of N with inertial attitude."""
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    q[:4] = quat_from_rotation(changes.get("R", np.eye(3)))
    return q, v


def test_drag_of_a_sphere():
    """-1/2 rho C_d A |v| v in the air that turns with the planet."""
    orbit = Orbit.circular(400e3, 0.9)
    craft = box()
    q, v = still(craft, orbit)
    air = Exponential(3e-12, 400e3, 60e3)
    wrench = air_drag(orbit, [Sphere("hull", 2.0, (0.1, 0, 0))], air).wrenches(craft, 50.0, q, v)[0]
    r, w = orbit.state(50.0)
    r = r + [0.1, 0, 0]
    relative = w - np.cross([0, 0, EARTH.spin], r)
    rho = air(EARTH, 50.0, r)
    expected = -0.5 * rho * 2.2 * 2.0 * np.linalg.norm(relative) * relative
    np.testing.assert_allclose(wrench[3:], expected, rtol=1e-12)
    np.testing.assert_allclose(wrench[:3], np.cross([0.1, 0, 0], expected), atol=1e-20)
    assert dynamic_pressure(rho, relative) == pytest.approx(0.5 * rho * relative @ relative)


def test_drag_of_a_plate_on_a_body_that_turns_and_swings():
    """The plate's own velocity counts, by rotation too: here as the rate of its centre's position,
    by differences of configurations.
    """
    orbit = Orbit.from_elements(6.8e6, 0.01, 0.9, 0.3, 0.2, 0.5)
    craft, air, t = armed(), Exponential(3e-12, 400e3, 60e3), 40.0
    rng = np.random.default_rng(3)
    q = gs.step_configuration(craft, gs.neutral(craft), rng.normal(size=craft.nv))
    v = 300.0 * rng.normal(size=craft.nv)  # rad/s and m/s: the plate's rotation is a tenth of its speed in orbit
    center, normal = np.array([0.3, -0.4, 0.5]), np.array([0.36, 0.48, 0.8])
    wrench = air_drag(orbit, [Plate("lower", 0.7, normal, center, drag=2.5, both_sides=True)], air).wrenches(
        craft, t, q, v
    )[2]
    assert craft.bodies[2].name == "lower"

    def place(dt):
        X = gs.forward_kinematics(craft, gs.step_configuration(craft, q, dt * v))
        return X.R_NB[2], X.p_NB[2] + X.R_NB[2] @ center

    h = 1e-7
    own = (place(h)[1] - place(-h)[1]) / (2 * h)
    R, p = place(0.0)
    s = orbit.state(t)
    relative = s.v + own - np.cross([0, 0, EARTH.spin], s.r + p)
    area = 0.7 * abs(R @ normal @ relative) / np.linalg.norm(relative)
    expected = R.T @ (-0.5 * air(EARTH, t, s.r + p) * 2.5 * area * np.linalg.norm(relative) * relative)
    np.testing.assert_allclose(wrench[3:], expected, rtol=1e-6)
    np.testing.assert_allclose(wrench[:3], np.cross(center, expected), rtol=1e-6, atol=1e-6 * np.abs(wrench[:3]).max())
    without = air_drag(orbit, [Plate("lower", 0.7, normal, center, drag=2.5, both_sides=True)], air).wrenches(
        craft, t, q, 0 * v
    )
    assert np.linalg.norm(wrench[3:] - without[2, 3:]) > 0.02 * np.linalg.norm(wrench[3:])


def test_drag_of_plates():
    """A box in the stream has the drag of its projected area; a panel edge-on none; the far side of a plate none."""
    orbit = Orbit.circular(400e3)
    craft = box()
    air = Exponential()
    for seed in range(4):
        R = rotation(np.random.default_rng(seed).normal(size=4))
        q, v = still(craft, orbit, R=R)
        size = np.array([1.0, 2.0, 3.0])
        force = R @ air_drag(orbit, box_plates("hull", size), air).wrenches(craft, 0.0, q, v)[0, 3:]
        sphere = air_drag(orbit, [Sphere("hull", 1.0)], air).wrenches(craft, 0.0, q, v)[0, 3:]
        u = -R @ sphere / np.linalg.norm(sphere)
        area = np.abs(R.T @ u) @ (np.prod(size) / size)
        # faces sit up to 2 m from the centre: air density and speed differ by parts in 1e5 there
        np.testing.assert_allclose(force, area * (R @ sphere), rtol=1e-4, atol=1e-4 * np.abs(sphere).max() * area)
    q, v = still(craft, orbit)
    u = -sphere_direction(orbit, craft, q, v)
    across = np.cross(u, [0.0, 0.0, 1.0])
    for normal, both, share in ((u, False, 1.0), (-u, False, 0.0), (-u, True, 1.0), (across, True, 0.0)):
        plate = air_drag(orbit, [Plate("hull", 1.0, normal, both_sides=both)], air).wrenches(craft, 0.0, q, v)[0, 3:]
        whole = air_drag(orbit, [Sphere("hull", 1.0)], air).wrenches(craft, 0.0, q, v)[0, 3:]
        np.testing.assert_allclose(plate, share * whole, atol=1e-12 * np.abs(whole).max())


def sphere_direction(orbit, craft, q, v):
    force = air_drag(orbit, [Sphere("hull", 1.0)]).wrenches(craft, 0.0, q, v)[0, 3:]
    return force / np.linalg.norm(force)


def test_drag_lowers_the_orbit():
    """da/dt = -rho v a / (ballistic coefficient) on a circular orbit over a planet that does not turn."""
    planet = replace(EARTH, spin=None, flattening=0.0)
    orbit = Orbit.circular(300e3, planet=planet)
    craft = box(mass=50.0)
    air = Exponential(2e-11, 300e3, 50e3)
    surface = Sphere("hull", 1.0)
    environment = combined(two_body_gravity(orbit), air_drag(orbit, [surface], air))
    run = gs.simulate(craft, None, None, (0, orbit.period), environment=environment, rtol=1e-12)
    s, q, v = orbit.state(run.time[-1]), run.q[-1], run.v[-1]
    r, w = s.r + q[4:7], s.v + rotation(q[:4]) @ v[3:]
    a = 1 / (2 / np.linalg.norm(r) - w @ w / planet.mu)
    speed = np.sqrt(planet.mu / orbit.a)
    expected = -2e-11 * speed * orbit.a / ballistic_coefficient(50.0, surface) * orbit.period
    assert a - orbit.a == pytest.approx(expected, rel=0.02)
    assert expected < -50


def test_arm_in_the_stream():
    """Only the bodies that carry surfaces are loaded, each about its own origin."""
    orbit = Orbit.circular(400e3)
    craft = armed()
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    q[7] = 0.7
    rows = air_drag(orbit, [Plate("lower", 0.5, (0, 1, 0), (0.3, 0, 0), both_sides=True)]).wrenches(craft, 0.0, q, v)
    assert rows[2].any()
    assert not rows[[0, 1, 3]].any()
    with pytest.raises(ValueError, match="no body 'sail'"):
        air_drag(orbit, [Sphere("sail", 1.0)]).wrenches(craft, 0.0, q, v)


def test_harris_priester():
    """Table values under the bulge and opposite to it; the bulge lags two hours behind the Sun."""
    shining = Celestial("Sun", 1.3e20, 7e8, lambda t: np.array([1.5e11, 0.0, 0.0]))
    air = HarrisPriester(shining, n=2.0)
    round_earth = replace(EARTH, flattening=0.0)
    c, s = np.cos(np.radians(30)), np.sin(np.radians(30))
    for height, least, greatest in ((400e3, 2.249e-12, 7.492e-12), (800e3, 7.069e-15, 8.059e-14)):
        R = EARTH.radius + height
        assert air(round_earth, 0.0, R * np.array([c, s, 0.0])) == pytest.approx(greatest, rel=1e-6)
        assert air(round_earth, 0.0, -R * np.array([c, s, 0.0])) == pytest.approx(least, rel=1e-6)
        side = air(round_earth, 0.0, R * np.array([-s, c, 0.0]))
        assert side == pytest.approx((least + greatest) / 2, rel=1e-6)
    between = air(round_earth, 0.0, (EARTH.radius + 410e3) * np.array([c, s, 0.0]))
    assert between == pytest.approx(np.sqrt(7.492e-12 * 5.684e-12), rel=1e-6)


def test_the_bulge_lags_in_the_equators_plane_wherever_the_sun_is():
    """Thirty degrees east of the Sun, at the Sun's declination: densest there, and thinnest opposite; n sharpens it."""
    s = np.array([-0.48, 0.6, 0.64])
    shining = Celestial("Sun", 1.3e20, 7e8, lambda t: 1.5e11 * s)
    round_earth, R = replace(EARTH, flattening=0.0), EARTH.radius + 400e3
    angle = np.arctan2(s[1], s[0]) + np.radians(30)
    bulge = np.array([np.hypot(s[0], s[1]) * np.cos(angle), np.hypot(s[0], s[1]) * np.sin(angle), s[2]])
    rng = np.random.default_rng(1)
    for n in (2.0, 6.0):
        air = HarrisPriester(shining, n=n)
        assert air(round_earth, 0.0, R * bulge) == pytest.approx(7.492e-12, rel=1e-6)
        for _ in range(5):
            u = rng.normal(size=3)
            u /= np.linalg.norm(u)
            expected = 2.249e-12 + (7.492e-12 - 2.249e-12) * np.cos(np.arccos(u @ bulge) / 2) ** n
            assert air(round_earth, 0.0, R * u) == pytest.approx(expected, rel=1e-6)


def test_the_table_of_densities_falls_smoothly():
    """A number typed wrong by more than a tenth stands out of the curve through its neighbours;
    greatest is never below least.
    """
    for column in (1, 2):
        h, rho = _TABLE[:, 0], np.log(_TABLE[:, column])
        assert (np.diff(h) > 0).all() and (np.diff(rho) < 0).all()
        for k in range(4, len(h) - 2):  # below 140 km density falls too fast for a cubic
            near = [k - 2, k - 1, k + 1, k + 2]
            through = np.polyval(np.polyfit(h[near] - h[k], rho[near], 3), 0.0)
            assert abs(through - rho[k]) < 0.1, (h[k], column)
    assert (_TABLE[:, 2] >= _TABLE[:, 1]).all()
    assert (np.isin(np.diff(_TABLE[:, 0]), [10, 20, 40])).all() and not (_TABLE[:, 0] % 10).any()
    assert list(_TABLE[[0, 1, -2, -1], 1]) == [497400.0, 24900.0, 0.001560, 0.001150]
    assert list(_TABLE[[0, 1, -2, -1], 2]) == [497400.0, 24900.0, 0.02360, 0.01810]


def test_the_faces_of_a_box_are_where_they_are():
    """Six faces about the centre, half an edge away, each with the area across it."""
    size, center = np.array([1.0, 2.0, 3.0]), np.array([0.1, -0.2, 0.4])
    plates = box_plates("hull", size, center, drag=2.5)
    assert len(plates) == 6 and {p.body for p in plates} == {"hull"} and {p.drag for p in plates} == {2.5}
    for plate in plates:
        axis = int(np.argmax(np.abs(plate.normal)))
        np.testing.assert_allclose(plate.center - center, plate.normal * size[axis] / 2)
        assert plate.area == pytest.approx(np.prod(size) / size[axis])
    assert sorted(tuple(p.normal) for p in plates) == sorted(tuple(s * e) for s in (1.0, -1.0) for e in np.eye(3))


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: air_drag(None, []), "air drag needs to know where N is"),
        (lambda: Plate("hull", 1.0, (0, 0, 0)), "normal .* is no direction"),
        (lambda: Plate("hull", 1.0, (0, 0, 1), specular=0.8, diffuse=0.4), "do not add up to more"),
    ],
)
def test_bad_input_is_refused(build, words):
    with pytest.raises(ValueError, match=words):
        build()
