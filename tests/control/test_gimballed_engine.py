"""An engine on a gimbal: its load by r x F, its limits, attitude held by deflection, and propellant that leaves."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.control import GimballedEngine, Tank

THRUST, ARM, ISP = 400.0, 1.5, 220.0


def rocket(com=(0.0, 0.0, 0.0), *, direction=(0, 0, 1), side=False, **valve):
    """An engine ARM below the hub's origin; side: beside it a boom with a mass that moves."""
    bodies = [gs.Body("hub", 500.0, com, (200.0, 220.0, 90.0))]
    if side:
        joint = gs.Joint("boom", "revolute", "hub", (0.5, 0.2, 0.1), axis=(0, 0.6, 0.8))
        bodies.append(gs.Body("boom", 30.0, (0.9, 0.1, 0.0), (1.0, 8.0, 8.0), joint))
    engine = gs.Thruster("main", "hub", (0, 0, -ARM), direction, THRUST, 0.0, ISP, **valve)
    return gs.Spacecraft.build("rocket", bodies, thrusters=[engine])


def hold(craft, t, q, v):
    """Rates down, attitude to that of N."""
    return -np.array([800.0, 800.0, 0.0]) * q[1:4] * 2.0 - 900.0 * v[:3]


def test_the_load_is_the_force_and_its_moment():
    """d turns from d0 by the angles; F = f d; about the base's origin p x F, and as much on any attitude."""
    craft = rocket(side=True)
    engine = GimballedEngine(craft, "main", 0.5, first_axis=(1, 0, 0))
    a, b = 0.3, -0.2
    d = engine.direction([a, b])
    about_x = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    about_y = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    np.testing.assert_allclose(d, about_x @ about_y @ [0, 0, 1], atol=1e-15)
    q = gs.neutral(craft)
    q[:4] = np.array([0.5, 0.5, -0.1, 0.7]) / np.linalg.norm([0.5, 0.5, -0.1, 0.7])
    load = engine.load(craft, q, 123.0, [a, b])
    expected = np.concatenate([np.cross([0, 0, -ARM], 123.0 * d), 123.0 * d, [0.0]])
    np.testing.assert_allclose(load, expected, atol=1e-12)


@pytest.mark.parametrize("direction", [(0, 0, 1), (0.6, 0, 0.8)])
def test_angles_give_the_torque_that_is_wanted(direction):
    """About the centre of mass of a craft with a boom: exact in the plane that deflection reaches, nothing along r."""
    craft = rocket((0.02, -0.01, 0.1), direction=direction, side=True)
    engine = GimballedEngine(craft, "main", 0.6)
    q = np.concatenate([[1.0, 0, 0, 0], [3.0, 2.0, 1.0], [0.4]])
    r = np.array([0, 0, -ARM]) - (gs.center_of_mass(craft, q) - q[4:7])
    ahead = np.cross(r, THRUST * np.asarray(direction))
    wanted = ahead + np.array([20.0, -35.0, 0.0])
    angles = engine.angles_for(craft, q, wanted, THRUST)
    got = np.cross(r, THRUST * engine.direction(angles))
    reachable = wanted - (wanted @ r) / (r @ r) * r
    np.testing.assert_allclose(got, reachable, atol=2e-2 if direction[0] else 1e-3)
    assert np.abs(engine.angles_for(craft, q, 1e5 * wanted, THRUST)).max() == pytest.approx(0.6)
    assert not engine.angles_for(craft, q, wanted, 0.0).any()


def test_each_angle_has_its_own_limit_on_both_sides():
    craft = rocket()
    engine = GimballedEngine(craft, "main", (0.2, 0.35), first_axis=(1, 0, 0))
    for sides in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        wanted = engine.load(craft, gs.neutral(craft), THRUST, 0.5 * np.array(sides))[:3]
        angles = engine.angles_for(craft, gs.neutral(craft), 1e3 * wanted, THRUST)
        np.testing.assert_allclose(angles, [0.2 * sides[0], 0.35 * sides[1]], rtol=1e-12)


def test_the_gimbal_turns_at_its_rate_and_stays_within_its_angle():
    """A torque beyond reach: a ramp of max_rate, the last of it exponential, to max_angle."""
    craft = rocket()
    engine = GimballedEngine(craft, "main", 0.1, 0.2, 50.0, first_axis=(1, 0, 0))
    law = engine.controller(lambda craft, t, q, v: np.array([1e4, 0.0, 0.0]), THRUST)
    run = gs.simulate(craft, None, None, (0, 2), control=law, save_at=[0.1, 0.3, 0.45, 2.0], rtol=1e-10)
    angle = np.abs(run.data["z"].values[:, 0])
    np.testing.assert_allclose(angle[:3], [0.02, 0.06, 0.09], rtol=1e-8)
    assert angle[3] == pytest.approx(0.1, abs=1e-7)  # the integrator's own error where the ramp ends
    assert np.abs(run.data["z"].values[:, 1]).max() < 1e-12


def test_deflection_holds_attitude_under_thrust_whose_line_misses_the_centre_of_mass():
    """It settles where the line of thrust goes through the centre of mass: atan(offset / arm). Sums close."""
    craft = rocket((0.05, -0.03, 0.2))
    engine = GimballedEngine(craft, "main", 0.2, 0.5)
    start = np.array([0.999, 0.02, -0.03, 0.0])
    q = np.concatenate([start / np.linalg.norm(start), np.zeros(3)])
    law = engine.controller(hold, THRUST)
    run = gs.simulate(craft, q, [0.02, -0.01, 0, 0, 0, 0], (0, 120), control=law, rtol=1e-9, atol=1e-11)
    assert np.abs(run.q[-1, 1:3]).max() < 1e-4 and np.abs(run.v[-1, :2]).max() < 1e-4  # a spin about the arm stays
    line = engine.direction(run.data["z"].values[-1])
    through = np.array([0.05, -0.03, 0.2 + ARM])
    np.testing.assert_allclose(line, through / np.linalg.norm(through), atol=2e-5)
    assert max(run.audit.linear, run.audit.angular, run.audit.energy) < 1e-7


def test_momentum_grows_by_the_thrust_alone():
    """Impulse in N is the integral of f R d, of the run's own states; linear momentum, an independent sum."""
    craft = rocket((0.05, -0.03, 0.2), side=True)
    engine = GimballedEngine(craft, "main", 0.2, 0.5)
    times = np.linspace(0, 4, 401)
    run = gs.simulate(craft, None, [0.02, -0.01, 0.1, 0, 0, 0, 0.3], (0, 4), control=engine.controller(hold, THRUST),
                      save_at=times, rtol=1e-11, atol=1e-13)  # fmt: skip
    force = np.array([
        gs.forward_kinematics(craft, q).R_NB[0] @ (THRUST * engine.direction(z))
        for q, z in zip(run.q, run.data["z"].values, strict=True)
    ])  # fmt: skip
    h = times[1]
    impulse = h / 3 * (force[0] + force[-1] + 4 * force[1:-1:2].sum(axis=0) + 2 * force[2:-1:2].sum(axis=0))
    linear = run.momentum()[:, 3:]
    np.testing.assert_allclose(linear[-1] - linear[0], impulse, atol=1e-4)


def test_an_engine_that_burns_follows_the_centre_of_mass():
    """Mass leaves a tank beside the axis: deflection goes through the centre of mass that is left, and sums close with
    what leaves.
    """
    craft = rocket((0.05, 0.0, 0.2))
    engine = GimballedEngine(craft, "main", 0.2, 0.5)
    law = engine.burning(hold, THRUST, Tank("hub", 100.0, (0.25, 0.0, -0.5)))
    run = gs.simulate(craft, None, None, (0, 300), control=law, rtol=1e-9, atol=1e-11)
    used, angles = run.data["z"].values[-1, 0], run.data["z"].values[-1, 1:]
    assert used == pytest.approx(300 * THRUST / (ISP * gs.control.thrusters.G0), rel=1e-9)
    com = (500.0 * np.array([0.05, 0.0, 0.2]) - used * np.array([0.25, 0.0, -0.5])) / (500.0 - used)
    line = com - [0, 0, -ARM]
    np.testing.assert_allclose(engine.direction(angles), line / np.linalg.norm(line), atol=1e-3)
    assert max(run.audit.linear, run.audit.angular, run.audit.energy) < 1e-7


def test_it_is_the_same_in_any_batch_and_gives_way_to_inputs():
    craft = rocket((0.05, 0.0, 0.2))
    engine = GimballedEngine(craft, "main", 0.2, 0.5)

    def throttled(craft, t, q, v, throttle):
        return THRUST * throttle

    law = engine.controller(hold, throttled)
    v = np.zeros((3, 6))
    v[:, 1] = [0.01, 0.02, 0.03]
    options = {"control": law, "integrator": "rk4", "step": 0.05}
    batch = gs.simulate(craft, np.tile(gs.neutral(craft), (3, 1)), v, (0, 5), inputs={"throttle": 0.7}, **options)
    alone = gs.simulate(craft, None, v[1], (0, 5), inputs={"throttle": 0.7}, **options)
    np.testing.assert_array_equal(batch.v[1], alone.v)
    assert np.abs(gs.simulate(craft, None, v[1], (0, 5), inputs={"throttle": 0.2}, **options).v - alone.v).max() > 0.1


def test_what_no_engine_can_do_is_refused():
    for key, value, words in (
        ("max_angle", 0.0, "max_angle is 0.0"),
        ("max_rate", -1.0, "max_rate is -1.0"),
        ("bandwidth", 0.0, "bandwidth is 0.0"),
        ("first_axis", (0, 0, 1), "at right angles"),
    ):
        with pytest.raises(ValueError, match=f"gimballed engine 'main': .*{words}"):
            GimballedEngine(rocket(), "main", **{key: value})
    with pytest.raises(ValueError, match="rise_time"):
        GimballedEngine(rocket(rise_time=0.1), "main")
    with pytest.raises(ValueError, match="no thruster 'man'"):
        GimballedEngine(rocket(), "man")
    with pytest.raises(ValueError, match="thrust is 500.0 N; expected 0 to its max_thrust"):
        GimballedEngine(rocket(), "main").controller(hold, 500.0)
    with pytest.raises(ValueError, match="deflection about one of its axes turns nothing"):
        GimballedEngine(rocket((0, 0, -ARM)), "main").controller(hold, THRUST)
