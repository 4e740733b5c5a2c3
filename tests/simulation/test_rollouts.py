"""Rollouts: the motion of `gs.simulate` in fixed steps, and gradients by one sweep backward that are exact."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.algebra import norm, sin
from gyrostat.algebra.directional import derivative_along
from gyrostat.papers.forbes2019 import crafts

STEP = 0.02


def crane():
    """A base, two links that share a slider on a spring, a wheel across, a tool off every axis."""
    slider = gs.Joint("slider", "prismatic", "upper", (0.5, 0, 0), axis=(0, 0, 1), stiffness=3.0, damping=0.4)
    bodies = [
        gs.Body("base", 30.0, (0.02, 0.01, 0.0), (3.0, 4.0, 5.0)),
        gs.Body("upper", 4.0, (0.3, 0, 0.1), (0.02, 0.2, 0.2), gs.Joint("shoulder", "revolute", "base", (0.4, 0, 0))),
        gs.Body("lower", 3.0, (0.2, 0, 0), (0.02, 0.1, 0.1), slider),
        gs.Wheel("wheel", "base", (0, 0.6, 0.8), 0.05),
    ]
    craft = gs.Spacecraft.build("crane", bodies, frames=[gs.Frame("tool", "lower", (0.3, 0.1, -0.2))])
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    q[7:], v[:] = [0.4, -0.1], [0.1, -0.2, 0.15, 0.05, 0.0, -0.1, 0.3, -0.2, 4.0]
    return craft, q, v


def law(craft, t, q, v, gain, u):
    loads = np.array([sin(0.7 * q[7]) * gain[0] + gain[1] * v[6] + u[0], 0.0, 0.03 * v[1] + u[1] * sin(t)])
    return np.concatenate([np.zeros(6), loads])


def steady(craft, t, q, v, gain):
    return law(craft, t, q, v, gain, np.array([0.1, -0.2]))


def final(craft, t, q, v, gain):
    return norm(gs.frame_pose(craft, q, "tool").p) + 0.3 * v @ v + t * gain[0] + gs.total_mass(craft) * q[8]


def running(craft, t, q, v, u):
    return u @ u + v[6] * u[0] * t + sin(q[7])


def test_gradients_are_those_of_dual_numbers_through_the_same_steps():
    """RK4 written out in NumPy, never traced, along a random direction of everything: torques, gains, mass, start."""
    craft, q0, v0 = crane()
    rng, steps = np.random.default_rng(3), 6
    U, gain, mass = rng.normal(size=(steps, 2)), np.array([-2.0, -0.5]), 3.0
    roll = gs.rollout(
        craft,
        law,
        steps,
        STEP,
        q0,
        v0,
        history={"u": U},
        inputs={"gain": gain},
        parameters={"lower.mass": mass},
        t0=2.0,
    )
    found = roll.gradient(final, running)
    dU, dgain, dq, dv = (rng.normal(size=n) for n in ((steps, 2), 2, craft.nv, craft.nv))

    def cost(s):
        own = craft.with_values({"lower.mass": mass + 1.5 * s})
        q, v, g = gs.step_configuration(craft, q0, s * dq), v0 + s * dv, gain + s * dgain
        total = 0.0
        for k in range(steps):
            t, u = 2.0 + k * STEP, U[k] + s * dU[k]

            def rates(t, q, v, u=u):
                tau = law(own, t, q, v, g, u) + passive(own, q, v)
                return gs.configuration_rate(own, q, v), gs.forward_dynamics(own, q, v, tau)

            total = total + STEP * running(own, t, q, v, u)
            K1 = rates(t, q, v)
            K2 = rates(t + STEP / 2, *(x + STEP / 2 * k for x, k in zip((q, v), K1, strict=True)))
            K3 = rates(t + STEP / 2, *(x + STEP / 2 * k for x, k in zip((q, v), K2, strict=True)))
            K4 = rates(t + STEP, *(x + STEP * k for x, k in zip((q, v), K3, strict=True)))
            q, v = (
                x + STEP / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip((q, v), K1, K2, K3, K4, strict=True)
            )
        return total + final(own, 2.0 + steps * STEP, q, v, g)

    expected = float(derivative_along(cost, 0.0, 1.0))
    np.testing.assert_allclose(found.value, cost(0.0), rtol=1e-13)
    along = np.sum(found.by["u"] * dU) + found.by["gain"] @ dgain + 1.5 * found.by["lower.mass"]
    along = along + found.by["q0"] @ dq + found.by["v0"] @ dv
    np.testing.assert_allclose(along, expected, rtol=1e-11)


def passive(craft, q, v):
    joint = craft.joint_named("slider")
    load = np.zeros(craft.nv, dtype=object)
    load[joint.v_at] = -joint.stiffness * (q[joint.q_at] - joint.rest) - joint.damping * v[joint.v_at]
    return load


def drag(craft, t, q, v):
    on_base, nothing = np.concatenate([np.zeros(3), -0.4 * v[3:6]]), np.zeros(6)
    return np.array([on_base, nothing, np.array([0.01, 0.0, 0.02 * q[7], 0.0, 0.1, 0.0]), nothing])


def output(craft, t, q, v, z, gain):
    return np.concatenate([np.zeros(6), [gain[0] * q[7] + gain[1] * v[6] - z[0], 0.0, 0.1 * z[0]]])


OPTIONS = {
    "environment": {"environment": drag},
    "lagging motors": {"actuators": gs.Actuators(saturate=False, lag=0.3)},
    "prescribed joint": {"prescribed": {"shoulder": lambda t: [0.5 * sin(3.0 * t)]}},
    "another formulation": {"formulation": "dual_quaternion"},
    "law with memory": {},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_the_sweep_backward_equals_the_sensitivities_forward(name):
    craft, q0, v0 = crane()
    control = steady
    if name == "law with memory":
        control = gs.Controller(output, [0.2], derivative=lambda craft, t, q, v, z: np.array([0.5 * q[7] + 0.1 * z[0]]))
    given = {"inputs": {"gain": np.array([-2.0, -0.5])}, "parameters": {"lower.mass": 3.0}, **OPTIONS[name]}
    steps = 40
    roll = gs.rollout(craft, control, steps, STEP, q0, v0, t0=1.0, **given)
    names = ["q0", "v0", "lower.mass", "input:gain"]
    traj = gs.simulate(
        craft,
        q0,
        v0,
        (1.0, 1.0 + steps * STEP),
        control=control,
        integrator="rk4",
        step=STEP,
        sensitivities=names,
        **given,
    )
    np.testing.assert_allclose(roll.v[-1], traj.v[-1], rtol=1e-12, atol=1e-12)
    found = roll.gradient(final)
    for one in names:
        forward = traj.sensitivity(final, one, at_end=True)
        backward = found.by[one.removeprefix("input:")]
        np.testing.assert_allclose(backward, forward, rtol=1e-11, atol=1e-11 * np.abs(forward).max())


def test_closed_loops_too():
    craft, constraints, q0 = crafts.four_bar()
    v0 = gc.project(craft, 0.0, q0, np.linspace(-0.3, 0.4, craft.nv), constraints)[1]
    body = craft.bodies[2].name
    drive = lambda craft, t, q, v, gain: gs.joint_torques(craft, {"crank": gain - 0.1 * v[6]})
    cost = lambda craft, t, q, v: v @ v + q[7] * q[8]
    given = {"inputs": {"gain": 0.7}, "parameters": {f"{body}.mass": craft.value(f"{body}.mass")}}
    roll = gs.rollout(craft, drive, 20, STEP, q0, v0, constraints=constraints, **given)
    traj = gs.simulate(
        craft, q0, v0, (0.0, 20 * STEP), control=drive, constraints=constraints, integrator="rk4", step=STEP,
        sensitivities=["v0", f"{body}.mass", "input:gain"], **given,
    )  # fmt: skip
    found = roll.gradient(cost)
    for name in ("v0", f"{body}.mass", "input:gain"):
        forward = traj.sensitivity(cost, name, at_end=True)
        np.testing.assert_allclose(
            found.by[name.removeprefix("input:")], forward, rtol=1e-10, atol=1e-10 * np.abs(forward).max()
        )


def test_a_final_cost_may_ask_for_what_the_last_step_had():
    """Directly and through the motion: differences of the same rollout."""
    craft, q0, v0 = crane()
    rng, steps, e = np.random.default_rng(8), 3, 1e-5
    cost = lambda craft, t, q, v, u: u @ u + v[6] * u[0] + q[7]
    U, dU = rng.normal(size=(steps, 2)), rng.normal(size=(steps, 2))
    roll = gs.rollout(craft, law, steps, STEP, q0, v0, history={"u": U}, inputs={"gain": np.array([-2.0, -0.5])})
    values = [roll.again(history={"u": U + s * dU}).value(cost) for s in (e, -e)]
    assert np.sum(roll.gradient(cost).by["u"] * dU) == pytest.approx((values[0] - values[1]) / (2 * e), rel=1e-8)


def test_what_is_compiled_does_not_depend_on_the_number_of_steps():
    craft, q0, v0 = crane()
    keys = set()
    for steps in (3, 300):
        roll = gs.rollout(
            craft, law, steps, STEP, q0, v0, history={"u": np.zeros((steps, 2))}, inputs={"gain": np.ones(2)}
        )
        roll.gradient(final, running)
        kernels = (roll._compiled.rates, roll._compiled.adjoints, *roll._compiled.costs.values())
        keys.add(tuple(kernel.graph.key for kernel in kernels))
    assert len(keys) == 1


def test_runs_of_a_batch_are_as_each_alone_and_again_is_as_anew():
    craft, q0, v0 = crane()
    rng, steps, runs = np.random.default_rng(5), 12, 11  # more than a vector holds
    U, gain = rng.normal(size=(runs, steps, 2)), rng.normal(size=(runs, 2))
    V = v0 + 0.1 * rng.normal(size=(runs, craft.nv))
    many = gs.rollout(craft, law, steps, STEP, q0, V, history={"u": U}, inputs={"gain": gain})
    found = many.gradient(final, running)
    assert many.q.shape == (runs, steps + 1, craft.nq) and found.by["u"].shape == U.shape
    one = gs.rollout(craft, law, steps, STEP, q0, V[0], history={"u": U[0]}, inputs={"gain": gain[0]})
    for k in (0, 4, 10):
        alone = one.again(v0=V[k], history={"u": U[k]}, inputs={"gain": gain[k]})
        np.testing.assert_array_equal(alone.v, many.v[k])
        np.testing.assert_allclose(alone.value(final, running), found.value[k], rtol=1e-14)
        for name, by in alone.gradient(final, running).by.items():
            np.testing.assert_allclose(by, found.by[name][k], rtol=1e-12, atol=1e-14)


def test_descent_along_the_gradient_brings_the_tool_to_its_target():
    """What it is for: a whole torque history, improved by its gradient."""
    craft, q0, _ = crane()
    target, steps = gs.frame_pose(craft, q0, "tool").p + np.array([0.0, 0.05, 0.03]), 50
    push = lambda craft, t, q, v, u: np.concatenate([np.zeros(6), u])
    miss = lambda craft, t, q, v: (
        (gs.frame_pose(craft, q, "tool").p - target) @ (gs.frame_pose(craft, q, "tool").p - target)
    )
    roll = gs.rollout(craft, push, steps, STEP, q0, history={"u": np.zeros((steps, 3))})

    def cost(u):
        value, by = roll.again(history={"u": u.reshape(steps, 3)}).gradient(miss)
        return value, by["u"].ravel()

    found = minimize(cost, np.zeros(3 * steps), jac=True, method="L-BFGS-B", options={"maxiter": 60})
    assert found.fun < 1e-4 * roll.value(miss)


def test_wrong_rollouts_are_refused_by_name():
    craft, q0, v0 = crane()
    given = {"history": {"u": np.zeros((5, 2))}, "inputs": {"gain": np.ones(2)}}

    def roll(control=law, steps=5, step=STEP, **options):
        return gs.rollout(craft, control, steps, step, q0, v0, **{**given, **options})

    for options, words in (
        ({"steps": 0}, "steps is 0"),
        ({"steps": 2.5}, "steps is 2.5"),
        ({"step": -1.0}, "step is -1.0"),
        ({"history": {"u": np.zeros((4, 2))}}, r"history\['u'\] has shape \(4, 2\); expected \(5, ...\)"),
        ({"history": {"u": np.full((5, 2), np.nan)}}, "not finite"),
        ({"history": {"w": np.zeros((5, 2))}}, "w"),
        ({"inputs": {"gain": np.ones(2), "u": np.ones(2)}}, "'u' is both in history= and in inputs="),
        ({"control": gs.Controller(output, [0.2], update=lambda c, t, q, v, z: z, period=0.1)}, "sampled Controller"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            roll(**options)

    def branching(craft, t, q, v, gain, u):
        return law(craft, t, q, v, gain, u) if v[6] > 0 else 0.0 * v

    with pytest.raises(ValueError, match="rollout: the control law cannot be compiled"):
        roll(branching)
    good = roll()
    with pytest.raises(ValueError, match="a cost is missing"):
        good.gradient()
    with pytest.raises(ValueError, match="the final cost returned shape"):
        good.gradient(lambda craft, t, q, v: v)
    with pytest.raises(ValueError, match="the running cost cannot be traced"):
        good.value(running=lambda craft, t, q, v: float(v[0]))
    with pytest.raises(ValueError, match=r"history are \['w'\]; expected \['u'\]"):
        good.again(history={"w": np.zeros((5, 2))})
    with pytest.raises(TypeError, match="again has no argument 'environment'"):
        good.again(environment=None)
    with pytest.warns(gs.SimulationWarning, match="became infinite"):
        roll(history={"u": np.full((5, 2), 1e200)}).value(final)
