"""Quaternion feedback, sliding mode, momentum dumping by torquers; the whole loop."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import quat_exp, quat_log, quat_multiply, rotation
from gyrostat.control import (
    AttitudeFilter,
    Imperfection,
    IntegratingGyro,
    MagneticTorquers,
    StarTracker,
    attitude_error,
    pose_reference,
    quaternion_feedback,
    sliding_mode,
    wheel_momenta,
    wheel_pyramid,
)
from gyrostat.environment import Orbit, combined, two_body_gravity, zonal_gravity

INERTIA = np.array([[9.0, 0.4, -0.3], [0.4, 11.0, 0.6], [-0.3, 0.6, 7.0]])
GOAL = quat_exp(np.array([0.5, -0.7, 0.9]))


def craft(**losses):
    hull = gs.Body("hull", 60.0, (0.02, -0.01, 0.03), INERTIA)
    return gs.Spacecraft.build("sat", [hull, *wheel_pyramid("hull", 0.01, max_torque=0.5, max_speed=700.0, **losses)])


CRAFT = craft()


def hold(t):
    return pose_reference(GOAL)


def angle_to_goal(traj):
    return np.array([np.linalg.norm(attitude_error(q[:4], GOAL)) for q in np.atleast_2d(traj.q)])


def test_quaternion_feedback_lets_the_error_die_out_as_an_oscillator_does():
    """With w along e the law is exact: e'' + kd e' + kp e = 0 for any angle, here critically damped from 70 degrees."""
    kp, n = 0.04, np.array([0.6, 0.0, 0.8])
    q = gs.neutral(CRAFT)
    q[:4] = quat_multiply(GOAL, quat_exp(-1.2 * n))
    t = np.linspace(0, 40, 9)
    law = quaternion_feedback(hold, kp=kp, kd=0.4)
    traj = gs.simulate(
        CRAFT, q, np.r_[np.zeros(6), 30.0, -20.0, 10.0, 5.0], (0, 40), control=law, save_at=t, rtol=1e-11
    )
    np.testing.assert_allclose(angle_to_goal(traj), 1.2 * (1 + 0.2 * t) * np.exp(-0.2 * t), atol=1e-7)


def test_quaternion_feedback_follows_a_reference_that_turns():
    w = np.array([0.01, -0.02, 0.015])

    def turning(t):
        return pose_reference(quat_multiply(GOAL, quat_exp(w * t)), w_ND_D=w)

    q, v = gs.neutral(CRAFT), np.zeros(CRAFT.nv)
    q[:4], v[:3] = GOAL, w
    law = quaternion_feedback(turning, kp=0.04, kd=0.4)
    traj = gs.simulate(CRAFT, q, v, (0, 30), control=law, rtol=1e-10)
    assert (
        np.abs(quat_log(quat_multiply(quat_exp(-w * 30), quat_multiply(GOAL * [1, -1, -1, -1], traj.q[-1, :4])))).max()
        < 1e-8
    )


def test_on_the_sliding_surface_the_error_dies_out_whatever_load_acts():
    push = np.array([0.02, -0.03, 0.01])

    def load(craft, t, q, v):
        return np.array([[*push, 0, 0, 0], *[[0.0] * 6] * 4])

    law = sliding_mode(hold, slope=0.1, reach=0.02, layer=1e-3)
    traj = gs.simulate(
        CRAFT, None, np.r_[0.05, -0.03, 0.02, np.zeros(7)], (0, 120), control=law, environment=load, rtol=1e-8
    )
    feedback = quaternion_feedback(hold, kp=0.01, kd=0.2)
    other = gs.simulate(CRAFT, None, np.zeros(CRAFT.nv), (0, 120), control=feedback, environment=load, rtol=1e-8)
    s = traj.v[-1, :3] - 0.1 * attitude_error(traj.q[-1, :4], GOAL)
    np.testing.assert_allclose(s, 1e-3 / 0.02 * np.linalg.solve(INERTIA, push), rtol=0.05)  # inside the layer
    assert angle_to_goal(traj)[-1] < 3e-3 and angle_to_goal(other)[-1] > 0.05


def test_wheel_speeds_go_where_they_are_wished_as_far_as_nothing_turns():
    wished = 100.0 * np.array([1.0, -1.0, 1.0, -1.0])
    q = gs.neutral(CRAFT)
    q[:4] = GOAL
    law = quaternion_feedback(hold, kp=0.04, kd=0.4, speeds=wished, rate=0.05)
    traj = gs.simulate(CRAFT, q, None, (0, 120), control=law, rtol=1e-9)
    np.testing.assert_allclose(traj.v[-1, 6:], wished, rtol=3e-3)
    assert angle_to_goal(traj).max() < 1e-7


# ---- torquers and the whole loop

ORBIT = Orbit.circular(550e3, 1.6)


def field(t, r):
    """A tilted dipole that stands still."""
    m, d2 = np.array([0.15, -0.08, 0.98]), r @ r
    d5 = d2 * d2 * d2**0.5
    return 7.9e15 * (3.0 * (m @ r) * r - d2 * m) / d5


TORQUERS = MagneticTorquers(ORBIT, field, 20.0)


def wheel_momentum(one, traj):
    return np.array(
        [np.linalg.norm(gs.control.wheel_axes(one, q) @ (0.01 * v[6:])) for q, v in zip(traj.q, traj.v, strict=True)]
    )


def test_torquers_push_across_the_field_that_is_there_and_no_harder_than_they_can():
    q, v = gs.neutral(CRAFT), np.arange(10.0)
    q[:4] = GOAL

    def law(craft, t, q, v):
        return np.concatenate([np.zeros(craft.nv), [100.0, -5.0, 3.0]])

    tau = TORQUERS.driving(law)(CRAFT, 10.0, q, v)
    B = rotation(GOAL).T @ field(10.0, ORBIT.state(10.0).r)
    np.testing.assert_allclose(tau[:3], np.cross([20.0, -5.0, 3.0], B), rtol=1e-12)
    assert not tau[3:].any()
    with pytest.raises(ValueError, match="expected loads and three dipoles"):
        TORQUERS.driving(lambda craft, t, q, v: np.zeros(craft.nv))(CRAFT, 0.0, q, v)


def test_torquers_empty_the_wheels_while_the_attitude_holds():
    q = gs.neutral(CRAFT)
    q[:4] = GOAL
    v = np.r_[np.zeros(6), 300.0, 250.0, -100.0, 200.0]
    law = TORQUERS.driving(TORQUERS.dumping(quaternion_feedback(hold, kp=0.01, kd=0.2), 2e-3))
    traj = gs.simulate(
        CRAFT, q, v, (0, 1.5 * ORBIT.period), control=gs.Controller(law, period=1.0), integrator="rk4", step=1.0
    )
    h = wheel_momentum(CRAFT, traj)
    assert h[-1] < 0.03 * h[0] and h[0] > 2.0
    assert angle_to_goal(traj).max() < 2e-4
    assert (np.diff(h) < 1e-3).all()


def loop(tracker, period=0.2):
    """Gyro and tracker, filter, law, wheels with friction, torquers that dump."""
    one = craft(friction=2e-4, damping=1e-6)
    speeds = 120.0 * np.array([1.0, -1.0, 1.0, -1.0])
    law = quaternion_feedback(hold, kp=4e-3, kd=0.12, speeds=speeds, rate=0.02)
    gyro = IntegratingGyro(angle_walk=2e-5, rate_walk=1e-6, bias=5e-4)
    filt = AttitudeFilter(gyro, tracker, period, every=5, start=GOAL, sigma=0.8)
    control = TORQUERS.driving(filt.controller(TORQUERS.dumping(law, 1e-3, speeds)))
    return one, filt, control, combined(two_body_gravity(ORBIT), zonal_gravity(ORBIT, 2))


def test_the_whole_loop_points_and_empties_its_wheels():
    tracker = StarTracker(Imperfection(noise=(5e-5, 5e-5, 4e-4), lost=0.1))
    one, filt, control, environment = loop(tracker)
    q, v = gs.neutral(one), np.r_[0.01, -0.02, 0.015, 0, 0, 0, 200.0, -100.0, 150.0, -60.0]
    q[:4] = quat_multiply(
        GOAL, quat_exp(np.array([0.5, -0.6, 0.7]))
    )  # 60 degrees off, and so is what the filter believes
    end = 4000.0
    traj = gs.simulate(
        one, q, v, (0.0, end), control=control, environment=environment, integrator="rk4", step=0.2, seed=4,
        save_at=np.linspace(0, end, 81) + np.r_[0.0, [0.1] * 79, 0.0],
    )  # fmt: skip
    off = angle_to_goal(traj)
    assert off[0] > 1.0 and off[20:].max() < 3e-3
    found = filt.report(traj.data["held_z"].values[1:-1])
    assert np.mean(found.nees[20:]) == pytest.approx(6.0, abs=2.5)
    bias = 120.0 * np.array([1.0, -1.0, 1.0, -1.0])
    h = [
        np.linalg.norm(gs.control.wheel_axes(one, q) @ (0.01 * (v[6:] - bias)))
        for q, v in zip(traj.q, traj.v, strict=True)
    ]
    assert h[-1] < 0.25 * h[0]
    rows = dict(traj.audit.rows())
    assert max(drift for drift in rows.values() if drift is not None) < 1e-6
    assert wheel_momenta(one, traj.q[-1], traj.v[-1]).shape == (4,)


def test_a_blinded_tracker_is_not_read():
    """All around it is bright: the filter's covariance grows as without a tracker."""
    bright = gs.environment.Celestial("Sun", 1.3e20, 7e8, lambda t: np.array([1.5e11, 0.0, 0.0]))
    hull = gs.Body("hull", 60.0, inertia=INERTIA)
    one = gs.Spacecraft.build("sat", [hull], frames=[gs.Frame("eye", "hull")])
    sigmas = []
    for tracker in (
        StarTracker(Imperfection(noise=1e-4), "eye", ORBIT, ((bright, 3.1),)),
        StarTracker(Imperfection(noise=1e-4), "eye", ORBIT, ((bright, 0.1),)),
    ):
        filt = AttitudeFilter(IntegratingGyro(1e-5, bias=1e-4), tracker, 0.1)
        control = filt.controller(lambda craft, t, q, v: np.zeros(6))
        traj = gs.simulate(one, None, None, (0, 5.05), control=control, save_at=[0, 5.05], integrator="rk4", step=0.1)
        sigmas.append(filt.report(traj.data["held_z"].values[-1]).sigma[0])
    assert sigmas[0] > 0.9 and sigmas[1] < 1e-4


def test_what_cannot_be_is_said():
    with pytest.raises(ValueError, match="has no wheels that are driven"):
        bare = gs.Spacecraft.build("b", [gs.Body("hull", 1.0, inertia=[1, 1, 1])])
        quaternion_feedback(hold, kp=1.0, kd=1.0)(bare, 0.0, gs.neutral(bare), np.zeros(6))
    with pytest.raises(ValueError, match="quaternion_feedback: kp is -1"):
        quaternion_feedback(hold, kp=-1.0, kd=1.0)
    with pytest.raises(ValueError, match="sliding_mode: layer is 0"):
        sliding_mode(hold, slope=1.0, reach=1.0, layer=0.0)
    with pytest.raises(ValueError, match=r"limit is 0.0; expected A m\^2"):
        MagneticTorquers(ORBIT, field, 0.0)
    with pytest.raises(ValueError, match="its tracker has delay"):
        AttitudeFilter(IntegratingGyro(1e-5), StarTracker(Imperfection(noise=1e-4, delay=0.5)), 0.1)
