"""Joint motors: gear, torque-speed line, efficiency, friction, saturation."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.control.motors import Motor, Motors

GEAR = 50.0


def craft(friction=0.0, rotor=0.0):
    arm = gs.Joint("elbow", parent="bus", axis=(0, 0, 1), gear_ratio=GEAR, rotor_inertia=rotor, friction=friction)
    bodies = [
        gs.Body("bus", 1e3, inertia=(1e3, 1e3, 1e3), joint=gs.Joint("base", "fixed")),
        gs.Body("arm", 1.0, inertia=(1, 1, 2.0), joint=arm),
    ]
    return gs.Spacecraft.build("one joint", bodies)


def test_the_torque_speed_line_ends_at_no_load_speed():
    """Closed form: full command, I w' = N Ms (1 - N w / w0): w = w0/N (1 - exp(-t N^2 Ms / (I w0)))."""
    motor = Motor(0.1, 400.0)
    motors = Motors({"elbow": motor})
    one = craft()
    trajectory = gs.simulate(
        one, t_span=(0, 10), control=motors.driving(lambda craft, t, q, v: 1e3 + 0.0 * v), rtol=1e-11
    )
    rate = GEAR**2 * 0.1 / (2.0 * 400.0)
    np.testing.assert_allclose(
        trajectory.v[:, 0], 400.0 / GEAR * (1 - np.exp(-rate * trajectory.time)), rtol=1e-7, atol=1e-9
    )


def test_rotors_behind_the_gear_add_their_inertia():
    motors = Motors({"elbow": Motor(0.1)})
    heavy = craft(rotor=1e-3)
    vdot = gs.forward_dynamics(
        heavy, gs.neutral(heavy), np.zeros(1), motors.delivered(heavy, np.array([99.0]), np.zeros(1))
    )
    np.testing.assert_allclose(vdot, [GEAR * 0.1 / (2.0 + 1e-3 * GEAR**2)])


def test_gears_lose_power_driving_and_brake_better_than_they_drive():
    motor, joint = Motor(0.1, efficiency=0.8), craft().joint_named("elbow")
    assert motor.range_at(joint, 0.5) == (-0.1 * GEAR / 0.8, 0.1 * GEAR * 0.8)
    assert motor.range_at(joint, -0.5) == (-0.1 * GEAR * 0.8, 0.1 * GEAR / 0.8)


def test_friction_of_the_model_stops_a_coasting_joint():
    """Coulomb friction: the joint stops after w0 I / friction seconds."""
    slow = craft(friction=0.4)
    trajectory = gs.simulate(slow, gs.neutral(slow), np.array([0.5]), (0, 4), rtol=1e-9)
    assert abs(np.interp(1.25, trajectory.time, trajectory.v[:, 0]) - 0.25) < 1e-3
    assert abs(trajectory.v[-1, 0]) < 1e-3


def test_what_is_not_delivered_is_reported():
    motors = Motors({"elbow": Motor(0.1)})
    report = motors.shortfall(craft(), np.array([[3.0], [-7.0], [5.5]]), np.zeros((3, 1)))
    np.testing.assert_allclose(report["elbow"], 2.0)


def test_limits_of_the_model_make_a_torque_speed_line():
    """Full effort at rest, half of it at half the rate, none at the rate limit."""
    joint = gs.Joint("elbow", parent="bus", gear_ratio=GEAR, limits=gs.Limits(velocity=0.8, effort=12.0))
    one = gs.Spacecraft.build(
        "c", [gs.Body("bus", 1.0, inertia=(1, 1, 1)), gs.Body("arm", 1.0, inertia=(1, 1, 1), joint=joint)]
    )
    motors = Motors.of_model(one)
    for rate, most in ((0.0, 12.0), (0.4, 6.0), (0.8, 0.0)):
        v = np.array([0, 0, 0, 0, 0, 0, rate])
        np.testing.assert_allclose(motors.delivered(one, np.full(7, 99.0), v)[6], most, atol=1e-12)


def test_impossible_motors_are_refused():
    for wrong in (
        {"stall_torque": 0.0},
        {"stall_torque": 1.0, "efficiency": 1.2},
        {"stall_torque": 1.0, "no_load_speed": 0},
    ):
        with pytest.raises(ValueError, match="must be positive"):
            Motor(**wrong)


@pytest.mark.parametrize("gear", [10.0, -10.0, -0.5])
def test_a_gear_that_reverses_the_sense_delivers_what_is_asked(gear):
    joint = gs.Joint("j", "revolute", "b", gear_ratio=gear, limits=gs.Limits(effort=5.0, velocity=2.0))
    craft = gs.Spacecraft.build(
        "m", [gs.Body("b", 10.0, inertia=(1, 2, 2.5)), gs.Body("k", 1.0, inertia=(0.1,) * 3, joint=joint)]
    )
    motors = Motors.of_model(craft)
    for rate, asked, given in (
        (0.0, 3.0, 3.0),
        (0.0, -7.0, -5.0),
        (1.0, 5.0, 2.5),
        (1.0, -7.0, -5.0),
        (-1.5, -4.0, -1.25),
    ):
        v = np.array([0.0] * 6 + [rate])
        assert motors.delivered(craft, np.array([0.0] * 6 + [asked]), v)[6] == pytest.approx(given)


def test_a_driven_law_is_given_what_every_law_is_given():
    """Craft, time and state, in that order: a law of all of them, within what the motor can give."""
    one, motors = craft(), Motors({"elbow": Motor(0.1, 400.0)})

    def law(craft, t, q, v):
        return craft.v({"elbow": 0.3 * t - 0.2 * q[0] - 0.1 * v[0]})

    options = {"t_span": (0, 3), "save_at": [1.0, 2.0, 3.0], "rtol": 1e-10}
    plain, driven = (gs.simulate(one, {"elbow": 0.2}, {}, control=f, **options) for f in (law, motors.driving(law)))
    np.testing.assert_allclose(driven.q, plain.q, atol=1e-12)
    assert np.ptp(plain.q) > 0.1


def test_joints_without_motors_get_none():
    limits = gs.Limits(effort=5.0)
    bodies = [gs.Body("b", 10.0, inertia=(1, 2, 2.5))]
    for name, more in (("motor", {}), ("spring", {"stiffness": 1.0}), ("loose", {"driven": False})):
        joint = gs.Joint(name, "revolute", "b", limits=limits, **more)
        bodies.append(gs.Body(f"{name} link", 1.0, inertia=(0.1,) * 3, joint=joint))
    assert list(Motors.of_model(gs.Spacecraft.build("m", bodies)).motors) == ["motor"]
