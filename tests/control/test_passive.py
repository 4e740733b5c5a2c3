"""Loads that joints make by themselves, and what motors make of commands, as functions of the state."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.control.passive import Actuators, Stops, actuator_rate, has_passive_forces, passive_forces, saturated
from gyrostat.tracing import compile


def craft(limits=gs.Limits(), **joint):  # noqa: B008 (immutable)
    bodies = [gs.Body("base", 5.0, inertia=(1, 1, 1))]
    hinge = gs.Joint("hinge", "revolute", "base", limits=limits, **joint)
    bodies.append(gs.Body("arm", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1), hinge))
    ball = gs.Joint("ball", "spherical", "arm", stiffness=joint.get("stiffness", 0.0))
    bodies.append(gs.Body("hand", 1.0, inertia=(0.1, 0.1, 0.1), joint=ball))
    return gs.Spacecraft.build("craft", bodies)


def state(model, q=0.0, v=0.0):
    x, u = gs.neutral(model), np.zeros(model.nv)
    x[7], u[6] = q, v
    return x, u


def test_springs_dampers_and_friction_add_up():
    model = craft(stiffness=3.0, rest=0.2, damping=0.5, friction=0.1)
    load = passive_forces(model, *state(model, 0.7, 2.0))
    expected = -3.0 * 0.5 - 0.5 * 2.0 - 0.1
    np.testing.assert_allclose(load[6], expected, rtol=1e-12)
    np.testing.assert_array_equal(load[:6], 0.0)
    assert has_passive_forces(model, None) and not has_passive_forces(craft(), None)


def test_a_spring_derives_from_a_potential():
    """Of the ball joint, too: its load times a small turn is what half k angle^2 loses."""
    model = craft(stiffness=3.0)
    rng = np.random.default_rng(1)
    q = gs.step_configuration(model, gs.neutral(model), 0.5 * rng.normal(size=model.nv))
    load = passive_forces(model, q, np.zeros(model.nv))

    def potential(q):
        stretch = gs.configuration_difference(model, gs.neutral(model), q)
        return 1.5 * (stretch[6:] @ stretch[6:])

    for k in range(6, model.nv):
        dv = 1e-5 * np.eye(model.nv)[k]
        slope = (
            potential(gs.step_configuration(model, q, dv)) - potential(gs.step_configuration(model, q, -dv))
        ) / 2e-5
        np.testing.assert_allclose(load[k], -slope, atol=1e-9)


def test_friction_opposes_motion_is_odd_and_bounded():
    model = craft(friction=0.4)
    rates = np.array([-1.0, -1e-3, -1e-6, 0.0, 1e-6, 1e-3, 1.0])
    loads = np.array([passive_forces(model, *state(model, 0.0, rate))[6] for rate in rates])
    np.testing.assert_allclose(loads, -0.4 * np.tanh(rates / 1e-3), atol=1e-15)
    np.testing.assert_array_equal(loads, -loads[::-1])
    assert (loads * rates <= 0).all()


def test_stops_push_back_only_beyond_the_limits_and_never_pull():
    model = craft(limits=gs.Limits(-0.5, 0.8))
    stops = Stops(stiffness=100.0, damping=10.0, width=0.01)

    def load(q, v=0.0):
        return passive_forces(model, *state(model, q, v), stops)[6]

    assert [load(q) for q in (-0.5, 0.0, 0.8)] == [0.0, 0.0, 0.0]
    assert load(-0.6) > 0 > load(0.9)
    np.testing.assert_allclose(load(0.9), -100 * 0.1 * 0.1 / 0.11)
    assert load(0.9, 1.0) < load(0.9) and load(0.9, -100.0) == 0.0  # leaving fast, it lets go
    depths = np.linspace(0, 1e-3, 5)
    assert np.diff([load(0.8 + d) for d in depths]).max() < 0  # no jump at the limit, monotonous beyond
    assert has_passive_forces(model, stops) and passive_forces(model, *state(model, 0.9))[6] == 0.0


def test_saturation_and_the_motors_rate():
    model = craft(limits=gs.Limits(effort=2.0))
    tau = np.arange(model.nv) - 4.0
    held = saturated(model, tau, np.zeros(model.nv))
    np.testing.assert_array_equal(held[:6], tau[:6])
    assert held[6] == 2.0 and saturated(model, -10 * tau, np.zeros(model.nv))[6] == -2.0
    motor = Actuators(lag=0.5, rate=3.0)
    np.testing.assert_allclose(actuator_rate(motor, np.array([1.0, 10.0, -10.0]), np.zeros(3)), [2.0, 3.0, -3.0])


def test_compiled_they_are_the_same():
    model = craft(stiffness=3.0, rest=0.1, damping=0.5, friction=0.1, limits=gs.Limits(-0.2, 0.2))
    kernel = compile(lambda craft, q, v: passive_forces(craft, q, v, Stops()), model)
    rng = np.random.default_rng(3)
    for _ in range(5):
        q = gs.step_configuration(model, gs.neutral(model), rng.normal(size=model.nv))
        v = rng.normal(size=model.nv)
        np.testing.assert_allclose(kernel(q, v), passive_forces(model, q, v, Stops()), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("wrong", [{"lag": -0.1}, {"rate": 1.0}, {"lag": 0.1, "rate": 0.0}])
def test_motors_that_cannot_be(wrong):
    with pytest.raises(ValueError, match="actuators: "):
        Actuators(**wrong)
