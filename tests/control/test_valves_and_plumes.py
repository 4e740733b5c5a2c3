"""Thrust that comes and goes, on any body, and plumes that hit plates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

import gyrostat as gs
from gyrostat import control
from gyrostat.control.plumes import Plumes
from gyrostat.control.valves import impulse_of, through_a_valve
from gyrostat.environment import Plate

HULL = gs.Body("hull", 100.0, inertia=[20.0, 25.0, 30.0])


def jet(name, direction, **more):
    return gs.Thruster(name, "hull", (0, 0, 0), direction, max_thrust=4.0, specific_impulse=200.0, **more)


@pytest.mark.parametrize(("rise", "fall"), [(0.02, 0.05), (0.0, 0.05), (0.02, 0.0), (0.0, 0.0)])
def test_a_valve_is_the_solution_of_its_equation(rise, fall):
    thruster = jet("a", (1, 0, 0), rise_time=rise, fall_time=fall)

    def thrust(s, before, on):
        up = lambda x: 4.0 - (4.0 - before) * (np.exp(-x / rise) if rise else (x <= 0))
        return up(s) if s < on else up(on) * (np.exp(-(s - on) / fall) if fall else 0.0)

    for before, on in ((0.0, 0.03), (1.5, 0.03), (3.0, 0.1)):
        mean, end = through_a_valve(thruster, before, on, 0.1)
        expected = quad(thrust, 1e-15, 0.1, args=(before, on), points=[on], epsabs=1e-13)[0] / 0.1
        assert mean == pytest.approx(expected, rel=1e-9)
        assert end == pytest.approx(thrust(0.1 - 1e-15 if on == 0.1 else 0.1, before, on), rel=1e-9, abs=1e-300)
    whole = sum(0.1 * m for m in _train(thruster, 0.03))
    assert impulse_of(thruster, 0.03) == pytest.approx(whole, rel=1e-9)


def _train(thruster, on):
    """Means over the parts of a long time after one pulse."""
    f = 0.0
    for k in range(30):
        mean, f = through_a_valve(thruster, f, on if k == 0 else 0.0, 0.1)
        yield mean


@pytest.mark.parametrize(("rise", "fall"), [(0.02, 0.02), (0.05, 0.01), (0.0, 0.08)])
def test_pulses_give_the_wanted_impulse_whatever_the_valve(rise, fall):
    """What a pulse gives more or less is carried: after 20 s the speed is that of the force that was asked for."""
    craft = gs.Spacecraft.build(
        "probe", [HULL], thrusters=[jet("a", (1, 0, 0), rise_time=rise, fall_time=fall), jet("b", (-1, 0, 0))]
    )
    pulses = control.Pulses(craft, 1.0, ticks=20)
    law = lambda craft, t, q, v: np.array([0.0, 0, 0, 1.0, 0, 0])
    run = gs.simulate(craft, None, None, (0, 19.95), control=pulses.controller(law), integrator="rk4", step=0.05)
    report = pulses.report(run)
    assert report.pulses[0] == 20 and report.unmet[0] == pytest.approx(0.0, abs=1e-12)
    assert 100.0 * run.v[-1, 3] + report.carried[0] == pytest.approx(20.0, abs=1e-3)
    assert report.propellant == pytest.approx(
        100.0 * run.v[-1, 3] / (200.0 * 9.80665), rel=1e-5
    )  # a part that begins counts


def test_equal_rise_and_fall_lose_nothing():
    thruster = jet("a", (1, 0, 0), rise_time=0.03, fall_time=0.03)
    assert impulse_of(thruster, 0.2) == pytest.approx(0.8, rel=1e-14)


def test_thrusters_on_an_arm_push_where_they_are():
    """Momentum of the whole grows by the thrust along the arm's direction; allocation knows the arm's angle."""
    arm = gs.Body(
        "arm",
        5.0,
        (0.5, 0, 0),
        [0.1, 0.5, 0.5],
        gs.Joint("hinge", "revolute", "hull", (0.5, 0, 0), axis=(0, 0, 1), limits=gs.Limits(effort=20.0)),
    )
    tips = [gs.Thruster(f"tip {k}", "arm", (1, 0, 0), d, max_thrust=1.0) for k, d in enumerate([(0, 1, 0), (0, -1, 0)])]
    craft = gs.Spacecraft.build("armed", [HULL, arm], thrusters=tips)
    q = craft.q({"hinge": np.pi / 2})
    pulses = control.Pulses(craft, 0.5, ticks=5)
    assert pulses.controller(lambda craft, t, q, v: np.zeros(7)).pushes

    def law(craft, t, q, v):
        hold = -8.0 * (q[7] - np.pi / 2) - 8.0 * v[6]
        return np.array([0, 0, 0.5, -0.5, 0, 0, hold])  # as the thruster on the tip can make it

    run = gs.simulate(craft, q, None, (0, 4), control=pulses.controller(law), integrator="rk4", step=0.02)
    p = run.momentum()[-1, 3:]
    assert np.linalg.norm(p) == pytest.approx(2.0, rel=0.05) and p[0] < -1.8 and abs(p[2]) < 1e-12
    assert abs(run.q[-1, 7] - np.pi / 2) < 0.1
    with pytest.raises(ValueError, match="which no motor makes"):
        gs.simulate(craft, q, None, (0, 4), control=pulses.controller(law), actuators=gs.Actuators())
    with pytest.raises(ValueError, match="which no motor makes"):
        control.Motors({}).driving(pulses.controller(law))


def test_a_plate_across_the_whole_plume_takes_its_momentum():
    """All of the part along the axis, if nothing leaves again; twice of it, if it bounces."""
    for spread, accommodation, times in ((2.0, None, 1.0), (8.0, (1.0, 1.0), 1.0)):
        wall = Plate("hull", 30.0**2, (1, 0, 0), (-1.0, 0, 0), accommodation=accommodation, leaving=0.0)
        plumes = Plumes([wall], spread, tiles=300)
        craft = gs.Spacecraft.build("probe", [HULL], thrusters=[jet("a", (1, 0, 0))])
        load = plumes.load(craft, gs.neutral(craft), craft.thrusters[0])
        np.testing.assert_allclose(load, [0, 0, 0, -times, 0, 0], atol=3e-3)


def test_a_small_plate_feels_what_the_formula_says_and_where():
    plate = Plate("panel", 0.01, (0, 0, 1), (0.2, 0, 0), accommodation=(0.9, 0.7), leaving=0.1)
    panel = gs.Body(
        "panel", 3.0, inertia=[1, 1, 1], joint=gs.Joint("hinge", "revolute", "hull", (-2.0, 0, -0.5), axis=(0, 1, 0))
    )
    craft = gs.Spacecraft.build("probe", [HULL, panel], thrusters=[jet("a", (1, 0, 0))])
    q = craft.q({"hinge": 0.3})
    found = Plumes([plate], 5.0, tiles=1).load(craft, q, craft.thrusters[0])
    c, s = np.cos(0.3), np.sin(0.3)
    R = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    at = np.array([-2.0, 0, -0.5]) + R @ [0.2, 0, 0]
    r = np.linalg.norm(at)
    u, n = at / r, R @ [0, 0, 1.0]
    b = -u @ n
    flux = 7.0 / (2 * np.pi) * (-u[0]) ** 5 / r**2
    force = flux * b * 0.01 * (0.7 * u - (0.4 * b + 0.9 * 0.1) * n)
    np.testing.assert_allclose(found[3:6], force, rtol=1e-10)
    np.testing.assert_allclose(found[:3], np.cross(at, force), rtol=1e-10, atol=1e-18)
    np.testing.assert_allclose(found[6], np.cross(R @ [0.2, 0, 0], force)[1], rtol=1e-10)


def test_plumes_take_from_what_pulses_give_and_the_audit_closes():
    wall = Plate("hull", 4.0, (1, 0, 0), (-1.0, 0, 0))
    craft = gs.Spacecraft.build("probe", [HULL], thrusters=[jet("a", (1, 0, 0)), jet("b", (-1, 0, 0))])
    law = lambda craft, t, q, v: np.array([0.0, 0, 0, 2.0, 0, 0])
    speeds = []
    for plumes in (None, Plumes([wall], 4.0, tiles=20)):
        pulses = control.Pulses(craft, 1.0, ticks=10, plumes=plumes)
        run = gs.simulate(craft, None, None, (0, 10), control=pulses.controller(law), integrator="rk4", step=0.1)
        speeds.append(run.v[-1, 3])
        assert run.audit.linear < 1e-12
    hit = -Plumes([wall], 4.0, tiles=20).load(craft, gs.neutral(craft), craft.thrusters[0])[3]
    assert 0.5 < hit < 1.0
    assert speeds[1] == pytest.approx(speeds[0] * (1.0 - hit), rel=1e-9)


def test_what_cannot_be_is_said():
    with pytest.raises(gs.ModelError, match="rise_time is -1"):
        gs.Spacecraft.build("probe", [HULL], thrusters=[jet("a", (1, 0, 0), rise_time=-1.0)])
    with pytest.raises(ValueError, match="one plate at least"):
        Plumes([])
    slow = gs.Spacecraft.build("probe", [HULL], thrusters=[jet("a", (1, 0, 0), fall_time=0.1)])
    with pytest.raises(ValueError, match="fly it by control.Pulses"):
        control.burning(slow, lambda craft, t, q, v: {"a": 1.0}, control.Tank("hull", 10.0))
    with pytest.raises(ValueError, match="no body"):
        control.Pulses(slow, 1.0, plumes=Plumes([replace(Plate("hull", 1.0, (1, 0, 0)), body="wing")]))


def test_files_keep_valves(tmp_path):
    craft = gs.Spacecraft.build("probe", [HULL], thrusters=[jet("a", (1, 0, 0), rise_time=0.02, fall_time=0.03)])
    gs.save(craft, tmp_path / "a.toml")
    again = gs.load(tmp_path / "a.toml").thrusters[0]
    assert (again.rise_time, again.fall_time) == (0.02, 0.03)
