"""Slews around cones: nothing is entered, of the reference and of what flies it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import control
from gyrostat.algebra import quat_conjugate, quat_exp, quat_log, quat_multiply, rotation
from gyrostat.control import KeepOut, slew_clear_of, turns_clear_of

START, GOAL = np.array([1.0, 0, 0, 0]), quat_exp(np.array([0.0, 0.0, 2.4]))
SUN = KeepOut((1, 0, 0), (np.cos(1.2), np.sin(1.2), 0.05), np.radians(30))
EARTH = KeepOut((0, 0, 1), (0.3, -0.2, -1.0), np.radians(60))


def angles(cone, attitudes):
    return np.array([np.arccos((rotation(q) @ cone.boresight) @ cone.direction) for q in attitudes])


def test_the_least_angle_of_a_turn_is_exact():
    rng = np.random.default_rng(4)
    for _ in range(50):
        quat = rng.normal(size=4)
        quat /= np.linalg.norm(quat)
        cone = KeepOut(rng.normal(size=3), rng.normal(size=3), 0.2)
        turn = rng.normal(size=3)
        x = np.linspace(0, np.linalg.norm(turn), 4001)[:, None]
        n, b = turn / np.linalg.norm(turn), cone.boresight
        turned = np.cos(x) * b + np.sin(x) * np.cross(n, b) + (1 - np.cos(x)) * (n @ b) * n  # by Rodrigues' formula
        dense = np.arccos(turned @ rotation(quat).T @ cone.direction).min()
        assert cone.clearance(quat, turn) == pytest.approx(dense - 0.2, abs=2e-6)
        assert cone.clearance(quat, turn) <= dense - 0.2 + 1e-12


def test_a_clear_turn_is_straight_and_a_barred_one_goes_around():
    assert len(turns_clear_of(START, GOAL, [EARTH])) == 2
    way = turns_clear_of(START, GOAL, [SUN, EARTH])
    assert len(way) > 2
    np.testing.assert_allclose([way[0], way[-1]], [START, GOAL])
    length = sum(2 * np.arccos(min(1.0, abs(a @ b))) for a, b in pairwise(way))
    assert 2.4 < length < 2 * 2.4
    again = turns_clear_of(START, GOAL, [SUN, EARTH])
    assert all((a == b).all() for a, b in zip(way, again, strict=True))


def test_no_attitude_on_the_way_could_be_left_out():
    """Of each, every later one but the next lies behind a cone."""
    ways = [turns_clear_of(START, GOAL, [SUN, EARTH], seed=seed) for seed in range(4)]
    for way in ways:
        for k, a in enumerate(way):
            past = [quat_log(quat_multiply(quat_conjugate(a), b)) for b in way[k + 1 :]]
            clear = [min(cone.clearance(a, turn) for cone in (SUN, EARTH)) > 0.0 for turn in past]
            assert clear == [True, *[False] * (len(past) - 1)][: len(past)]
    assert max(map(len, ways)) > 3


def test_wheels_that_follow_it_stay_outside_and_arrive():
    path = slew_clear_of(START, GOAL, [SUN, EARTH], rate=0.02)
    wheels = control.wheel_pyramid("hull", 0.02, max_torque=0.5, max_speed=600.0)
    craft = gs.Spacecraft.build("sat", [gs.Body("hull", 100.0, inertia=[9.0, 11.0, 7.0]), *wheels])
    law = control.quaternion_feedback(path, kp=0.04, kd=0.4)
    end = path.end + 20.0
    run = gs.simulate(
        craft, None, None, (0, end), control=law, breakpoints=path.breakpoints[1:], save_at=np.linspace(0, end, 800)
    )
    for cone in (SUN, EARTH):
        assert angles(cone, run.q[:, :4]).min() > cone.angle - 1e-6
    assert np.abs(run.v[:, :3]).max() < 0.02 * np.sqrt(3) + 1e-6
    assert np.linalg.norm(control.attitude_error(run.q[-1, :4], GOAL)) < 1e-6
    at_rest = path(path.end + 5.0)
    np.testing.assert_allclose(at_rest.X.R, rotation(GOAL), atol=1e-12)
    np.testing.assert_allclose(at_rest.twist, 0.0, atol=1e-12)


def test_what_cannot_be_is_said():
    with pytest.raises(ValueError, match="at the goal the boresight .* within its cone"):
        turns_clear_of(START, quat_exp(np.array([0.0, 0.0, 1.2])), [SUN])
    belt = [KeepOut((1, 0, 0), (0, 0, z), np.radians(85)) for z in (1, -1)]
    far = KeepOut((1, 0, 0), (-np.cos(1.2), -np.sin(1.2), 0), np.radians(30))
    with pytest.raises(ValueError, match="no way was found"):
        turns_clear_of(START, GOAL, [SUN, far, *belt])
    with pytest.raises(ValueError, match="expected a direction"):
        KeepOut((0, 0, 0), (1, 0, 0), 0.1)
    with pytest.raises(ValueError, match="below pi"):
        KeepOut((1, 0, 0), (1, 0, 0), 4.0)
    with pytest.raises(ValueError, match="rad/s, above zero"):
        slew_clear_of(START, GOAL, [], rate=0.0)
