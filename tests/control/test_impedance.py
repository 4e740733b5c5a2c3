"""Impedance control: a floating end effector that answers a push as the chosen mass, damper and spring."""

import numpy as np

import gyrostat as gs
from gyrostat.algebra import cross
from gyrostat.control import PoseReference
from gyrostat.control.end_effector import POSITION, Task, task_state
from gyrostat.control.end_effector_impedance import impedance, wrenches_at
from gyrostat.models import elbow_up, servicer7

CRAFT = servicer7()
START = elbow_up(CRAFT)
TASK = Task("tool")
X0 = gs.frame_pose(CRAFT, START, "tool")
STAY = PoseReference(X0, np.zeros(6), np.zeros(6))
PUSH = np.array([0.0, 0.0, 0.0, 2.0, -1.0, 1.5])
M, D, K = 10.0, 40.0, 40.0  # critically damped at 2 1/s


def pushing(craft, t, q, v):
    return wrenches_at(craft, q, TASK, PUSH)


def test_a_push_at_a_point_is_the_same_wrench_anywhere():
    """Power: the wrenches on the bodies do the work of the force at the point."""
    rng = np.random.default_rng(0)
    q = gs.step_configuration(CRAFT, START, 0.3 * rng.normal(size=CRAFT.nv))
    v = rng.normal(size=CRAFT.nv)
    task, F = Task("tool", (0.1, -0.2, 0.05)), rng.normal(size=6)
    wrenches = wrenches_at(CRAFT, q, task, F)
    without = gs.forward_dynamics(CRAFT, q, v, np.zeros(CRAFT.nv))
    pushed = gs.forward_dynamics(CRAFT, q, v, np.zeros(CRAFT.nv), wrenches=wrenches)
    J = gs.jacobian(CRAFT, q, "tool", task.point)
    np.testing.assert_allclose(gs.mass_matrix(CRAFT, q) @ (pushed - without), J.T @ F, atol=1e-9)


def test_the_tool_answers_as_mass_damper_spring():
    """Closed form: x = F/K (1 - (1 + 2t) exp(-2t)), though the whole craft drifts away under the push."""
    law = impedance(lambda t: STAY, TASK, mass=M, damping=D, stiffness=K, force=lambda craft, t, q, v: PUSH)
    run = gs.simulate(CRAFT, START, np.zeros(CRAFT.nv), (0, 4), control=law, environment=pushing, mode="floating")
    moved = run.frame("tool")[1] - X0.p
    answer = 1 - (1 + 2 * run.time) * np.exp(-2 * run.time)
    np.testing.assert_allclose(moved, np.outer(answer, PUSH[3:] / K), atol=1e-8)
    assert np.abs(run.frame("tool")[0] - X0.R).max() < 1e-7
    assert np.linalg.norm(run.center_of_mass()[-1] - run.center_of_mass()[0]) > 0.05


def test_a_push_that_is_not_measured_meets_the_same_spring():
    """At rest, what is left is F = J*-T tau ...: the tool gives way by more than nothing and comes back when the push
    ends.
    """
    task = Task("tool", rows=POSITION)
    law = impedance(lambda t: STAY, task, mass=M, damping=D, stiffness=K)

    def short_push(craft, t, q, v):
        from gyrostat.algebra import where

        return where(t < 1.0, 1.0, 0.0) * pushing(craft, t, q, v)

    run = gs.simulate(
        CRAFT,
        START,
        np.zeros(CRAFT.nv),
        (0, 10),
        control=law,
        environment=short_push,
        mode="floating",
        breakpoints=[1.0],
    )
    moved = np.linalg.norm(run.frame("tool")[1] - X0.p, axis=1)
    assert moved.max() > 0.005 and moved[-1] < 1e-5


def test_contact_with_a_wall_settles_at_the_springs_balance():
    """A wall of stiffness k_w in front of a tool that is told to go d into it: force k_w K / (k_w + K) d."""
    k_w, d = 400.0, 0.02
    normal = np.array([1.0, 0.0, 0.0])
    inside = PoseReference(X0._replace(p=X0.p + d * normal), np.zeros(6), np.zeros(6))

    def contact(craft, t, q, v):
        at = gs.frame_pose(craft, q, "tool").p
        velocity = gs.jacobian(craft, q, "tool")[3:] @ v
        depth = (at - X0.p) @ normal
        return np.concatenate([np.zeros(3), -(k_w * depth + 20.0 * (velocity @ normal)) * normal])

    law = impedance(lambda t: inside, TASK, mass=M, damping=D, stiffness=K, force=contact)
    run = gs.simulate(
        CRAFT,
        START,
        np.zeros(CRAFT.nv),
        (0, 8),
        control=law,
        environment=lambda craft, t, q, v: wrenches_at(craft, q, TASK, contact(craft, t, q, v)),
        mode="floating",
    )
    force = -contact(CRAFT, 0.0, run.q[-1], run.v[-1])[3:] @ normal
    np.testing.assert_allclose(force, k_w * K / (k_w + K) * d, rtol=1e-3)


def test_the_bias_holds_what_the_push_does_to_the_base():
    rng = np.random.default_rng(3)
    v = 0.1 * rng.normal(size=CRAFT.nv)
    wrenches = wrenches_at(CRAFT, START, TASK, PUSH)
    with_push = task_state(CRAFT, START, v, TASK, wrenches=wrenches)
    without = task_state(CRAFT, START, v, TASK)
    np.testing.assert_allclose(with_push.J, without.J, atol=1e-13)
    p, c, m = X0.p, gs.center_of_mass(CRAFT, START), sum(b.mass for b in CRAFT.bodies)
    # joints that do not accelerate: the craft moves as one body (but for its wheels): the point by F/m and the turn
    gained = (with_push.bias - without.bias)[3:] - PUSH[3:] / m
    turn = (with_push.bias - without.bias)[:3]
    np.testing.assert_allclose(gained, cross(turn, p - c), atol=1e-12)
