"""Single-gimbal control-moment gyros: momentum, torque, singularities, and a slew that conserves everything."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import cross, norm, quat_conjugate, quat_exp, quat_log, quat_multiply
from gyrostat.control import MinimumJerk, commanded_loads, joint_path, pose_reference
from gyrostat.control.control_moment_gyros import gyro_pyramid, gyro_report, gyro_state, gyros
from gyrostat.control.gyro_steering import gyro_attitude, robust_rates, singularity_measure, within_rate_limits

J, SPEED = 0.05, 600.0
SIZE = J * SPEED


def craft_with(max_rate=np.inf):
    bus = gs.Body("bus", 200.0, inertia=(30.0, 35.0, 40.0))
    return gs.Spacecraft.build("gyros", [bus, *gyro_pyramid("bus", J, max_rate=max_rate)])


def start(craft, angles=(0.0, 0.0, 0.0, 0.0)):
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    q[7:11], v[-4:] = angles, SPEED
    return q, v


def slew(goal, gain=40.0):
    def law(craft, t, q, v):
        s = gyro_state(craft, q, v)
        e = quat_log(quat_multiply(quat_conjugate(q[:4]), goal))
        torque = gain * (0.04 * e - 0.4 * v[:3])
        wanted = -torque - cross(v[:3], s.h.sum(axis=1))
        rates = within_rate_limits(craft, robust_rates(s.A, wanted, t, size=SIZE))
        return commanded_loads(craft, q, v, "floating", joints=10.0 * (rates - v[6:10])).tau

    return law


def test_a_pyramid_starts_balanced_and_able():
    craft = craft_with()
    assert [g.wheel for g in gyros(craft)] == [f"gyro_{k} wheel" for k in (1, 2, 3, 4)]
    s = gyro_state(craft, *start(craft))
    np.testing.assert_allclose(s.h.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(s.h, axis=0), SIZE)
    c2, s2 = 1 / 3, 2 / 3  # of 54.74 degrees
    np.testing.assert_allclose(s.A @ s.A.T, SIZE**2 * np.diag([2 * c2, 2 * c2, 4 * s2]), atol=1e-9)
    np.testing.assert_allclose(singularity_measure(s.A), np.sqrt(32 / 27) * SIZE**3)


def test_the_jacobian_is_the_derivative_of_the_momentum():
    craft = craft_with()
    q, v = start(craft, (0.3, -0.8, 1.1, 2.0))
    A = gyro_state(craft, q, v).A
    for k in range(4):
        step = np.zeros(craft.nq)
        step[7 + k] = 1e-6
        up, down = (gyro_state(craft, q + sign * step, v).h.sum(axis=1) for sign in (1, -1))
        np.testing.assert_allclose((up - down) / 2e-6, A[:, k], rtol=1e-7, atol=1e-7)


def test_gimbal_rates_turn_the_base_by_the_gyroscopic_torque():
    """Closed form at rest: the torque on the craft is -A rates, so its angular momentum without the wheels changes by
    that.
    """
    craft = craft_with()
    q, v = start(craft, (0.3, -0.8, 1.1, 2.0))
    v[6:10] = [0.2, -0.1, 0.3, 0.15]
    vdot = commanded_loads(craft, q, v, "floating", joints=np.zeros(4)).vdot
    s = gyro_state(craft, q, v)
    C = gs.mass_matrix(craft, q)[:3, :3]  # everything turning with the base
    J_free = J * sum(np.outer(h, h) for h in (s.h / SIZE).T)  # wheels without torque do not turn along
    gimbals = gs.bias_force(craft, q, v * [*np.ones(10), *np.zeros(4)])[:3]  # the gimbals' own gyroscopic load
    np.testing.assert_allclose((C - J_free) @ vdot[:3], -s.A @ v[6:10] - gimbals, atol=1e-3)
    assert np.abs(s.A @ v[6:10]).max() > 1.0


def test_far_from_singularities_the_robust_inverse_is_the_pseudo_inverse():
    craft = craft_with()
    A = gyro_state(craft, *start(craft, (0.1, -0.2, 0.3, 0.1))).A
    wanted = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(robust_rates(A, wanted, 0.3, size=SIZE), np.linalg.pinv(A) @ wanted, rtol=1e-5)


def test_at_a_singularity_the_pseudo_inverse_explodes_and_the_robust_one_does_not():
    """(-90, 0, 90, 0) degrees: the classic internal singularity of the pyramid; no torque about x."""
    craft = craft_with()
    angles = np.deg2rad([-90.0, 0.0, 90.0, 0.0])
    A = gyro_state(craft, *start(craft, angles)).A
    assert singularity_measure(A) < 1e-9 * SIZE**3
    u = np.linalg.svd(A)[0][:, 2]  # no gimbal rates make torque along it
    wanted = 3.0 * u + np.array([0.1, 0.1, 0.1])
    near = gyro_state(craft, *start(craft, angles + 1e-4)).A
    assert np.abs(np.linalg.pinv(near) @ wanted).max() > 100.0
    assert np.abs(robust_rates(near, wanted, 0.3, size=SIZE)).max() < 1.0
    # and it is left: a wish along the lost axis alone still moves the gimbals
    assert np.abs(robust_rates(A, 3.0 * u, 0.3, size=SIZE)).max() > 1e-4


@pytest.fixture(scope="module")
def slewed():
    craft = craft_with(max_rate=0.03)
    goal = quat_exp(np.array([0.9, -0.7, 1.2]))
    run = gs.simulate(
        craft, *start(craft), (0, 90), control=slew(goal), mode="rotation-floating", rtol=1e-12, atol=1e-12
    )
    return craft, goal, run


def test_a_slew_reaches_its_attitude_and_conserves_angular_momentum(slewed):
    """Constant to 1e-11 of the momenta inside, gyros included."""
    _, goal, run = slewed
    error = quat_log(quat_multiply(quat_conjugate(run.q[-1, :4]), goal))
    assert norm(error) < 1e-4 and np.abs(run.v[-1, :3]).max() < 1e-4
    h = run.momentum()
    assert np.abs(h - h[0]).max() < 1e-11 * 4 * SIZE
    assert run.mode_audit.ok


def test_rate_limits_hold_and_are_reported(slewed):
    craft, _, run = slewed
    assert np.abs(run.v[:, 6:10]).max() < 0.03 * 1.001
    report = gyro_report(craft, run.time, run.q, run.v)
    assert "reached its rate limit 0.03 rad/s" in str(report)
    assert 0 < report.closest <= report.measure[0]
    np.testing.assert_allclose(report.measure[0], np.sqrt(32 / 27), rtol=1e-9)


def test_saturated_gyros_are_reported_and_the_run_goes_on():
    """A steady torque from outside fills the gyros: they align, and then the base gives way."""
    craft = craft_with(max_rate=1.0)

    def wind(craft, t, q, v):
        return np.concatenate([np.array([[0.0, 0.0, 2.0, 0.0, 0.0, 0.0]]), np.zeros((craft.nbodies - 1, 6))])

    run = gs.simulate(
        craft,
        *start(craft),
        (0, 90),
        control=slew(np.array([1.0, 0, 0, 0]), gain=400.0),
        environment=wind,
        rtol=1e-8,
        atol=1e-8,
    )
    report = gyro_report(craft, run.time, run.q, run.v)
    early = np.abs(run.v[run.time < 30, 2]).max()
    assert early < 0.03 and np.abs(run.v[-1, 2]) > 0.3
    assert report.used.max() > 0.8 and report.closest < 0.05


def test_gyros_hold_the_base_against_an_arm():
    """The arm's reaction fed forward: only the gimbals' rate loops (10 1/s) are left to be felt."""
    bus = gs.Body("bus", 200.0, inertia=(30.0, 35.0, 40.0))
    shoulder = gs.Joint("shoulder", parent="bus", position=(0.8, 0, 0.1), axis=(0.2, 0.1, 1))
    bodies = [bus, *gyro_pyramid("bus", J), gs.Body("arm", 12.0, (0.7, 0, 0), (0.1, 2, 2), shoulder)]
    craft = gs.Spacecraft.build("gyros and arm", bodies)
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    v[-4:] = SPEED
    swing = joint_path([0.0], [1.2], MinimumJerk(15.0))
    place = craft.joint_named("shoulder")

    def arm(craft, t, q, v):
        wanted = swing(t)
        return wanted.qddot + 4.0 * (wanted.qdot - v[place.v_at]) + 4.0 * (wanted.q - q[place.q_at])

    law = gyro_attitude(lambda t: pose_reference(np.array([1.0, 0, 0, 0])), size=SIZE, arm=arm)
    held = gs.simulate(craft, q, v, (0, 15), control=law, mode="rotation-floating", rtol=1e-11, atol=1e-11)

    def without(craft, t, q, v):
        joints = np.concatenate([-v[6:10], arm(craft, t, q, v)])
        return commanded_loads(craft, q, v, "floating", joints=joints).tau

    still = gs.neutral(craft)
    loose = gs.simulate(craft, still, np.zeros(craft.nv), (0, 15), control=without, mode="floating")
    angle = [2 * np.linalg.norm(run.q[:, 1:4], axis=1).max() for run in (held, loose)]
    assert angle[0] < 0.02 * angle[1] and angle[1] > 0.2
    np.testing.assert_allclose(held.q[-1, place.q_at], 1.2, atol=1e-3)
    h = held.momentum("com")[:, :3]
    assert np.abs(h - h[0]).max() < 1e-11 * 4 * SIZE
