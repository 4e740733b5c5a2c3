"""Laws that the environments keep, and that what they call success can be had."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import gym


def stepped(env, seed, law, steps):
    """(q, v) after each step, and what the last said."""
    obs, _ = env.reset(seed=seed)
    sim, states, last = env._episodes._sim, [], None
    states.append((sim.q[0].copy(), sim.v[0].copy()))
    for _ in range(steps):
        last = env.step(np.clip(law(obs, *states[-1]), -1, 1))
        obs = last[0]
        states.append((sim.q[0].copy(), sim.v[0].copy()))
        if last[2] or last[3]:
            break
    return states, last


@pytest.mark.parametrize("task", [gym.Reach, gym.ReactionlessReach, gym.Detumble, gym.Capture])
def test_momentum_of_the_whole_stays_and_the_base_recoils(task):
    env = gym.TaskEnv(task(), substeps=20)
    generator = np.random.default_rng(2)
    n = env.action_space.shape[0]
    states, _ = stepped(env, 4, lambda *_: generator.uniform(-1, 1, n), 15)
    craft = env.task.craft
    about = gs.center_of_mass(craft, states[0][0])
    first, last = (gs.momentum(craft, q, v, about=about) for q, v in (states[0], states[-1]))
    size = np.abs(gs.mass_matrix(craft, states[-1][0]) @ states[-1][1]).max()
    assert np.abs(last - first).max() < 1e-7 * size
    base = craft.joint_named("base")
    moved = states[-1][1][base.v_at] - states[0][1][base.v_at]
    assert np.abs(moved[:3]).max() > 1e-4


def test_figures_measure_what_they_say():
    """Distance, speed and turn of the base against kinematics done here."""
    env = gym.TaskEnv(gym.ReactionlessReach())
    generator = np.random.default_rng(3)
    states, last = stepped(env, 9, lambda *_: generator.uniform(-1, 1, 7), 12)
    craft, (q, v), info = env.task.craft, states[-1], last[4]
    goal = env._episodes._goals[0][4:]
    tool, (body, X_BF) = gs.frame_pose(craft, q, "tool"), craft.locate("tool")
    assert info["distance"] == pytest.approx(np.linalg.norm(goal - tool.p), rel=1e-12)
    assert info["speed"] == pytest.approx(np.linalg.norm((gs.jacobian(craft, q, body, X_BF.p) @ v)[3:]), rel=1e-10)
    assert info["base_turn"] == pytest.approx(2 * np.arccos(min(1.0, abs(q[0]))), rel=1e-6) and info["base_turn"] > 1e-3
    assert info["base_rate"] == pytest.approx(np.linalg.norm(v[:3]), rel=1e-12)
    expected = -info["distance"] - 0.02 * info["effort"] - 10 * info["base_turn"] - 10 * info["base_rate"]
    assert last[1] == pytest.approx(expected, rel=1e-12)


def arm_law(task, wanted):
    """Computed torque: the joint accelerations that give the tool the wanted one, [angular; linear] or linear."""
    craft, arm = task.craft, task.arm

    def law(obs, q, v):
        qa, va = (q, v) if craft is arm else gs.transfer_state(craft, q, v, arm)
        body, X_BF = arm.locate(task.tool)
        wish = wanted(qa, va, q, v)
        at = task.joints - 6
        J = gs.generalized_jacobian(arm, qa, body, X_BF.p)[-len(wish) :, at]
        H = gs.generalized_inertia(arm, qa)[np.ix_(at, at)]
        rates = va[task.joints]
        still = np.eye(len(at)) - np.linalg.pinv(J) @ J
        joints = J.T @ np.linalg.solve(J @ J.T + 1e-3 * np.eye(len(wish)), wish) - 1.5 * still @ rates
        return H @ joints / task.full

    return law


def test_detumble_succeeds_by_braking_with_the_wheels():
    task = gym.Detumble()
    axes = gs.control.wheel_axes(task.craft, task.pose)
    for seed in range(3):
        _, last = stepped(
            gym.TaskEnv(task), seed, lambda obs, q, v: np.linalg.pinv(axes) @ v[:3] * 40.0 / task.full, 120
        )
        assert last[2] and last[4]["is_success"] and not last[3]


def test_reach_succeeds_by_computed_torque():
    task = gym.Reach()
    env = gym.TaskEnv(task)
    tool, (body, X_BF) = task.tool, task.craft.locate(task.tool)

    def wanted(qa, va, q, v):
        away = env._episodes._goals[0][4:] - gs.frame_pose(task.craft, q, tool).p
        speed = (gs.jacobian(task.craft, q, body, X_BF.p) @ v)[3:]
        return 0.25 * away - 1.0 * speed

    done = [stepped(env, seed, arm_law(task, wanted), 100)[1][4]["is_success"] for seed in range(4)]
    assert sum(done) >= 3


def test_capture_succeeds_by_following_the_grapple():
    task = gym.Capture()
    env = gym.TaskEnv(task)

    def wanted(qa, va, q, v):
        motion = [gs.frame_pose(task.craft, q, name) for name in ("tool", "grapple")]
        twist = []
        for name in ("tool", "grapple"):
            body, X_BF = task.craft.locate(name)
            twist.append(gs.jacobian(task.craft, q, body, X_BF.p) @ v)
        turn = np.cross(motion[0].R[:, 0], -motion[1].R[:, 0])
        gap = np.concatenate([turn, motion[1].p - motion[0].p])
        return 0.25 * gap + 1.0 * (twist[1] - twist[0])

    done = [stepped(env, seed, arm_law(task, wanted), 150)[1][4]["is_success"] for seed in range(4)]
    assert sum(done) >= 2


def test_a_motor_at_its_rate_limit_pushes_no_further():
    task = gym.Reach(acceleration=20.0)
    env = gym.TaskEnv(task)
    push = np.zeros(7)
    push[0] = 1.0
    states, _ = stepped(env, 1, lambda *_: push, 40)
    place = task.motors[0]
    assert task.craft.joint_named("shoulder_yaw").limits.velocity == 0.5
    assert 0.5 <= max(v[place] for _, v in states) < 0.5 + 1.5 * 20.0 * task.step


def test_heavier_bodies_move_less():
    """Masses of each episode are drawn, and felt: the same torque, another motion."""
    ends = []
    for dispersion in (0.0, 0.3):
        env = gym.TaskEnv(gym.Reach(), mass_dispersion=dispersion)
        states, _ = stepped(env, 6, lambda *_: np.full(7, 0.5), 5)
        ends.append(states[-1][1])
    assert np.abs(ends[0] - ends[1]).max() > 1e-3 * np.abs(ends[0]).max()
