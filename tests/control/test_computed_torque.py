"""Equations (112)-(115) of Wilde et al. (2018): computed torque control on a floating base, and the rate profiles."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from gyrostat.control import JointReference, RateProfile, computed_torque, gains, one_joint_at_a_time
from gyrostat.formulations.generalized_jacobian import (
    base_velocity_from_momentum,
    generalized_inertia,
    reduced_forward_dynamics,
)
from gyrostat.tracing import compile
from random_trees import ALL_KINDS, random_spacecraft, random_state
from wilde_arms import apart, close, random_arm


def resting(craft, q):
    """A reference that stays at q, with rates and accelerations that are not zero (to see them at work)."""
    n = craft.nv - 6
    return JointReference(q[7:], np.linspace(-1, 1, n), np.linspace(2, 3, n))


def case(seed):
    """Random craft with zero momentum, a target near its state."""
    craft = random_spacecraft(seed, base="free", kinds=[kind for kind in ALL_KINDS if kind != "free"])
    q, v = random_state(craft, seed)
    v = np.concatenate([base_velocity_from_momentum(craft, q, v[6:]), v[6:]])
    step = np.concatenate([np.zeros(6), 0.3 * np.random.default_rng(seed).normal(size=craft.nv - 6)])
    return craft, q, v, gs.step_configuration(craft, q, step), step[6:]


@pytest.mark.parametrize("seed", range(20))
def test_eq_112_and_115_a_perfect_model_leaves_double_integrators(seed):
    """Whatever the craft, its joint kinds and wheels: qddot = u, while the base floats."""
    craft, q, v, target, error = case(seed)
    error = np.where(gs.configuration_difference(craft, q, target)[6:] == 0.0, 0.0, error)  # wheels have no position
    kp, kd = 2.0, 0.7
    desired = resting(craft, target)
    for feed_forward in (False, True):
        tau = computed_torque(lambda t: desired, kp=kp, kd=kd, feed_forward=feed_forward)(craft, 0.0, q, v)
        assert not np.any(tau[:6])
        u = kd * (desired.qdot - v[6:]) + kp * error + (desired.qddot if feed_forward else 0.0)
        close(gs.forward_dynamics(craft, q, v, tau)[6:], u, 1e-9)  # cond(H*) up to 1e4, u of order one


@pytest.mark.parametrize("seed", range(5))
def test_a_tumbling_craft_needs_its_momentum_measured(seed):
    craft, q, _, target, _ = case(seed)
    v = random_state(craft, seed + 1)[1]
    desired = resting(craft, target)
    u = computed_torque_u(craft, q, v, desired)
    measured = computed_torque(lambda t: desired, momentum="measured")(craft, 0.0, q, v)
    close(gs.forward_dynamics(craft, q, v, measured)[6:], u, 1e-9)
    assumed_zero = computed_torque(lambda t: desired)(craft, 0.0, q, v)
    apart(gs.forward_dynamics(craft, q, v, assumed_zero)[6:], u)


def computed_torque_u(craft, q, v, desired):
    error = gs.configuration_difference(craft, q, np.concatenate([q[:7], desired.q]))[6:]
    return desired.qdot - v[6:] + error


def test_eq_115_with_another_crafts_mass_properties():
    """The estimate's H* and C* are used: the acceleration is H*^-1 (H~* u + C~* - C*), not u."""
    craft, q, v, target, _ = case(3)
    wrong = craft.with_values({"base.mass": 1.3 * craft.body("base").mass, "body_1.mass": 2.0})
    desired = resting(craft, target)
    tau = computed_torque(lambda t: desired, estimate=wrong)(craft, 0.0, q, v)
    u = computed_torque_u(craft, q, v, desired)
    believed = np.concatenate([base_velocity_from_momentum(wrong, q, v[6:]), v[6:]])
    close(gs.forward_dynamics(wrong, q, believed, tau)[6:], u, 1e-9)
    apart(gs.forward_dynamics(craft, q, v, tau)[6:], u)


def test_eq_113_and_114_gains():
    """The largest error asks for the largest torque of a joint alone; poles have damping 0.707. As printed, only if K_P
    = 1.
    """
    _, craft = random_arm(0)
    q = gs.neutral(craft)
    kp, kd = gains(craft, q, max_torque=5.0, max_error=0.1)
    close(np.diag(generalized_inertia(craft, q)) * kp * 0.1, np.full(4, 5.0))  # (113)
    for p, d in zip(kp, kd, strict=True):
        pole = np.roots([1.0, d, p])[0]
        close(-pole.real / abs(pole), 0.5**0.5)  # (114)
        printed = np.roots([1.0, np.sqrt(2) * p, p])[0]
        apart(-printed.real / abs(printed), 0.5**0.5)


# ---- rate profiles


def test_the_papers_profile():
    """+0.1 for 10 s, 0 for 2 s, -0.1 for 20 s, 0 for 2 s, +0.1 for 10 s; one joint after the other; ends where it
    began.
    """
    profile = one_joint_at_a_time(3)
    assert profile.breakpoints == tuple(44.0 * j + t for j in range(3) for t in (0, 10, 12, 32, 34)) + (132.0,)
    for t, rate, angle in ((5, 0.1, 0.5), (11, 0, 1.0), (20, -0.1, 0.2), (33, 0, -1.0), (39, 0.1, -0.5), (44, 0, 0)):
        for joint in range(3):
            reference = profile(44.0 * joint + t)
            other = 0.1 if t == 44 and joint < 2 else 0.0  # the next joint starts at once
            np.testing.assert_allclose(reference.q, angle * np.eye(3)[joint], atol=1e-14)
            expected = rate * np.eye(3)[joint] + other * np.eye(3)[(joint + 1) % 3]
            np.testing.assert_allclose(reference.qdot, expected, atol=1e-16)


def test_a_longer_period_rests_between_joints():
    profile = one_joint_at_a_time(2, period=124.0)
    assert not np.any(profile(100.0).qdot) and profile(125.0).qdot[1] == 0.1


def test_profiles_refuse_nonsense():
    with pytest.raises(ValueError, match="times must increase; found 1.0 followed by 1.0"):
        RateProfile([0.0, 1.0, 1.0], np.zeros((3, 2)))
    with pytest.raises(ValueError, match="at least the 44.0 s"):
        one_joint_at_a_time(2, period=10.0)
    with pytest.raises(ValueError, match="expected one of 'zero', 'measured'"):
        computed_torque(one_joint_at_a_time(2), momentum="none")


def closed_form(profile, t):
    """q and qdot of e'' + e' + e = 0 per joint, driven by jumps of the reference rate (K_P = K_D = 1, from rest)."""
    w = np.sqrt(3) / 2
    q, qdot = np.zeros(profile.n), np.zeros(profile.n)
    for time, jump in zip(profile.times, profile.jumps, strict=True):
        x = t - time
        if x > 0:
            decay = np.exp(-x / 2)
            q += jump * (x - decay * np.sin(w * x) / w)
            qdot += jump * (1.0 - decay * (np.cos(w * x) - np.sin(w * x) / (2 * w)))
    return q, qdot


def test_the_closed_loop_has_a_closed_form_that_no_plant_changes():
    """Joint angles of two different arms under the paper's profile, gains one, against the closed form."""
    profile = RateProfile([0.0, 2.0, 3.0], [[0.3, -0.1], [0.0, 0.2], [-0.2, 0.0]])
    control = computed_torque(profile)
    for seed in (1, 2):
        _, craft = random_arm(seed, n=2)
        kernel = compile(closed_loop, craft, inputs={"joint_rates": (2,), "t": ()}, static={"control": control})
        q0 = np.concatenate([gs.neutral(craft)[:7], np.zeros(2), np.zeros(2)])

        y = q0
        for begin, end in ((0.0, 2.0), (2.0, 3.0), (3.0, 7.0)):

            def rhs(t, y, kernel=kernel, before=end - 1e-14):  # the rates jump at the end itself
                return kernel(min(t, before), y[:9], y[9:])

            y = solve_ivp(rhs, (begin, end), y, "DOP853", rtol=1e-12, atol=1e-14).y[:, -1]
        q, qdot = closed_form(profile, 7.0)
        np.testing.assert_allclose(y[7:9], q, atol=1e-11)
        np.testing.assert_allclose(y[9:], qdot, atol=1e-11)


def closed_loop(craft, t, q, joint_rates, control):
    """Reduced equations at zero momentum: d/dt [q; qdot]."""
    v = np.concatenate([base_velocity_from_momentum(craft, q, joint_rates), joint_rates])
    tau = control(craft, t, q, v)
    qddot = reduced_forward_dynamics(craft, q, joint_rates, tau[6:])
    return np.concatenate([gs.configuration_rate(craft, q, v), qddot])
