"""Kinematics of the whole craft: rates of poses, Jacobians of any point and their rates, steps on the manifold."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from exact import exact, rate, size
from exact_cases import SEEDS, state
from gyrostat.algebra import compose, log_se3
from random_trees import random_spacecraft, random_state

POINT = exact([0.3, -0.2, 0.7])


def frames_of(craft: gs.Spacecraft) -> list[str]:
    """Bodies whose frames move with them (a wheel's does not spin), and the tool."""
    return [body.name for body in craft.bodies if body.joint.kind != "wheel"] + ["tool"]


def position(craft, q, frame):
    X = gs.frame_pose(craft, q, frame)
    return X.p + X.R @ POINT


@pytest.mark.parametrize("seed", SEEDS)
def test_jacobian_times_rates_is_the_velocity_of_the_point(seed):
    s = state(seed)
    for frame in frames_of(s.craft):
        R = gs.frame_pose(s.craft, s.q, frame).R
        Rdot = rate(lambda q, v, f=frame: gs.frame_pose(s.craft, q, f).R, s.craft, s.q, s.v)
        W = Rdot @ R.T
        velocity = rate(lambda q, v, f=frame: position(s.craft, q, f), s.craft, s.q, s.v)
        expected = np.concatenate([[W[2, 1], W[0, 2], W[1, 0]], velocity])
        J = gs.jacobian(s.craft, s.q, frame, POINT)
        assert J.shape == (6, s.craft.nv) and size(J @ s.v - expected) < 1e-30


@pytest.mark.parametrize("seed", SEEDS)
def test_jacobian_rate_is_the_rate_of_the_jacobian(seed):
    s = state(seed)
    for frame in frames_of(s.craft):
        found = gs.jacobian_rate(s.craft, s.q, s.v, frame, POINT)
        expected = rate(lambda q, v, f=frame: gs.jacobian(s.craft, q, f, POINT), s.craft, s.q, s.v)
        assert size(found - expected) < 1e-30


@pytest.mark.parametrize("seed", [s for s in SEEDS if state(s).craft.wheels])
def test_acceleration_of_a_point_that_spins_with_its_wheel(seed):
    """Of a wheel, `jacobian_rate` follows the material point: w_wheel x (w_wheel x r) is in it."""
    s = state(seed)
    craft, q, v = s.rough, s.q.astype(float), s.v.astype(float)
    for wheel in craft.wheels:
        k, r = craft.index(wheel.name), np.array([0.3, -0.2, 0.7])
        r = r @ gs.forward_kinematics(craft, q).R_NB[k].T
        center, point = (gs.jacobian_rate(craft, q, v, wheel.name, p) @ v for p in ((0, 0, 0), (0.3, -0.2, 0.7)))
        w = gs.jacobian(craft, q, wheel.name)[:3] @ v
        expected = center[3:] + np.cross(center[:3], r) + np.cross(w, np.cross(w, r))
        assert size(point[3:] - expected) < 1e-13 * max(1.0, size(expected))


@pytest.mark.parametrize("seed", SEEDS)
def test_wrenches_act_through_the_jacobian(seed):
    """Virtual power: inverse dynamics with external wrenches differs by J^T F, F in N about the point."""
    s = state(seed)
    with_load = gs.inverse_dynamics(s.craft, s.q, s.v, s.vdot, wrenches=s.wrenches)
    expected = gs.inverse_dynamics(s.craft, s.q, s.v, s.vdot)
    X = gs.forward_kinematics(s.craft, s.q)
    for k, (body, F) in enumerate(zip(s.craft.bodies, s.wrenches, strict=True)):
        F_N = np.concatenate([X.R_NB[k] @ F[:3], X.R_NB[k] @ F[3:]])
        expected = expected - gs.jacobian(s.craft, s.q, body.name).T @ F_N
    assert size(with_load - expected) < 1e-60 * size(expected)
    assert (
        size(
            gs.bias_force(s.craft, s.q, s.v, wrenches=s.wrenches)
            - gs.inverse_dynamics(s.craft, s.q, s.v, 0 * s.v, wrenches=s.wrenches)
        )
        == 0
    )


@pytest.mark.parametrize("seed", range(12))
def test_step_and_difference_are_inverse(seed):
    craft = random_spacecraft(seed)
    rng = np.random.default_rng(seed)
    q, _ = random_state(craft, seed)
    dv = rng.normal(size=craft.nv)
    for joint in craft.joints:
        if joint.kind in ("free", "spherical"):  # turn by less than pi
            turn = dv[joint.v_at][:3]
            turn *= min(1.0, 3.0 / np.linalg.norm(turn))
    found = gs.configuration_difference(craft, q, gs.step_configuration(craft, q, dv))
    for joint in craft.joints:
        expected = 0 * dv[joint.v_at] if joint.kind == "wheel" else dv[joint.v_at]
        assert size(found[joint.v_at] - expected) < 1e-13, joint.kind
    assert size(gs.step_configuration(craft, q, np.zeros(craft.nv)) - q) < 1e-15


@pytest.mark.parametrize("seed", range(6))
def test_a_small_step_follows_the_configuration_rate(seed):
    craft = random_spacecraft(seed)
    q, v = random_state(craft, seed)
    h = 1e-6
    later, before = gs.step_configuration(craft, q, h * v), gs.step_configuration(craft, q, -h * v)
    assert size((later - before) / (2 * h) - gs.configuration_rate(craft, q, v)) < 1e-9  # h^2 and round-off / h


def test_neutral_is_where_the_joints_were_put():
    craft = random_spacecraft(4)
    X = gs.forward_kinematics(craft, gs.neutral(craft))
    for k, body in enumerate(craft.bodies):
        place = gs.algebra.Pose(body.joint.rotation, body.joint.position)
        if body.parent is not None:
            P = craft.index(body.parent)
            place = compose(gs.algebra.Pose(X.R_NB[P], X.p_NB[P]), place)
        assert size(X.R_NB[k] - place.R) < 1e-15 and size(X.p_NB[k] - place.p) < 1e-14
    assert size(log_se3(gs.frame_pose(craft, gs.neutral(craft), craft.base))) == 0
