"""Liquids in tanks against closed forms and tables, alone and in a craft."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.environment import uniform_gravity
from gyrostat.structures import cylindrical_tank, slosh, spherical_tank
from gyrostat.structures.slosh_modes import slosh_modes

XI = np.array([1.8411837813406593, 5.3314427735250326, 8.5363163663462860])  # J1' = 0


@pytest.mark.parametrize(("depth", "count"), [(0.4, 3), (1.0, 3), (2.5, 2)])
def test_a_cylinder_has_the_closed_form(depth, count):
    """NASA SP-106, ch. 6: w^2 R / g = xi tanh, m_k / m = 2 tanh / (xi h (xi^2 - 1)), z_k from the bottom."""
    R, xi = 0.7, XI[:count]
    h = depth * R
    found = slosh_modes(lambda z: R * R + 0 * z, 0.0, h, count)
    t = np.tanh(xi * depth)
    assert found.squares == pytest.approx(xi / R * t, rel=1e-6)
    assert found.masses == pytest.approx(found.volume * 2 * R * t / (xi * h * (xi**2 - 1)), rel=2e-5)
    assert found.heights == pytest.approx(h - 2 * R / xi * np.tanh(xi * depth / 2), abs=2e-6)


def test_a_sphere_has_the_known_eigenvalues_and_its_pendulums_hang_from_its_centre():
    """w^2 R / g at surfaces 0.4 below, in and 0.4 above the centre: McIver, J. Fluid Mech. 201 (1989), table 1."""
    R = 0.5
    for surface, square in ((-0.4, 1.2625), (0.0, 1.5602), (0.4, 2.1232)):
        found = slosh_modes(lambda z: R * R - z * z, -R, surface * R, 2)
        assert found.squares[0] * R == pytest.approx(square, rel=3e-5)
        assert found.heights + 1 / found.squares == pytest.approx(0.0, abs=1e-3)
        assert abs(found.fixed_inertia) < 1e-3 * found.volume * R**2  # a sphere turns about its liquid


def _held(bodies, g=(0.0, 0.0, -9.81)):
    hub = gs.Body("hub", 100.0, inertia=(10, 12, 14), joint=gs.Joint("base", "fixed"))
    craft = gs.Spacecraft.build("c", [hub, *bodies])
    return craft, gs.modes(craft, gs.neutral(craft), np.zeros(craft.nv), environment=uniform_gravity(g))


@pytest.mark.parametrize("kind", ["pendulum", "spring"])
def test_a_held_tank_swings_as_the_liquid_does(kind):
    g, R, h = 9.81, 0.6, 0.9
    up = np.array([0.48, 0.6, 0.64])
    tank = cylindrical_tank(R, 2 * h)
    own = {"kind": kind, "modes": 2, "acceleration": g, "damping_ratio": 0.01, "up": up, "position": (0.3, -0.1, 0.2)}
    bodies = slosh("fuel", "hub", tank, 0.5, 1010.0, **own)
    craft, found = _held(bodies, -g * up)
    swinging = found.of("oscillating")
    expected = np.sqrt(g * XI[:2] / R * np.tanh(XI[:2] * h / R)) / (2 * np.pi)
    assert [m.frequency for m in swinging] == pytest.approx(np.repeat(expected, 2), rel=1e-5)
    assert [m.damping for m in swinging] == pytest.approx([0.01] * 4, rel=1e-5)
    liquid = np.pi * R**2 * h * 1010.0
    assert gs.total_mass(craft) - 100.0 == pytest.approx(liquid, rel=1e-10)
    com = gs.center_of_mass(craft, gs.neutral(craft)) * gs.total_mass(craft) / liquid
    assert com == pytest.approx(np.array([0.3, -0.1, 0.2]) - 0.5 * h * up, abs=1e-9)
    assert not craft.at("driven").size  # no motor turns a liquid


def test_liquid_of_a_thrusting_craft_swings_as_fast_as_theory_says():
    """Hinged in the centre of mass of what does not swing (mass M), under a thrust T through it: w^2 = T / (M l)."""
    T, dry = 400.0, 900.0
    made = {"tank": spherical_tank(0.5), "fill": 0.5, "density": 800.0, "up": (0.0, 0.0, 1.0)}
    fixed, bob = slosh("fuel", "hub", **made)
    at = fixed.mass * fixed.joint.position[2] / dry  # the tank's centre, where the hinge is
    fixed, bob = slosh("fuel", "hub", **made, position=(0.0, 0.0, at))
    craft = gs.Spacecraft.build("c", [gs.Body("hub", dry, inertia=(300.0, 310.0, 200.0)), fixed, bob])

    def push(craft, t, q, v):
        return gs.joint_torques(craft, {"base": [0.0, 0.0, 0.0, 0.0, 0.0, T]})

    w = np.sqrt(T / ((dry + fixed.mass) * -bob.com[2]))
    through = gs.When(lambda craft, t, q, v: q[7], "through", direction=-1)
    q = craft.q({"fuel 1": [1e-3, 0.0]})
    run = gs.simulate(craft, q, np.zeros(craft.nv), (0.0, 7.5 * np.pi / w), control=push, events=[through], rtol=1e-10)
    assert np.diff([event.t for event in run.events]) == pytest.approx(2 * np.pi / w, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fill": 1.2}, "fill is 1.2; expected a share"),
        ({"kind": "spring"}, "give acceleration="),
        ({"kind": "wave"}, "kind is 'wave'"),
        ({"damping_ratio": 0.1}, "give acceleration="),
        ({"modes": 4}, "modes is 4; expected 1 to 3"),
        ({"density": -1.0}, "density is -1.0"),
        ({"up": (0, 0, 0)}, "expected a direction"),
        ({"tank": cylindrical_tank(0.1, 8.0), "modes": 3}, "not resolved"),
    ],
)
def test_what_cannot_be_is_refused_by_name(options, words):
    given = {"tank": spherical_tank(0.5), "fill": 0.5, "density": 1000.0} | options
    with pytest.raises(ValueError, match=words):
        slosh("fuel", "hub", given.pop("tank"), given.pop("fill"), given.pop("density"), **given)
