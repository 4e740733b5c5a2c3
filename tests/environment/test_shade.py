"""What a body keeps from the plates of another: shadows of boxes by geometry, and lift."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import quat_from_rotation, rotation
from gyrostat.environment import (
    Exponential,
    Orbit,
    Plate,
    Shade,
    Sphere,
    air_drag,
    box_plates,
    solar_pressure,
)
from gyrostat.environment.ephemeris import ASTRONOMICAL_UNIT, Celestial

ORBIT = Orbit.circular(500e3, 0.9)


def craft(position):
    joint = gs.Joint("hinge", "revolute", "hull", position, axis=(0.0, 0.0, 1.0))
    hull = gs.Body("hull", 100.0, inertia=[10.0, 12.0, 14.0], shapes=(gs.Shape("box", (1.0, 1.0, 1.0)),))
    wall = gs.Body("wall", 5.0, inertia=[1.0, 1.0, 1.0], joint=joint, shapes=(gs.Shape("box", (0.02, 2.0, 2.0)),))
    return gs.Spacecraft.build("shaded", [hull, wall])


def light_from(direction):
    u = np.asarray(direction) / np.linalg.norm(direction)
    return Celestial("Sun", 1.3e20, 7e8, lambda t: ORBIT.state(t).r + ASTRONOMICAL_UNIT * u)


def push(made, surfaces, direction, angle=0.0, **options):
    q = gs.neutral(made)
    q[7:] = angle
    environment = solar_pressure(ORBIT, surfaces, light_from(direction), eclipse=False, **options)
    return environment.wrenches(made, 0.0, q, np.zeros(made.nv))[0, 3:]


def test_a_wall_before_a_plate_takes_its_light():
    """3 m before the face x+ of the hull a wall of 2 m: whole shadow, none behind its back, half from aside."""
    made = craft((3.0, 0.0, 0.0))
    face = [Plate("hull", 1.0, (1.0, 0.0, 0.0), (0.5, 0.0, 0.0), specular=0.0, diffuse=0.0)]
    whole = push(made, face, (1.0, 0.0, 0.0))
    assert not push(made, face, (1.0, 0.0, 0.0), shade="wall").any()
    assert not push(made, face, (1.0, 0.0, 0.0), shade=("hull", "wall")).any()
    # a quarter turn of the wall leaves a strip of 2 cm of it: it falls between or on the middle rays
    np.testing.assert_allclose(
        push(made, face, (1.0, 0.0, 0.0), np.pi / 2, shade=Shade(("wall",), 4)), whole, rtol=1e-12
    )
    # the shadow's edge at y = 0 on the face: light comes from (2.5, -1, 0) about it
    for lift, part in ((1.0, 0.5), (0.75, 0.75), (1.25, 0.25), (0.4, 1.0), (1.6, 0.0)):
        aside = (2.5, lift, 0.0)  # the wall's edge y = 1 is 2.49 m before the face
        reached = push(made, face, aside, shade=Shade(("wall",), 24))[0] / push(made, face, aside)[0]
        edge = 1.0 - lift * 2.49 / 2.5
        expected = np.clip(0.5 - edge, 0.0, 1.0)
        assert reached == pytest.approx(expected, abs=0.045), part


def test_a_box_does_not_stand_before_its_own_faces():
    made = craft((30.0, 0.0, 0.0))
    plates = box_plates("hull", (1.0, 1.0, 1.0))
    for seed in range(3):
        direction = np.random.default_rng(seed).normal(size=3)
        np.testing.assert_allclose(
            push(made, plates, direction, shade="hull"), push(made, plates, direction), rtol=1e-12
        )


def test_behind_a_wall_no_wind_blows():
    made = craft((3.0, 0.0, 0.0))
    at = ORBIT.state(0.0)
    wind = at.v - np.cross([0, 0, ORBIT.planet.spin], at.r)
    x = wind / np.linalg.norm(wind)
    y = np.cross([0.1, 0.2, 0.9], x)
    R = np.stack([x, y / np.linalg.norm(y), np.cross(x, y / np.linalg.norm(y))], axis=1)
    q, v = gs.neutral(made), np.zeros(made.nv)
    q[:4] = quat_from_rotation(R)
    face = [Plate("hull", 1.0, (1.0, 0.0, 0.0), (0.5, 0.0, 0.0)), Sphere("hull", 0.5)]
    free = air_drag(ORBIT, face).wrenches(made, 0.0, q, v)[0, 3:]
    assert np.linalg.norm(free) > 1e-6
    assert not air_drag(ORBIT, face, shade="wall").wrenches(made, 0.0, q, v)[0, 3:].any()
    turned = air_drag(ORBIT, face, shade=("wall", "hull"))
    kernel = gs.compile(lambda craft, t, q, v: turned.wrenches(craft, t, q, v), made)
    q[7] = 1.45  # it stands before the middle third of the rays
    np.testing.assert_allclose(kernel(0.0, q, v), turned.wrenches(made, 0.0, q, v), rtol=1e-10, atol=1e-18)
    one = air_drag(ORBIT, face[:1]).wrenches(made, 0.0, q, v)
    np.testing.assert_allclose(turned.wrenches(made, 0.0, q, v), 2 / 3 * one, rtol=1e-9, atol=1e-18)


def test_what_casts_no_shadow_is_said():
    made = craft((3.0, 0.0, 0.0))
    bare = gs.Spacecraft.build("bare", [gs.Body("hull", 1.0, inertia=[1.0, 1.0, 1.0])])
    with pytest.raises(ValueError, match="body 'hull' of bare has no shapes"):
        push(bare, [Sphere("hull", 1.0)], (1.0, 0.0, 0.0), shade="hull")
    with pytest.raises(ValueError, match="boom"):
        push(made, [Sphere("hull", 1.0)], (1.0, 0.0, 0.0), shade="boom")
    with pytest.raises(ValueError, match="rays 0"):
        Shade(("hull",), 0)


def test_plates_that_accommodate_partly_have_lift():
    """Fully diffuse and cold: a coefficient of 2; a mirror: twice the normal part alone; between: in proportion."""
    made = craft((30.0, 0.0, 0.0))
    air = Exponential(3e-12, 500e3, 60e3)
    R = rotation(np.array([0.5, 0.4, -0.3, 0.2]))
    q, v = gs.neutral(made), np.zeros(made.nv)
    q[:4] = quat_from_rotation(R)

    def blown(**options):
        plate = Plate("hull", 1.5, (0.48, 0.6, 0.64), (0.1, 0.2, -0.3), both_sides=True, **options)
        return R @ air_drag(ORBIT, [plate], air).wrenches(made, 0.0, q, v)[0, 3:]

    n = R @ np.array([0.48, 0.6, 0.64])
    cold = blown(accommodation=(1.0, 1.0), leaving=0.0)
    np.testing.assert_allclose(cold, blown(drag=2.0), rtol=1e-9)
    u = -cold / np.linalg.norm(cold)
    c = abs(u @ n)
    dynamic = np.linalg.norm(cold) / (1.5 * c)  # rho v^2
    mirror = blown(accommodation=(0.0, 0.0))
    np.testing.assert_allclose(mirror, -2.0 * dynamic * 1.5 * c * c * np.sign(u @ n) * n, rtol=1e-9)
    lift = mirror - (mirror @ u) * u
    assert np.linalg.norm(lift) > 0.2 * np.linalg.norm(mirror)
    warm = blown(accommodation=(1.0, 1.0), leaving=0.1)
    np.testing.assert_allclose(warm - cold, -0.1 * dynamic * 1.5 * c * np.sign(u @ n) * n, rtol=1e-7)
    part = blown(accommodation=(0.7, 0.7), leaving=0.0)
    np.testing.assert_allclose(part, 0.7 * cold + 0.3 * mirror, rtol=1e-9)
    with pytest.raises(ValueError, match="accommodation is"):
        Plate("hull", 1.0, (1, 0, 0), accommodation=(1.2, 0.0))
