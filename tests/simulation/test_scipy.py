"""SciPy's DOP853 on the NumPy functions as a second opinion: other integrator, other equations' path (never traced)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from gyrostat.algebra import rotation
from random_trees import random_spacecraft, random_state

TIGHT = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12}


def crane():
    """A base, an arm of two links that share a slider, and a wheel: small enough for NumPy."""
    bodies = [
        gs.Body("base", 30.0, (0.02, 0.0, 0.0), (3.0, 4.0, 5.0)),
        gs.Body("upper", 4.0, (0.3, 0, 0), (0.02, 0.2, 0.2), gs.Joint("shoulder", "revolute", "base", (0.4, 0, 0))),
        gs.Body(
            "lower",
            3.0,
            (0.2, 0, 0),
            (0.02, 0.1, 0.1),
            gs.Joint("slider", "prismatic", "upper", (0.5, 0, 0), axis=(0, 0, 1)),
        ),
        gs.Wheel("wheel", "base", (0, 1, 0), 0.05),
    ]
    craft = gs.Spacecraft.build("crane", bodies)
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    q[7:], v[:] = [0.4, -0.1], [0.1, -0.2, 0.15, 0.05, 0.0, -0.1, 0.3, -0.2, 4.0]
    return craft, q, v


def law(craft, t, q, v):
    return np.concatenate([[0.02, 0.0, -0.01, 0.1, 0.0, 0.05], -2.0 * q[7:] - 0.5 * v[6:8], [0.03 * v[1]]])


def drag(craft, t, q, v):
    """A force against the base's velocity, and a torque on the lower link."""
    on_base, nothing = np.concatenate([np.zeros(3), -0.4 * v[3:6]]), np.zeros(6)
    return np.array([on_base, nothing, np.array([0.01, 0.0, 0.02 * q[7], 0.0, 0.0, 0.0]), nothing])


def rhs(craft, control, environment=None):
    def f(t, y):
        q, v = y[: craft.nq], y[craft.nq : craft.nq + craft.nv]
        wrenches = None if environment is None else environment(craft, t, q, v)
        vdot = gs.forward_dynamics(craft, q, v, control(craft, t, q, v), wrenches=wrenches)
        return np.concatenate([gs.configuration_rate(craft, q, v), vdot])

    return f


def close(traj, times, y, craft, tolerance=2e-9):
    """Attitudes as rotations: SciPy's quaternions are not normalised."""
    for k in range(len(times)):
        q, v = y[: craft.nq, k], y[craft.nq : craft.nq + craft.nv, k]
        for joint in craft.joints:
            at = joint.q_at
            if joint.kind in ("free", "spherical"):
                quat = slice(at.start, at.start + 4)
                np.testing.assert_allclose(rotation(traj.q[k, quat]), rotation(q[quat]), atol=tolerance)
                at = slice(at.start + 4, at.stop)
            np.testing.assert_allclose(traj.q[k, at], q[at], atol=tolerance)
        np.testing.assert_allclose(traj.v[k], v, atol=tolerance)


def test_control_and_environment():
    craft, q, v = crane()
    times = np.linspace(0, 6, 13)
    second = solve_ivp(rhs(craft, law, drag), (0, 6), np.concatenate([q, v]), t_eval=times, **TIGHT)
    traj = gs.simulate(craft, q, v, (0, 6), control=law, environment=drag, rtol=1e-12, atol=1e-13, save_at=times)
    # SciPy's dense output has order 7 and fewer digits than its steps
    close(traj, times, second.y, craft, 5e-9)
    assert traj.audit.worst < 1e-10 and traj.audit.impulse[3] > 0.1


def test_events():
    craft, q, v = crane()

    def crossing(t, y):
        return y[7] - 0.1 * y[8]

    second = solve_ivp(rhs(craft, law), (0, 8), np.concatenate([q, v]), events=crossing, **TIGHT)
    traj = gs.simulate(craft, q, v, (0, 8), control=law, rtol=1e-12, events=lambda craft, t, q, v: q[7] - 0.1 * q[8])
    assert len(traj.events) == len(second.t_events[0]) >= 2
    np.testing.assert_allclose([e.t for e in traj.events], second.t_events[0], atol=1e-8)
    for event, y in zip(traj.events, second.y_events[0], strict=True):
        np.testing.assert_allclose(event.q[4:], y[4:9], atol=1e-8)
        np.testing.assert_allclose(event.v, y[9:], atol=1e-8)


def test_sampled_control_is_restarts_with_a_held_torque():
    craft, q, v = crane()
    period, ends = 0.4, [0.3, 1.0, 2.0, 2.5]

    def output(craft, t, q, v, z):
        return np.concatenate([np.zeros(6), -3.0 * q[7:] - z[:2] - 0.1 * t, [0.02 * v[1]]])

    def update(craft, t, q, v, z):
        return 0.5 * z + 0.5 * v[6:8]

    y, z, t, rows = np.concatenate([q, v]), np.zeros(2), 0.0, []
    for k in range(7):
        state = y[: craft.nq], y[craft.nq :]
        tau, z = output(craft, k * period, *state, z), update(craft, k * period, *state, z)
        until = min((k + 1) * period, ends[-1])
        stops = [s for s in ends if k * period < s <= until]
        leg = solve_ivp(rhs(craft, lambda *_, tau=tau: tau), (t, until), y, t_eval=sorted({*stops, until}), **TIGHT)
        rows += [leg.y[:, i] for i in range(len(stops))]
        y, t = leg.y[:, -1], until
    control = gs.Controller(output, [0.0, 0.0], update=update, period=period)
    traj = gs.simulate(craft, q, v, (0, 2.5), control=control, rtol=1e-12, atol=1e-13, save_at=ends)
    close(traj, ends, np.array(rows).T, craft)
    np.testing.assert_array_equal(traj.data["sample"].values, [0, 2, 5, 6])


def test_continuous_memory_joins_the_equations():
    craft, q, v = crane()

    def output(craft, t, q, v, z):
        return np.concatenate([np.zeros(6), -2.0 * q[7:] - 0.8 * z, [0.0]])

    def derivative(craft, t, q, v, z):
        return q[7:] - 0.2 * z

    def f(t, y):
        q, v, z = y[:9], y[9:18], y[18:]
        vdot = gs.forward_dynamics(craft, q, v, output(craft, t, q, v, z))
        return np.concatenate([gs.configuration_rate(craft, q, v), vdot, derivative(craft, t, q, v, z)])

    times = [2.0, 5.0]
    second = solve_ivp(f, (0, 5), np.concatenate([q, v, [0.1, 0.2]]), t_eval=times, **TIGHT)
    control = gs.Controller(output, [0.1, 0.2], derivative)
    traj = gs.simulate(craft, q, v, (0, 5), control=control, rtol=1e-12, atol=1e-13, save_at=times)
    close(traj, times, second.y, craft)
    np.testing.assert_allclose(traj.data["z"].values, second.y[18:].T, atol=2e-9)


@pytest.mark.parametrize("base", ["free", "fixed", "spherical", "planar"])
@pytest.mark.parametrize("seed", [11, 12])
def test_random_trees_of_all_joint_kinds_on_every_base(base, seed):
    craft = random_spacecraft(seed, links=5, base=base)
    q, v = random_state(craft, seed, speed=0.3)
    times = [0.5, 1.0]

    def damped(craft, t, q, v):
        return -0.3 * v

    second = solve_ivp(rhs(craft, damped), (0, 1), np.concatenate([q, v]), t_eval=times, **TIGHT)
    traj = gs.simulate(craft, q, v, (0, 1), control=damped, rtol=1e-12, atol=1e-13, save_at=times)
    close(traj, times, second.y, craft)
    assert traj.audit.worst < 1e-9
