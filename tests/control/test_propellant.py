"""Propellant inside the equations of motion: the rocket equation, jet damping, and sums that close."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import sin
from gyrostat.control import Tank, burning, thruster_matrix, without_propellant
from gyrostat.control.thrusters import G0

ISP, THRUST = 220.0, 400.0


def _rocket(com=(0.0, 0.0, 0.0), **options):
    hub = gs.Body("hub", 500.0, com, (60.0, 70.0, 80.0))
    nozzle = gs.Thruster("main", "hub", (-1.2, 0.0, 0.0), (1, 0, 0), THRUST, 0.0, ISP)
    return gs.Spacecraft.build("rocket", [hub], thrusters=[nozzle], **options)


def _on(craft, t, q, v):
    return {"main": THRUST}


def _craft():
    """Off-axis everything: two tanks, three thrusters, an arm and a wheel."""
    hub = gs.Body("hub", 300.0, (0.1, -0.05, 0.2), (60.0, 70.0, 80.0))
    joint = gs.Joint("shoulder", "revolute", "hub", (0.6, 0.3, 0.1), axis=(0.0, 0.6, 0.8))
    arm = gs.Body("arm", 20.0, (0.7, 0.1, 0.0), (0.4, 5.0, 5.0), joint)
    thrusters = [
        gs.Thruster("main", "hub", (-1.0, 0.2, 0.1), (0.8, 0.0, 0.6), 200.0, 0.0, 230.0),
        gs.Thruster("roll", "hub", (0.1, 0.9, -0.2), (0.0, 0.6, 0.8), 20.0, 0.0, 70.0),
        gs.Thruster("side", "arm", (1.3, 0.0, 0.1), (0.0, 1.0, 0.0), 5.0, 0.0, 60.0),
    ]
    wheel = gs.Wheel("wheel", "hub", (0, 0, 1), 0.2)
    tanks = [
        Tank("hub", 120.0, (0.3, -0.2, -0.4), (0.06, 0.05, 0.04), ["main", "roll"]),
        Tank("arm", 6.0, (0.5, 0.1, 0.0), thrusters=["side"]),
    ]
    return gs.Spacecraft.build("c", [hub, arm, wheel], thrusters=thrusters), tanks


def _all_on(craft, t, q, v):
    return {"main": 150.0 * sin(0.3 * t) ** 2, "roll": 12.0, "side": 3.0 + sin(t)}


def test_the_rocket_equation():
    """From rest, along the axis: v = g0 Isp ln(m0 / m), m = m0 - t T / (g0 Isp), to 1e-10."""
    craft, rate = _rocket(), THRUST / (ISP * G0)
    law = burning(craft, _on, Tank("hub", 300.0))
    times = np.linspace(0.0, 280.0 / rate, 5)
    run = gs.simulate(
        craft, gs.neutral(craft), np.zeros(6), save_at=times, t_span=(0, times[-1]), control=law, rtol=1e-12
    )
    m = 500.0 - rate * times
    assert run.data["z"].values[:, 0] == pytest.approx(rate * times, rel=1e-12)
    assert run.v[1:, 3] == pytest.approx(ISP * G0 * np.log(500.0 / m[1:]), rel=1e-10)
    x = ISP * G0 * (times - m / rate * np.log(500.0 / m))
    assert run.q[1:, 4] == pytest.approx(x[1:], rel=1e-10)
    assert run.momentum()[:, 3] == pytest.approx(m * run.v[:, 3], rel=1e-12)
    assert max(run.audit.linear, run.audit.angular, run.audit.energy) < 1e-10


def test_a_spinning_rocket_is_damped_by_its_jet():
    """Turning across its axis, tank at a and nozzle at b behind the centre of mass, Iyy(t) and com (at the tank) fixed:
    d(w)/dt = -2 mdot w (b - a) (a + b) / 2 / I = -mdot w (b^2 - a^2) / I: closed form with I(t) = I0 - k mdot t.
    """
    craft, rate, k = _rocket(), THRUST / (ISP * G0), 0.1
    law = burning(craft, _on, Tank("hub", 300.0, gyration=(0.0, k, 0.0)))
    end = 250.0 / rate
    w0 = craft.v({"base": [0.0, 0.05, 0.0, 0.0, 0.0, 0.0]})
    run = gs.simulate(craft, gs.neutral(craft), w0, t_span=(0.0, end), control=law, rtol=1e-12)
    inertia = 70.0 - k * rate * run.time
    assert run.v[:, 1] == pytest.approx(0.05 * (inertia / 70.0) ** (1.2**2 / k), rel=1e-9)


def test_momentum_and_energy_are_accounted_with_what_leaves():
    craft, tanks = _craft()
    law = burning(
        craft, _all_on, tanks, control=lambda craft, t, q, v: gs.joint_torques(craft, {"shoulder": 0.3 * sin(t)})
    )
    rng = np.random.default_rng(3)
    v = 0.2 * rng.normal(size=craft.nv)
    run = gs.simulate(craft, gs.neutral(craft), v, t_span=(0.0, 40.0), control=law, rtol=1e-12)
    assert max(run.audit.linear, run.audit.angular, run.audit.energy) < 1e-11
    used = run.data["z"].values[-1]
    assert used[0] > 1.0 and used[1] == pytest.approx((3.0 * 40.0 + 1.0 - np.cos(40.0)) / (60.0 * G0), rel=1e-9)
    (cause,) = [cause for cause in run.audit.causes if cause.who == "propellant that leaves"]
    assert np.abs(cause.impulse).max() > 1e-2 and cause.work != 0.0
    left = without_propellant(
        without_propellant(craft, used[0], tank=tanks[0].position), used[1], body="arm", tank=tanks[1].position
    )
    assert run.center_of_mass()[-1] == pytest.approx(gs.center_of_mass(left, run.q[-1]), rel=1e-12)


def test_accelerations_are_those_of_all_masses_in_their_places():
    """At one instant: the lighter craft under thrust and Coriolis forces of the flow, by hand."""
    craft, tanks = _craft()
    rng = np.random.default_rng(5)
    q, v = gs.step_configuration(craft, gs.neutral(craft), rng.normal(size=craft.nv)), rng.normal(size=craft.nv)
    law = burning(craft, lambda craft, t, q, v: {"roll": 12.0}, tanks)
    z = np.array([30.0, 2.0])
    light = law.propellant.left(craft, z)
    assert gs.total_mass(craft) - gs.total_mass(light) == pytest.approx(32.0)
    roll = craft.thruster("roll")
    p_t, p_n, mdot = np.array(tanks[0].position), roll.position, 12.0 / (70.0 * G0)
    middle, force = 0.5 * (p_t + p_n), -2.0 * mdot * np.cross(v[:3], p_n - p_t)
    tau = 12.0 * thruster_matrix(craft, q)[:, 1]
    tau[:6] += np.concatenate([np.cross(middle, force), force])
    assert law.output(light, 0.0, q, v, z) == pytest.approx(tau, abs=1e-12 * np.abs(tau).max())


def test_thrust_ends_where_the_tank_is_empty():
    craft, rate = _rocket(), THRUST / (ISP * G0)
    law = burning(craft, _on, Tank("hub", 5.0))
    run = gs.simulate(craft, gs.neutral(craft), np.zeros(6), t_span=(0.0, 40.0), control=law, rtol=1e-10)
    assert 5.0 / rate < 30.0 and run.data["z"].values[-1, 0] == pytest.approx(5.0, abs=1e-4)
    assert run.v[-1, 3] == pytest.approx(ISP * G0 * np.log(500.0 / 495.0), rel=1e-4)


def test_step_by_step_a_batch_and_parameters_burn_alike():
    craft, tanks = _craft()
    law, v = burning(craft, _all_on, tanks), craft.v({"base": [0.1, 0.05, 0.02, 0, 0, 0]})
    alone = gs.simulate(craft, gs.neutral(craft), v, t_span=(0.0, 2.0), control=law, rtol=1e-11)
    sim = gs.Simulation(craft, control=law, rtol=1e-11)
    sim.reset(gs.neutral(craft), v)
    for _ in range(4):
        sim.step(dt=0.5)
    assert sim.v == pytest.approx(alone.v[-1], abs=1e-9)
    masses = np.array([18.0, 20.0, 25.0])
    batch = gs.simulate(
        craft,
        gs.neutral(craft),
        np.stack([v] * 3),
        t_span=(0.0, 2.0),
        control=law,
        rtol=1e-11,
        parameters={"arm.mass": masses},
    )
    assert batch.v[1, -1] == pytest.approx(alone.v[-1], abs=1e-11)
    heavy = craft.with_values({"arm.mass": 25.0})
    assert batch.v[2, -1] == pytest.approx(
        gs.simulate(heavy, gs.neutral(craft), v, t_span=(0.0, 2.0), control=law, rtol=1e-11).v[-1], abs=1e-10
    )


def test_a_file_of_the_run_knows_what_was_burnt(tmp_path):
    craft = _rocket()
    run = gs.simulate(
        craft, gs.neutral(craft), np.zeros(6), t_span=(0, 5), control=burning(craft, _on, Tank("hub", 300.0))
    )
    run.save(tmp_path / "run.nc")
    again = gs.Trajectory.load(tmp_path / "run.nc")
    assert again.poses().p_NB == pytest.approx(run.poses().p_NB)
    assert np.array_equal(again.momentum(), run.momentum()) and again.audit == run.audit and str(again)
    again.data.attrs["propellant"] = True  # as older files have it
    with pytest.raises(ValueError, match="burnt propellant, and its file, of an older version, does not hold how"):
        again.momentum()


def test_members_of_a_formation_burn_as_they_do_alone():
    craft = _rocket()
    law = burning(craft, _on, Tank("hub", 300.0))
    formation = gs.Formation({"m": gs.Group(craft, ["a", "b"])})
    q, v = np.stack([gs.neutral(craft)] * 2), np.array([[0.0] * 6, [0.0, 0.0, 0.01, 0.0, 0.0, 0.0]])
    run = gs.simulate(formation, {"m": (q, v)}, t_span=(0.0, 20.0), control=law)
    alone = gs.simulate(craft, q[1], v[1], t_span=(0.0, 20.0), control=law)
    both = run.groups["m"]
    assert both.q[1, -1] == pytest.approx(alone.q[-1], rel=1e-9, abs=1e-9)
    assert both.momentum()[1, -1] == pytest.approx(alone.momentum()[-1], rel=1e-9, abs=1e-9)
    assert both.data["z"].values[:, -1] == pytest.approx(float(alone.data["z"].values[-1, 0]))
    audit = run.audits["m"]
    assert max(audit.linear, audit.energy) < 1e-8
    with pytest.raises(ValueError, match="craft of group 'm' burn propellant.*run.groups"):
        run.tree()


@pytest.mark.parametrize(
    ("tank", "words"),
    [
        (Tank("hub", 600.0), "holds 600.0 kg; expected above zero, and less than the 500 kg"),
        (Tank("hull", 6.0), "no body 'hull'"),
        (Tank("hub", 6.0, thrusters=["mian"]), "Did you mean 'main'"),
        ([], "needs a tank and a thruster"),
        ([Tank("hub", 6.0), Tank("hub", 7.0)], "fed by two tanks"),
        (Tank("hub", 6.0, thrusters=[]), "no tank feeds thruster 'main'"),
    ],
)
def test_tanks_that_cannot_be_are_refused(tank, words):
    with pytest.raises(ValueError, match=words):
        burning(_rocket(), _on, tank)


def test_one_of_several_craft_burns_as_it_does_alone_whatever_its_bodies_are_called():
    """Bodies of one name are told apart in the model: its tanks were not found, or not among its own."""
    craft, tanks = _craft()
    law = burning(craft, _all_on, tanks)
    other = gs.Spacecraft.build("other", [gs.Body("hub", 40.0, (0.1, 0, 0), (5, 6, 7))])
    v = np.array([0.1, 0.2, 0.3, 0, 0, 0, 0.2, 3.0])
    alone = gs.simulate(craft, None, v, (0, 3), control=law, rtol=1e-11, save_at=[3])
    both = gs.together("both", [other, craft])
    member = both.member("c")
    start = np.zeros(both.nv)
    start[member.v_at] = v
    run = gs.simulate(both, None, start, (0, 3), control=gs.control.on("c", law), rtol=1e-11, save_at=[3])
    np.testing.assert_allclose(member.v(run.v), alone.v, rtol=0, atol=1e-9)
    assert run.audit.worst < 1e-9
    with pytest.raises(ValueError, match="of several laws none may"):
        gs.control.on({"c": law, "other": lambda craft, t, q, v: np.zeros(6)})


def test_what_burning_does_not_go_with_is_refused_by_name():
    craft, _ = _craft()
    rocket, one = _rocket(), Tank("hub", 300.0)
    with pytest.raises(ValueError, match="is sampled"):
        burning(rocket, _on, one, control=gs.Controller(lambda craft, t, q, v: np.zeros(6), period=0.1))
    with pytest.raises(ValueError, match="'side' is on 'arm', its tank on 'hub'"):
        burning(craft, _all_on, Tank("hub", 10.0))
    law = burning(rocket, _on, one)
    still = gs.neutral(rocket), np.zeros(6)
    with pytest.raises(ValueError, match="conserve='momentum': propellant"):
        gs.simulate(rocket, *still, t_span=(0, 1), control=law, conserve="momentum")
    with pytest.raises(ValueError, match="thrusts names 'mian'"):
        gs.simulate(rocket, *still, t_span=(0, 1), control=burning(rocket, lambda c, t, q, v: {"mian": 1.0}, one))
    for around in (lambda law: gs.control.notched(craft, law, 0.4), gs.control.Motors().driving):
        with pytest.raises(ValueError, match="(burns|what burns).*burning"):  # the craft stayed as heavy as it was
            around(burning(craft, _all_on, _craft()[1]))
    with pytest.raises(ValueError, match="burns propellant"):
        gs.simulate_phases(rocket, *still, [gs.Phase(1.0, "burn")], control=law)


def test_phases_refuse_it_however_it_is_given():
    """Made when a phase began, it was taken: the second phase had all of its propellant again."""
    craft, tanks = _craft()
    law = burning(craft, _all_on, tanks)
    for phase in (gs.Phase(1.0, control=law), gs.Phase(1.0, made=lambda craft, t, q, v: {"control": law})):
        with pytest.raises(ValueError, match="burns propellant, which phases do not hand on"):
            gs.simulate_phases(craft, None, None, [phase, gs.Phase(1.0)])


def test_what_a_motor_cannot_do_is_not_done_to_thrust():
    """The thrust of a nozzle on the arm loads the shoulder; it was delayed and held within the motor's effort."""
    craft, tanks = _craft()
    weak = gs.Spacecraft.build(
        "weak",
        [
            replace(b, joint=replace(b.joint, limits=gs.Limits(effort=0.5))) if b.name == "arm" else b
            for b in craft.bodies
        ],
        thrusters=craft.thrusters,
    )
    free = gs.simulate(weak, t_span=(0.0, 1.0), control=burning(weak, _all_on, tanks))
    for actuators, words in (
        (gs.Actuators(lag=0.1), "delay the thrust"),
        (gs.Actuators(), "effort of joint 'shoulder'"),
    ):
        with pytest.raises(ValueError, match=words):
            gs.simulate(weak, t_span=(0.0, 1.0), control=burning(weak, _all_on, tanks), actuators=actuators)
    same = gs.simulate(
        weak, t_span=(0.0, 1.0), control=burning(weak, _all_on, tanks), actuators=gs.Actuators(saturate=False)
    )
    np.testing.assert_allclose(same.v[-1], free.v[-1], rtol=1e-9)
