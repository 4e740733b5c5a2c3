"""Moving the arm without turning the base."""

import numpy as np

import gyrostat as gs
from gyrostat.algebra import quat_exp, quat_log, quat_multiply
from gyrostat.control import MinimumJerk, commanded_loads, joint_path
from gyrostat.control.base_attitude import joint_acceleration
from gyrostat.control.reaction_null_space import base_rotation_map, reactionless, towards, without_reaction
from gyrostat.models import elbow_up, servicer7

CRAFT = servicer7()
START = elbow_up(CRAFT)
REST = np.zeros(CRAFT.nv)
GOAL = START[7:14] + np.array([1.2, -1.0, 1.6, -1.2, 2.0, 1.0, -1.0])
TIGHT = {"rtol": 1e-11, "atol": 1e-12}


def turned(run):
    """Angle of the base from its start, over time."""
    return np.array([np.linalg.norm(quat_log(q[:4])) for q in run.q])


def test_the_map_says_how_the_base_turns():
    """At zero momentum: against the velocity that momentum conservation leaves."""
    rates = np.linspace(-0.3, 0.4, 7)
    V = gs.base_velocity_from_momentum(CRAFT, START, np.concatenate([rates, np.zeros(4)]))
    np.testing.assert_allclose(V[:3], -base_rotation_map(CRAFT, START) @ rates, atol=1e-14)
    quiet = without_reaction(base_rotation_map(CRAFT, START), rates)
    V = gs.base_velocity_from_momentum(CRAFT, START, np.concatenate([quiet, np.zeros(4)]))
    assert np.abs(V[:3]).max() < 1e-11 and np.abs(quiet).max() > 0.05
    again = without_reaction(base_rotation_map(CRAFT, START), quiet)
    np.testing.assert_allclose(again, quiet, atol=1e-9)  # a projection


def test_a_slew_of_more_than_a_radian_turns_the_base_by_less_than_a_millionth():
    run = gs.simulate(
        CRAFT, START, REST, (0, 80), control=reactionless(towards(GOAL, 0.3, 0.3)), mode="floating", **TIGHT
    )
    moved = np.abs(run.q[:, 7:] - START[7:])
    assert moved.max() > 1.0
    assert turned(run).max() < 1e-6  # in fact 1e-9
    # the same joint path's length, driven as usual, turns it
    plain = joint_acceleration(joint_path(START[7:14], run.q[-1, 7:14], MinimumJerk(80.0)))

    def law(craft, t, q, v):
        return commanded_loads(craft, q, v, "floating", joints=plain(craft, t, q, v)).tau

    usual = gs.simulate(CRAFT, START, REST, (0, 80), control=law, mode="floating")
    assert turned(usual).max() > 5e-3


def test_an_attitude_error_is_taken_out_by_the_arm_alone():
    """e'' + kd e' + kp e = 0, critically damped, while the arm moves on; no wheels, no thrust."""
    off = START.copy()
    angle = np.array([0.002, -0.003, 0.001])
    off[:4] = quat_multiply(quat_exp(angle), START[:4])
    law = reactionless(towards(GOAL, 0.1, 0.1), attitude=np.array([1.0, 0, 0, 0]))
    run = gs.simulate(CRAFT, off, REST, (0, 4), control=law, mode="floating", **TIGHT)
    expected = np.linalg.norm(angle) * (1 + 2 * run.time) * np.exp(-2 * run.time)
    np.testing.assert_allclose(turned(run), expected, atol=1e-7)


def test_a_wish_goes_towards_the_goal_no_faster_than_its_limit():
    q = START.copy()
    straight = towards(GOAL, 0.4)(CRAFT, 0.0, q, REST)
    np.testing.assert_allclose(straight, 0.4 * (GOAL - q[7:14]), rtol=1e-15)
    slow = towards(GOAL, 0.4, 0.3)(CRAFT, 0.0, q, REST)
    size = np.linalg.norm(straight)
    assert 0.25 < np.linalg.norm(slow) < 0.3 < size
    np.testing.assert_allclose(slow / np.linalg.norm(slow), straight / size, rtol=1e-13)
    q[7:14] = GOAL - 1e-5
    np.testing.assert_allclose(towards(GOAL, 0.4, 0.3)(CRAFT, 0.0, q, REST), 4e-6, rtol=1e-8)
