"""What acts from outside does not ask how the base is held, nor who else is in the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import quat_from_rotation, rotation, rotation_about
from gyrostat.control.transfers import hill_thrust
from gyrostat.environment import (
    HarrisPriester,
    Orbit,
    Plate,
    Sphere,
    air_drag,
    box_plates,
    moon,
    solar_pressure,
    sun,
    third_body_gravity,
    two_body_gravity,
    uniform_gravity,
    zonal_gravity,
)
from gyrostat.environment.ephemeris import Celestial
from gyrostat.formation import Formation
from gyrostat.model.assembly import together

ORBIT = Orbit.from_elements(6.8e6, 0.01, 0.9, 0.3, 0.2, 0.5)
AXIS = np.array([0.48, 0.6, 0.64])
PLACE, TURN = np.array([3.0, -2.0, 1.0]), rotation(np.array([0.8, -0.2, 0.5, 0.3]))  # where base joints are mounted


def craft(kind, name="craft", **mount):
    """A hull with a panel on a hinge; its base joint of that kind, mounted off the origin and turned."""
    mount = mount or {"position": PLACE, "rotation": TURN}
    return gs.Spacecraft.build(
        name,
        [
            gs.Body("hull", 40.0, (0.02, 0.1, 0), (3.0, 4.0, 5.0, ), gs.Joint("base", kind, axis=AXIS, **mount)),
            gs.Body("panel", 3.0, (0.9, 0, 0), (0.02, 0.8, 0.81),
                    gs.Joint("hinge", "revolute", "hull", (0.5, 0, 0), axis=(0, 1, 0))),
        ],
    )  # fmt: skip


SURFACES = [
    *box_plates("hull", (1, 1.2, 0.8)),
    Plate("panel", 2.0, (0, 0.6, 0.8), (0.9, 0.1, 0), both_sides=True),
    Sphere("hull", 0.3, (0, 0, 1)),
]
ENVIRONMENTS = {
    "uniform": uniform_gravity((0.1, -0.2, 9.0)),
    "two-body": two_body_gravity(ORBIT),
    "zonal": zonal_gravity(ORBIT),
    "third body": third_body_gravity(ORBIT, moon("2030-01-01")),
    "drag": air_drag(ORBIT, SURFACES, HarrisPriester(sun("2030-01-01"))),
    "sunlight": solar_pressure(ORBIT, SURFACES, sun("2030-01-01"), eclipse=False),
}


def same_motion(held, q, v):
    """The state of a craft on a free base, at the origin and upright, that moves as the held one does."""
    free = craft("free", position=np.zeros(3), rotation=np.eye(3))
    X = gs.forward_kinematics(held, q)
    R, p = X.R_NB[0], X.p_NB[0]
    J = gs.jacobian(held, q, "hull", np.zeros(3)) @ v  # in N
    hinge = held.joint_named("hinge")
    return (
        free,
        np.concatenate([quat_from_rotation(R), p, q[hinge.q_at]]),
        np.concatenate([R.T @ J[:3], R.T @ J[3:], v[hinge.v_at]]),
    )


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("kind", ["free", "fixed", "planar", "spherical", "revolute", "cartesian"])
def test_wrenches_are_those_on_a_free_base_that_moves_the_same(kind, name):
    held, t = craft(kind), 321.0
    rng = np.random.default_rng(5)
    q = gs.step_configuration(held, gs.neutral(held), rng.normal(size=held.nv))
    v = 0.3 * rng.normal(size=held.nv)
    free, q_free, v_free = same_motion(held, q, v)
    expected = ENVIRONMENTS[name].wrenches(free, t, q_free, v_free)
    found = ENVIRONMENTS[name].wrenches(held, t, q, v)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())
    assert np.abs(expected).max() > 0


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_wrenches_on_craft_put_together_are_those_on_each(name):
    one, other = craft("free", "one"), craft("free", "other")
    both = together("both", [one, other])
    rng = np.random.default_rng(6)
    q = gs.step_configuration(both, gs.neutral(both), rng.normal(size=both.nv))
    v, t = 0.3 * rng.normal(size=both.nv), 321.0
    environment = ENVIRONMENTS[name]
    if name in ("drag", "sunlight"):
        twice = [replace(s, body=both.member(m).here(s.body)) for m in ("one", "other") for s in SURFACES]
        environment = (
            air_drag(ORBIT, twice, HarrisPriester(sun("2030-01-01")))
            if name == "drag"
            else solar_pressure(ORBIT, twice, sun("2030-01-01"), eclipse=False)
        )
    rows = environment.wrenches(both, t, q, v)
    for member in both.members:
        alone = ENVIRONMENTS[name].wrenches(member.craft, t, member.q(q), member.v(v))
        np.testing.assert_allclose(rows[member.body_at], alone, rtol=1e-9, atol=1e-12 * np.abs(alone).max())


def test_one_in_the_light_and_one_in_the_shadow():
    """Two craft in one model, a planet apart: the second is behind it."""
    light = Celestial("Sun", 1.3e20, 7e8, lambda t: np.array([1.5e11, 0.0, 0.0]))
    orbit = Orbit.circular(500e3)
    both = together("both", [craft("free", "one", position=np.zeros(3)), craft("free", "other", position=np.zeros(3))])
    q = gs.neutral(both)
    second = both.roots[1].joint
    q[second.q_at.start + 4] = -2 * orbit.a
    surfaces = [Sphere(base.name, 1.0) for base in both.roots]
    rows = solar_pressure(orbit, surfaces, light).wrenches(both, 0.0, q, np.zeros(both.nv))
    lit = [np.linalg.norm(rows[both.index(base.name), 3:]) for base in both.roots]
    assert lit[0] > 1e-6 and lit[1] == 0.0


@pytest.mark.parametrize("which", [0, 1])
def test_any_member_inside_the_planet_is_noticed(which):
    both = together("both", [craft("free", "one", position=np.zeros(3)), craft("free", "other", position=np.zeros(3))])
    orbit = Orbit.circular(500e3)
    q = gs.neutral(both)
    gravity = two_body_gravity(orbit)
    gravity.check(both, 0.0, q)
    q[both.roots[which].joint.q_at.start + 4] = -1000e3
    with pytest.raises(ValueError, match=f"body '{both.roots[which].name}' starts .* inside it"):
        gravity.check(both, 0.0, q)


def test_a_base_mounted_inside_the_planet_is_noticed():
    """The coordinates are zero; the joint is 700 km below."""
    sunk = craft("free", position=(-700e3, 0.0, 0.0))
    with pytest.raises(ValueError, match="body 'hull' starts"):
        two_body_gravity(Orbit.circular(500e3)).check(sunk, 0.0, gs.neutral(sunk))


def test_thrust_in_the_hill_frame_asks_for_a_free_base():
    law = hill_thrust(ORBIT, lambda t: np.array([0.1, 0.0, 0.0]), 43.0)
    held = craft("planar")
    with pytest.raises(ValueError, match="hill_thrust needs a base that is free; that of craft is planar"):
        law(held, 0.0, gs.neutral(held), np.zeros(held.nv))
    both = together("both", [craft("free", "one"), craft("free", "other")])
    with pytest.raises(ValueError, match="hill_thrust is for one spacecraft; both holds 'one' and 'other'"):
        law(both, 0.0, gs.neutral(both), np.zeros(both.nv))
    turned = craft("free", position=PLACE, rotation=rotation_about(np.array([0.0, 0.0, 1.0]), 0.7))
    tau = law(turned, 10.0, gs.neutral(turned), np.zeros(turned.nv))
    R = gs.forward_kinematics(turned, gs.neutral(turned)).R_NB[0]
    s = ORBIT.state(10.0)
    np.testing.assert_allclose(R @ tau[3:6], 4.3 * s.r / np.linalg.norm(s.r), rtol=1e-12)
    np.testing.assert_allclose(tau[:3], np.cross(turned.bodies[0].com, tau[3:6]))


def test_formations_ask_for_bases_whose_coordinates_are_their_pose():
    with pytest.raises(ValueError, match="'a' .* is mounted off N's origin or turned"):
        Formation({"a": craft("free")})
    both = together("both", [craft("free", "one", position=np.zeros(3)), craft("free", "other", position=np.zeros(3))])
    with pytest.raises(ValueError, match="'a' .both. (holds several spacecraft|stands on a fixed base)"):
        Formation({"a": both})


def test_an_orbit_alone_is_that_of_the_whole_body():
    """A point on a cartesian base: three coordinates, no attitude, the same path."""
    environment, ends = gs.environment.combined(two_body_gravity(ORBIT), zonal_gravity(ORBIT, degree=4)), []
    for kind in ("free", "cartesian"):
        probe = gs.Spacecraft.build("probe", [gs.Body("probe", 80.0, inertia=np.eye(3), joint=gs.Joint("base", kind))])
        q, v = gs.neutral(probe), np.zeros(probe.nv)
        q[-3:], v[-3:] = (100.0, 50.0, 20.0), (0.1, 0.2, 0.05)
        span = (0.0, ORBIT.period)
        run = gs.simulate(probe, q, v, span, environment=environment, rtol=1e-12, atol=1e-9, save_at=span[1:])
        ends.append(run.final[0][-3:])
    assert np.abs(ends[0] - ends[1]).max() < 1e-5
    assert np.abs(ends[0]).max() > 1000.0
