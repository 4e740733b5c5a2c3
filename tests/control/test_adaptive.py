"""Wrong mass properties: computed torque stays stable, adaptive tracking takes the error out."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import cos, inertia_components, norm, sin
from gyrostat.control import attitude_error, computed_torque
from gyrostat.control.adaptive import (
    Tracking,
    _errors,
    adaptive_floating,
    adaptive_tracking,
    base_inertia,
    parameter_sizes,
)
from gyrostat.control.base_attitude import BaseReference
from gyrostat.control.rate_profile import Reference
from gyrostat.control.tracking_regressor import tracking_regressor
from manoeuvring_crafts import small_servicer
from random_trees import random_spacecraft, random_state

CRAFT = small_servicer(wheels=False)
AMPLITUDE, OMEGA = np.array([0.6, 0.8]), np.array([1.1, 0.7])
LAST = 90.0  # s: errors are judged from here on
SPAN = (0.0, 120.0)


def wrong(seed, part=0.2):
    """Every mass, centre of mass and inertia off by +-20 %, each its own way."""
    rng = np.random.default_rng(seed)
    values = {}
    for body in CRAFT.bodies:
        for name, value in (("mass", body.mass), ("com", body.com), ("inertia", inertia_components(body.inertia))):
            values[f"{body.name}.{name}"] = value * (1 + part * rng.choice([-1.0, 1.0]))
    return CRAFT.with_values(values)


def joints(t):
    return Reference(
        AMPLITUDE * np.array([1 - cos(w * t) for w in OMEGA]),
        AMPLITUDE * OMEGA * np.array([sin(w * t) for w in OMEGA]),
        AMPLITUDE * OMEGA**2 * np.array([cos(w * t) for w in OMEGA]),
    )


def everything(t):
    angle, rate, acceleration = 0.5 * (1 - cos(0.5 * t)), 0.25 * sin(0.5 * t), 0.125 * cos(0.5 * t)
    axis = np.array([1.0, 2.0, -2.0]) / 3
    p = np.array([0.3 * (1 - cos(0.6 * t)), 0.2 * (1 - cos(0.4 * t)), 0.0 * t])
    v = np.array([0.18 * sin(0.6 * t), 0.08 * sin(0.4 * t), 0.0 * t])
    a = np.array([0.108 * cos(0.6 * t), 0.032 * cos(0.4 * t), 0.0 * t])
    quat = np.concatenate([[cos(0.5 * angle)], axis * sin(0.5 * angle)])
    return Tracking(BaseReference(quat, axis * rate, axis * acceleration, p, v, a), joints(t))


def simulate(control, mode, span=SPAN):
    return gs.simulate(
        CRAFT, gs.neutral(CRAFT), np.zeros(CRAFT.nv), span, control=control, mode=mode, rtol=1e-8, atol=1e-9
    )


def joint_errors(run):
    return np.abs(run.q[:, 7:] - [joints(t).q for t in run.time])


@pytest.mark.parametrize("seed", range(20))
def test_the_tracking_regressor_is_m_and_the_christoffel_c(seed):
    """Any tree, joint kind and base; and with v_r = v it is gs.formulations.recursive.regressor."""
    craft = random_spacecraft(seed, rotors=False)
    q, v = random_state(craft, seed)
    rng = np.random.default_rng(seed)
    v_r, vdot_r = rng.normal(size=craft.nv), rng.normal(size=craft.nv)
    pi = gs.formulations.recursive.inertial_parameters(craft)
    expected = gs.mass_matrix(craft, q) @ vdot_r + gs.coriolis_matrix(craft, q, v) @ v_r
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(tracking_regressor(craft, q, v, v_r, vdot_r) @ pi, expected, atol=1e-12 * scale)
    np.testing.assert_allclose(
        tracking_regressor(craft, q, v, v, vdot_r), gs.formulations.recursive.regressor(craft, q, v, vdot_r), atol=1e-11
    )


def test_the_base_inertia_of_parameters_is_that_of_the_mass_matrix():
    craft = random_spacecraft(3, base="free")
    q = random_state(craft, 3)[0]
    np.testing.assert_allclose(
        base_inertia(craft, q, gs.formulations.recursive.inertial_parameters(craft)),
        gs.mass_matrix(craft, q)[:6, :6],
        atol=1e-11,
    )


def test_the_reference_velocity_has_its_exact_rate():
    """d/dt v_r along any motion, near the reference or far from it: against finite differences."""
    rng = np.random.default_rng(5)
    q = gs.step_configuration(CRAFT, gs.neutral(CRAFT), 0.7 * rng.normal(size=CRAFT.nv))
    v, t, h = rng.normal(size=CRAFT.nv), 2.2, 1e-5

    def reference_velocity(step):
        return _errors(everything(t + step), gs.step_configuration(CRAFT, q, step * v), v, 1.7).v_r

    # v is constant along the step; v_r does not depend on it
    expected = (reference_velocity(h) - reference_velocity(-h)) / (2 * h)
    np.testing.assert_allclose(_errors(everything(t), q, v, 1.7).vdot_r, expected, atol=1e-8)


def test_on_a_floating_base_the_unactuated_rows_hold():
    """(4): Y_0 pi - K_0 s_0 = 0 with the base's reference acceleration that the controller chose, at any state and estimate."""
    rng = np.random.default_rng(6)
    gain = rng.uniform(5.0, 20.0, CRAFT.nv)
    law = adaptive_floating(CRAFT, joints, bandwidth=1.3, gain=gain, adaptation=1.0, estimate=wrong(2))
    q = gs.step_configuration(CRAFT, gs.neutral(CRAFT), rng.normal(size=CRAFT.nv))
    v, t = rng.normal(size=CRAFT.nv), 0.8
    pi, V_r = law.state0[:-6], rng.normal(size=6)
    z = np.concatenate([pi, V_r])
    rates = law.derivative(CRAFT, t, q, v, z)
    wanted = joints(t)
    v_r = np.concatenate([V_r, wanted.qdot + 1.3 * (wanted.q - q[7:])])
    vdot_r = np.concatenate([rates[-6:], wanted.qddot + 1.3 * (wanted.qdot - v[6:])])
    Y = tracking_regressor(CRAFT, q, v, v_r, vdot_r)
    tau = Y @ pi - gain * (v - v_r)
    assert np.abs(tau[:6]).max() < 1e-10 and np.abs(Y[:6] @ pi).max() > 1.0
    np.testing.assert_allclose(law.output(CRAFT, t, q, v, z), np.concatenate([np.zeros(6), tau[6:]]), atol=1e-10)


def test_with_true_parameters_the_error_is_zero_from_the_start():
    law = adaptive_tracking(CRAFT, everything, bandwidth=1.0, gain=20.0, adaptation=1.0)
    run = simulate(law, "flying", (0, 10))
    assert joint_errors(run).max() < 1e-6
    moved = np.abs(run.data["z"].values - run.data["z"].values[0])
    assert moved.max() < 1e-3


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_computed_torque_with_wrong_mass_properties_stays_stable(seed):
    """+-20 % in everything: errors are bounded, do not grow, and stay small; with the true model they are tiny."""
    errors = {}
    for name, estimate in (("wrong", wrong(seed)), ("true", CRAFT)):
        law = computed_torque(joints, kp=9.0, kd=6.0, estimate=estimate, feed_forward=True)
        errors[name] = joint_errors(simulate(law, "floating", (0, 60)))
    early, late = (errors["wrong"][k].max() for k in (slice(100, 250), slice(250, None)))
    assert errors["wrong"].max() < 0.15 and late < 1.2 * early
    assert errors["true"].max() < 1e-6 and late > 1e-3


def test_adaptive_tracking_takes_the_error_below_one_percent():
    """Flying, whole craft: joints, attitude and position, against the same law that does not adapt."""
    gain = np.array([40.0] * 3 + [120.0] * 3 + [10.0] * 2)
    worst = {}
    for adaptation in (0.0, 5.0):
        law = adaptive_tracking(CRAFT, everything, bandwidth=1.0, gain=gain, adaptation=adaptation, estimate=wrong(3))
        run = simulate(law, "flying")
        late = run.time > LAST
        attitude = [norm(attitude_error(q[:4], everything(t).base.quat)) for t, q in zip(run.time, run.q, strict=True)]
        place = np.abs(run.q[:, 4:7] - [everything(t).base.p for t in run.time]).max(axis=1)
        worst[adaptation] = [joint_errors(run)[late].max(), np.array(attitude)[late].max(), place[late].max()]
        assert run.mode_audit.ok
    assert (np.array(worst[5.0]) < 0.01 * np.array(worst[0.0])).all()


def test_adaptive_tracking_on_a_floating_base():
    """Nothing acts on the base (the mode checks it); its reference is chosen so that the unactuated rows hold."""
    gain = np.array([10.0] * 3 + [40.0] * 3 + [10.0] * 2)
    worst = {}
    for adaptation in (0.0, 500.0):
        law = adaptive_floating(CRAFT, joints, bandwidth=1.0, gain=gain, adaptation=adaptation, estimate=wrong(3))
        run = simulate(law, "floating")
        worst[adaptation] = joint_errors(run)[run.time > LAST].max()
        assert run.mode_audit.ok
    assert worst[500.0] < 0.01 * worst[0.0] and worst[0.0] > 1e-3


def test_the_lyapunov_function_falls():
    """V = 1/2 s^T M s + 1/2 |pi - pi_true|^2 / Gamma never rises: the proof, checked along a run."""
    estimate, adaptation = wrong(3), 5.0
    law = adaptive_tracking(CRAFT, everything, bandwidth=1.0, gain=30.0, adaptation=adaptation, estimate=estimate)
    run = simulate(law, "flying", (0, 20))
    Gamma = adaptation * parameter_sizes(estimate) ** 2
    true = gs.formulations.recursive.inertial_parameters(CRAFT)
    values = []
    for t, q, v, pi in zip(run.time, run.q, run.v, run.data["z"].values, strict=True):
        s = _errors(everything(t), q, v, 1.0).s
        values.append(0.5 * s @ gs.mass_matrix(CRAFT, q) @ s + 0.5 * ((pi - true) ** 2 / Gamma).sum())
    values = np.array(values)
    assert np.diff(values).max() < 1e-7 * values[0] and values[-1] < 0.95 * values[0]


def test_joints_with_more_coordinates_are_refused():
    ball = gs.Body("b", 1.0, inertia=(1, 1, 1), joint=gs.Joint("ball", "spherical", "bus"))
    craft = gs.Spacecraft.build("c", [gs.Body("bus", 10.0, inertia=(5, 5, 5)), ball])
    with pytest.raises(ValueError, match="'ball' is not"):
        adaptive_tracking(craft, everything, bandwidth=1.0, gain=1.0, adaptation=1.0)
