"""A floating craft posed by hand: what momentum leaves free and what it does not."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import models
from gyrostat.models import servicer
from gyrostat.simulation import floating
from gyrostat.simulation.floating import FloatingPose

SEED = 6


def angle(a, b):
    """Between two attitudes, rad; exact for small ones."""
    relative = gs.algebra.quat_multiply(gs.algebra.quat_conjugate(a[:4]), b[:4])
    return 2 * np.arctan2(np.linalg.norm(relative[1:]), abs(relative[0]))


def bent():
    craft = servicer()
    q = gs.neutral(craft)
    q[7:] = np.random.default_rng(SEED).uniform(-1.0, 1.0, 6)
    return craft, q


def test_a_planar_arm_on_a_planar_base_turns_as_the_closed_form_says():
    """Two bodies that turn about parallel axes through their common centre of mass:
    I1 w1 + I2 w2 = 0, whatever the path.
    """
    bodies = [
        gs.Body("hub", 10.0, inertia=[3.0, 3.0, 3.0]),
        gs.Body("wheel", 4.0, inertia=[1.0, 1.0, 1.0], joint=gs.Joint("axle", "revolute", "hub")),
    ]
    craft = gs.Spacecraft.build("two discs", bodies)
    pose = FloatingPose(craft, gs.neutral(craft))
    q = pose.move([1.2])
    assert angle(gs.neutral(craft), q) == pytest.approx(1.2 / 4.0, rel=1e-12)  # the hub goes back by I2 / (I1 + I2)
    np.testing.assert_allclose(q[4:7], 0.0, atol=1e-15)


def test_the_centre_of_mass_stays_and_the_joints_arrive():
    craft, q = bent()
    d = np.random.default_rng(SEED + 1).uniform(-1.5, 1.5, 6)
    moved = FloatingPose(craft, q).move(d)
    np.testing.assert_allclose(moved[7:], q[7:] + d, atol=1e-12)
    np.testing.assert_allclose(gs.center_of_mass(craft, moved), gs.center_of_mass(craft, q), atol=1e-14)
    assert angle(q, moved) > 0.01


def test_there_and_back_is_where_it_was_but_a_loop_is_not():
    craft, q = bent()
    pose = FloatingPose(craft, q)
    a, b = np.array([0.8, 0, 0, 0, 0, 0]), np.array([0, 0.9, -0.7, 0, 0, 0])
    pose.move(a + b)
    back = pose.move(-a - b).copy()
    assert angle(q, back) < 1e-9
    for d in (a, b, -a, -b):
        pose.move(d)
    np.testing.assert_allclose(pose.q[7:], q[7:], atol=1e-12)
    assert angle(q, pose.q) > 1e-3  # the base has turned: angular momentum is no holonomic constraint


def test_the_pose_is_that_of_a_simulated_motion():
    """A second opinion: joints driven at constant rates from rest have the same path, whatever the speed."""
    craft, q = bent()
    d = np.array([0.5, -0.4, 0.3, 0.2, -0.1, 0.6])
    v = np.concatenate([gs.base_velocity_from_momentum(craft, q, d), d])
    still = {f"joint_{k}": np.zeros(1) for k in range(1, 7)}
    traj = gs.simulate(craft, q, v, (0.0, 1.0), prescribed=still)
    moved = FloatingPose(craft, q).move(d)
    assert angle(traj.q[-1], q) > 0.2
    assert angle(traj.q[-1], moved) < 2e-6  # 35 steps of the midpoint rule
    np.testing.assert_allclose(traj.q[-1, 4:7], moved[4:7], atol=1e-6)


def test_the_error_goes_with_the_square_of_the_step(monkeypatch):
    craft, q = bent()
    d = np.array([0.5, -0.4, 0.3, 0.2, -0.1, 0.6])
    found = []
    for count in (800, 40, 20):
        monkeypatch.setattr(floating, "LONGEST_STEP", 0.6 / count + 1e-12)
        found.append(FloatingPose(craft, q).move(d))
    assert angle(found[0], found[2]) / angle(found[0], found[1]) == pytest.approx(4.0, rel=0.02)


def test_a_fixed_base_does_not_float():
    craft = gs.load(models.file("servicer"), base="fixed")
    with pytest.raises(ValueError, match="base is fixed; floating needs a free one"):
        FloatingPose(craft, gs.neutral(craft))
