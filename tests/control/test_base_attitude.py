"""The base's attitude: by wheels against the arm, and with the arm."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import cos, quat_exp, quat_from_rotation, quat_multiply, rotation, sin
from gyrostat.control import (
    JointReference,
    attitude_error,
    commanded_loads,
    coordinated,
    joint_acceleration,
    pose_reference,
    wheel_attitude,
)
from gyrostat.control.base_attitude import turn_command
from manoeuvring_crafts import small_servicer

CRAFT = small_servicer()
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
OMEGA = np.array([0.9, 0.6])


def swing(t):
    a = np.array([0.5, -0.7])
    return JointReference(
        a * np.array([1 - cos(w * t) for w in OMEGA]),
        a * OMEGA * np.array([sin(w * t) for w in OMEGA]),
        a * OMEGA**2 * np.array([cos(w * t) for w in OMEGA]),
    )


ARM = joint_acceleration(swing)


def hold(t):
    return pose_reference(UPRIGHT)


def spinning(t):
    """A turn about a fixed axis, to and fro: quat, w and wdot in its own axes."""
    axis = np.array([2.0, -1.0, 2.0]) / 3
    angle, rate, acceleration = 0.3 * (1 - cos(0.5 * t)), 0.15 * sin(0.5 * t), 0.075 * cos(0.5 * t)
    quat = np.concatenate([[cos(0.5 * angle)], axis * sin(0.5 * angle)])
    p = np.array([0.2 * (1 - cos(0.4 * t)), 0.0 * t, 0.1 * (1 - cos(0.7 * t))])
    v = np.array([0.08 * sin(0.4 * t), 0.0 * t, 0.07 * sin(0.7 * t)])
    a = np.array([0.032 * cos(0.4 * t), 0.0 * t, 0.049 * cos(0.7 * t)])
    return pose_reference(quat, p, w_ND_D=axis * rate, wdot_ND_D=axis * acceleration, v_N=v, a_N=a)


def angles(run, reference):
    wanted = np.array([quat_from_rotation(reference(t).X.R) for t in run.time])
    return np.linalg.norm(attitude_error(run.q[:, :4], wanted), axis=-1)


def simulate(law, mode, **more):
    q = gs.neutral(CRAFT)
    return gs.simulate(CRAFT, q, np.zeros(CRAFT.nv), (0, 15), control=law, mode=mode, rtol=1e-11, atol=1e-11, **more)


def test_the_turn_command_feeds_the_reference_rate_forward_in_base_axes():
    """With no gains it is d/dt (R_BD w_D), whatever the base's own rate: against finite differences along a motion."""
    rng = np.random.default_rng(4)
    q = gs.step_configuration(CRAFT, gs.neutral(CRAFT), rng.normal(size=CRAFT.nv))
    v, t, h = rng.normal(size=CRAFT.nv), 1.3, 1e-5

    def rate_in_base(step):
        wanted = spinning(t + step)
        there = gs.step_configuration(CRAFT, q, step * v)
        return rotation(there[:4]).T @ wanted.twist[:3]

    expected = (rate_in_base(h) - rate_in_base(-h)) / (2 * h)
    np.testing.assert_allclose(turn_command(CRAFT, q, v, spinning(t), 0.0, 0.0), expected, atol=1e-9)


def test_fed_forward_wheels_hold_the_base_and_alone_they_chase_it():
    known = simulate(wheel_attitude(hold, ARM), "rotation-floating")
    inertia = gs.mass_matrix(CRAFT, gs.neutral(CRAFT))[:3, :3]
    chasing = simulate(wheel_attitude(hold, ARM, feed_forward=False, inertia=inertia), "rotation-floating")
    nothing = simulate(
        lambda craft, t, q, v: commanded_loads(craft, q, v, "floating", joints=ARM(craft, t, q, v)).tau, "floating"
    )
    assert angles(known, hold).max() < 1e-9
    assert 1e-3 < angles(chasing, hold).max() < 0.5 * angles(nothing, hold).max()
    assert np.abs(known.v[:, 8:]).max() > 5.0  # the wheels took it


def test_wheels_follow_a_moving_attitude_reference():
    run = simulate(wheel_attitude(spinning, ARM), "rotation-floating")
    assert angles(run, spinning).max() < 1e-9


def test_a_small_attitude_error_decays_as_designed():
    """Closed form, critically damped at 0.5 1/s: kp = 0.25, kd = 1."""
    off = gs.neutral(CRAFT)
    off[:4] = quat_multiply(quat_exp(np.array([2e-3, -1e-3, 1.5e-3])), UPRIGHT)
    run = gs.simulate(
        CRAFT, off, np.zeros(CRAFT.nv), (0, 15), control=wheel_attitude(hold, ARM), mode="rotation-floating"
    )
    e = angles(run, hold)
    np.testing.assert_allclose(e, e[0] * (1 + 0.5 * run.time) * np.exp(-0.5 * run.time), atol=1e-8)


def test_a_dispersed_batch_is_one_call():
    """Each run has its own masses, which the law knows: all hold their attitude."""
    q = np.tile(gs.neutral(CRAFT), (5, 1))
    own = {"lower.mass": np.linspace(5.0, 12.0, 5), "bus.mass": np.linspace(80.0, 120.0, 5)}
    run = gs.simulate(
        CRAFT,
        q,
        np.zeros((5, CRAFT.nv)),
        (0, 5),
        control=wheel_attitude(hold, ARM),
        mode="rotation-floating",
        parameters=own,
    )
    assert np.abs(run.q[..., 1:4]).max() < 1e-9 and run.mode_audit.ok
    assert np.ptp(run.v[:, -1, 8]) > 0.1


@pytest.mark.parametrize("mode", ["flying", "rotation-flying", "translation-flying"])
def test_base_and_arm_follow_their_own_references(mode):
    run = simulate(coordinated(spinning, ARM, mode=mode), mode)
    np.testing.assert_allclose(run.q[:, 7:], [swing(t).q for t in run.time], atol=1e-8)
    if mode != "translation-flying":
        assert angles(run, spinning).max() < 1e-8
    if mode != "rotation-flying":
        np.testing.assert_allclose(run.q[:, 4:7], [spinning(t).X.p for t in run.time], atol=1e-8)
